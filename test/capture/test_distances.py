# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import math

import cdr_messages
import numpy as np
import pytest
from cdr_messages import SCAN, a_range, cdr

from harness_ros.capture.decoding import DecodeError, Decoder, distance
from harness_ros.capture.distances import DistanceError, from_range, from_scan
from harness_ros.capture.sample import Sample
from harness_ros.config import DistanceConfig

INF, NAN = math.inf, math.nan
FRONT, LEFT, REAR = (-30, 30), (60, 120), (150, 210)


def a_scan(ranges, first_deg=-180.0, step_deg=None, **changes):
    """A scan whose angles are float32, as in the message."""
    step = np.float32(math.radians(360 / max(1, len(ranges)) if step_deg is None else step_deg))
    first = np.float32(math.radians(first_deg))
    angles = {
        "angle_min": first,
        "angle_increment": step,
        "angle_max": np.float32(first + step * (len(ranges) - 1)),
        "range_min": np.float32(0.1),
    }
    return cdr_messages.a_scan(np.array([*ranges], np.float32), **{**angles, **changes})


def around(**distances):
    """36 beams from -180 degrees on, 10 degrees apart, 5 m all around but for {"at_90": 1.0}."""
    ranges = [5.0] * 36
    for name, metres in distances.items():
        degrees = int(name.removeprefix("at_").replace("minus_", "-"))
        ranges[((degrees + 180) % 360) // 10] = metres
    return a_scan(ranges)


# Sectors


@pytest.mark.parametrize(
    ("beam", "sector", "inside"),
    [
        ("at_0", FRONT, True),
        ("at_30", FRONT, True),
        ("at_minus_30", FRONT, True),
        ("at_40", FRONT, False),
        ("at_minus_40", FRONT, False),
        ("at_180", FRONT, False),
        ("at_90", LEFT, True),
        ("at_60", LEFT, True),
        ("at_120", LEFT, True),
        ("at_minus_90", LEFT, False),
        ("at_180", REAR, True),
        ("at_150", REAR, True),
        ("at_minus_150", REAR, True),
        ("at_140", REAR, False),
        ("at_minus_140", REAR, False),
        ("at_minus_160", (-210, -150), True),
        ("at_160", (-210, -150), True),
        ("at_minus_10", (350, 360), True),
        ("at_10", (350, 360), False),
        ("at_10", (-360, -340), True),
    ],
)
def test_a_sector_holds_the_beams_between_its_edges(beam, sector, inside):
    assert from_scan(around(**{beam: 1.0}), sector) == (1.0 if inside else 5.0)


@pytest.mark.parametrize("first_deg", [-180, 0, 180, 360])
def test_a_scan_may_begin_anywhere(first_deg):
    ranges = [5.0] * 360
    ranges[(90 - first_deg) % 360] = 1.5
    scan = a_scan(ranges, first_deg)
    assert from_scan(scan, LEFT) == 1.5
    assert from_scan(scan, FRONT) == from_scan(scan, REAR) == 5.0


def test_a_scan_may_turn_clockwise():
    ranges = [5.0] * 181
    ranges[0], ranges[180] = 1.0, 2.0
    clockwise = a_scan(ranges, first_deg=90, step_deg=-1)
    assert from_scan(clockwise, (80, 100)) == 1.0
    assert from_scan(clockwise, (-100, -80)) == 2.0
    assert from_scan(clockwise, FRONT) == 5.0


def test_a_whole_turn_holds_every_beam():
    for beam in range(0, 360, 10):
        assert from_scan(around(**{f"at_{beam}": 0.5}), (-180, 180)) == 0.5
        assert from_scan(around(**{f"at_{beam}": 0.5}), (0, 360)) == 0.5


@pytest.mark.parametrize("first_deg", [-180, 0])
@pytest.mark.parametrize("beams", [7, 360, 720, 1081, 2048])
def test_the_beam_on_the_edge_of_a_sector_lies_in_it_whatever_the_rounding(beams, first_deg):
    # The angles of a scan are float32: the edge beam is found where its number says.
    step = 360 / beams
    for edge in (1, beams // 3, beams // 2, beams - 2):
        ranges = [5.0] * beams
        ranges[edge] = 1.0
        scan, angle = a_scan(ranges, first_deg), first_deg + edge * step
        assert from_scan(scan, (angle - 1.5 * step, angle)) == 1.0
        assert from_scan(scan, (angle, angle + 1.5 * step)) == 1.0


def test_the_sector_of_a_scan_is_that_of_plain_arithmetic():
    draw = np.random.default_rng(5)
    for _ in range(300):
        beams = int(draw.integers(8, 200))
        ranges = draw.uniform(0.2, 9.0, beams).astype(np.float32)
        first, low = draw.uniform(-360, 180), draw.uniform(-360, 350)
        high = low + draw.uniform(50, min(360, 360 - low) if low < 310 else 50)
        step = 360 / beams
        scan = a_scan(ranges, first, step)
        wanted = [
            metres
            for number, metres in enumerate(ranges)
            if any(low <= first + number * step + turn <= high for turn in range(-1080, 1081, 360))
        ]
        assert from_scan(scan, (low, high)) == min(wanted)


def test_a_sector_without_a_beam_is_an_error_with_the_angles():
    scan = a_scan([1.0] * 181, first_deg=-90, step_deg=1)
    with pytest.raises(DistanceError) as caught:
        from_scan(scan, REAR)
    assert str(caught.value) == (
        "no beam of the scan lies in [150, 210] degrees; it has 181 from -90.0 to 90.0"
    )


def test_a_sector_that_falls_between_two_beams_is_an_error():
    scan = a_scan([1.0] * 36)
    assert from_scan(scan, (9.5, 10.5)) == 1.0
    with pytest.raises(DistanceError, match="no beam"):
        from_scan(scan, (11, 19))


@pytest.mark.parametrize("increment", [0.0, NAN])
def test_a_scan_without_angles_has_no_beam_in_the_sector(increment):
    scan = a_scan([1.0] * 9, first_deg=-180, angle_increment=np.float32(increment))
    with pytest.raises(DistanceError, match="no beam"):
        from_scan(scan, FRONT)


def test_an_empty_scan_is_an_error():
    with pytest.raises(DistanceError, match="it has 0 from"):
        from_scan(a_scan([], step_deg=1), FRONT)


# Readings (REP 117)


@pytest.mark.parametrize(
    ("readings", "metres"),
    [
        ([3.0, 2.0, 4.0], 2.0),
        ([INF, INF, INF], INF),
        ([INF, 2.0, INF], 2.0),
        ([NAN, 2.0, NAN], 2.0),
        ([0.0, 2.0, 0.0], 2.0),
        ([-1.0, 2.0, 11.0], 2.0),
        ([0.05, 2.0, 3.0], 2.0),
        ([NAN, INF, 0.0], INF),
        ([3.0, -INF, 4.0], 0.0),
        ([NAN, -INF, INF], 0.0),
        ([0.1, 2.0, 3.0], np.float64(np.float32(0.1))),
        ([10.0, NAN, NAN], 10.0),
    ],
)
def test_the_nearest_measurement_counts(readings, metres):
    assert from_scan(a_scan(readings), (-180, 180)) == metres


@pytest.mark.parametrize("readings", [[NAN] * 3, [0.0] * 3, [0.05, 11.0, NAN], [-1.0, 0.0, 65.0]])
def test_readings_that_are_no_measurement_are_an_error(readings):
    with pytest.raises(DistanceError) as caught:
        from_scan(a_scan(readings), (-180, 180))
    assert str(caught.value) == (
        "none of 3 readings is a measurement: NaN, or outside of [0.1, 10] m"
    )


def test_a_reading_outside_of_the_sector_counts_for_nothing():
    scan = around(at_180=-INF, at_90=NAN)
    assert from_scan(scan, FRONT) == 5.0
    with pytest.raises(DistanceError, match="none of 1 readings"):
        from_scan(scan, (85, 95))


@pytest.mark.parametrize(("reading", "metres"), [(1.5, 1.5), (0.2, 0.2), (4.0, 4.0), (INF, INF)])
def test_a_range_is_its_reading(reading, metres):
    assert from_range(a_range(reading)) == metres


def test_a_range_that_is_too_close_to_be_measured_is_nothing():
    assert from_range(a_range(-INF)) == 0.0


@pytest.mark.parametrize(("reading", "metres"), [(-INF, 0.0), (INF, INF)])
def test_a_detector_of_one_fixed_distance_says_something_or_nothing(reading, metres):
    assert from_range(a_range(reading, least=0.8, most=0.8)) == metres


@pytest.mark.parametrize("reading", [NAN, 0.0, 0.19, 4.01, -1.0])
def test_a_range_outside_of_what_it_measures_is_an_error(reading):
    with pytest.raises(DistanceError, match=r"none of 1 readings .* \[0.2, 4\] m"):
        from_range(a_range(reading))


# From messages


def read(message, **config):
    source = DistanceConfig(topic="near", type=message.__msgtype__, **config)
    return distance(Decoder(), source, Sample("clearance.front", 1, cdr(message)))


def test_a_scan_without_intensities_is_read_from_its_bytes():
    assert read(around(at_0=1.25), sector_deg=FRONT) == 1.25


@pytest.mark.parametrize(
    ("metres", "offset", "left"),
    [(1.25, 0.25, 1.0), (1.25, 2.0, 0.0), (INF, 0.5, INF), (-INF, 0.5, 0.0), (1.25, -0.5, 1.75)],
)
def test_what_lies_between_sensor_and_edge_is_taken_off(metres, offset, left):
    assert read(around(at_0=metres), sector_deg=(-5, 5), offset_m=offset) == left


def test_a_range_is_read_from_its_bytes():
    assert read(a_range(1.5), offset_m=0.5) == 1.0
    assert read(a_range(-INF), offset_m=0.5) == 0.0
    assert read(a_range(INF), offset_m=0.5) == INF


def test_a_message_without_a_distance_is_no_evidence_and_names_source_and_topic():
    with pytest.raises(DecodeError) as caught:
        read(a_range(NAN))
    assert str(caught.value) == (
        "signal 'clearance.front' (near): none of 1 readings is a measurement: "
        "NaN, or outside of [0.2, 4] m"
    )


def test_a_scan_that_is_cut_off_is_no_evidence():
    whole, decoder = cdr(around()), Decoder()
    source = DistanceConfig(topic="scan", type=SCAN, sector_deg=FRONT)
    for length in range(len(whole)):
        with pytest.raises(DecodeError, match=r"signal 'clearance.front' \(scan\)"):
            distance(decoder, source, Sample("clearance.front", 1, whole[:length]))
