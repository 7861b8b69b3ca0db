# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From serialized samples to the Observation of a run, on the bytes that publishers send."""

import math

import cv2
import numpy as np
import pytest
from cdr_messages import (
    COMPRESSED,
    INFO,
    JOINTS,
    RANGE,
    SCAN,
    a_compressed_image,
    a_range,
    a_scan,
    an_image,
    camera_info,
    cdr,
    joints,
    make,
)

from harness_ros.capture.decoding import Decoder
from harness_ros.capture.diagnosis import why_not
from harness_ros.capture.observing import (
    Origins,
    SourceError,
    all_sources,
    check_sources,
    message_type,
    observe,
    sources,
)
from harness_ros.capture.sample import Sample
from harness_ros.capture.session import CaptureSession
from harness_ros.config import EvaluationConfig
from harness_ros.contract import Calibration, Run
from harness_ros.evaluation import capture_rule

MS = 1_000_000
ENDED_NS = 4_000 * MS
SETTINGS = {
    "version": 1,
    "cameras": {
        "front": {"topic": "front"},
        "top": {"topic": "top"},
        "wrist": {"topic": "wrist", "type": COMPRESSED, "required": False},
    },
    "signals": {
        "width": {"topic": "joints", "type": JOINTS, "field": "position[0]", "unit": "m"},
        "force": {"topic": "joints", "type": JOINTS, "field": "effort[0]", "unit": "N"},
        "held": {"topic": "held", "type": "std_msgs/msg/Bool", "field": "data"},
    },
    "clearance": {
        "front": {"topic": "scan", "type": SCAN, "sector_deg": [-30, 30], "offset_m": 0.25},
        "rear": {"topic": "scan", "type": SCAN, "sector_deg": [150, 210]},
        "left": {"topic": "sonar", "type": RANGE, "required": False},
    },
    "capture": {"settle_s": 0.2, "slop_s": 0.05},
    "judges": {"human": {}},
    "tools": {
        name: {"post_condition": "The gripper holds it.", "judge": "human", **evidence}
        for name, evidence in {
            "pick": {
                "cameras": ["front", "top"],
                "signals": ["width", "force"],
                "settle_s": 0.3,
            },
            "look": {"cameras": ["front"]},
            "inspect": {"cameras": ["wrist", "front"]},
            "grip": {"signals": ["width", "held"]},
            "drive": {"clearance": ["left", "front", "rear"]},
        }.items()
    },
}


def a_config(**cameras):
    """The configuration with more settings of cameras."""
    changed = {
        name: {**settings, **cameras.get(name, {})}
        for name, settings in SETTINGS["cameras"].items()
    }
    return EvaluationConfig.model_validate({**SETTINGS, "cameras": changed})


CONFIG = a_config()


def a_run(tool):
    return Run(
        run_id="run-1",
        call_id="call-1",
        segment=1,
        tool_name=tool,
        arguments={},
        started_at_ns=3_000 * MS,
        ended_at_ns=ENDED_NS,
    )


def at(after_ms):
    return ENDED_NS + after_ms * MS


def sample(source, message, after_ms):
    return Sample(source, at(after_ms), cdr(message))


def image(source, after_ms, **changes):
    return sample(source, an_image(at(after_ms), **changes), after_ms)


@pytest.fixture(scope="module")
def decoder():
    return Decoder()


@pytest.fixture
def observed(decoder):
    """observed(tool, samples) -> (Observation or None, session) when nothing more is waited for."""

    def feed(tool, samples, config=CONFIG, origins=None):
        session, run = CaptureSession(capture_rule(config, tool)), a_run(tool)
        session.finish(ENDED_NS)
        for item in samples:
            session.add(item)
            found = observe(session, decoder, config, run, origins)
            if found is not None:
                return found, session
        session.wait_no_longer()
        return observe(session, decoder, config, run, origins), session

    return feed


@pytest.fixture
def observation(observed):
    """observation(tool, samples) -> Observation."""

    def complete(*arguments, **options):
        found, session = observed(*arguments, **options)
        assert found is not None, why_not(session)
        return found

    return complete


def evidence(front_ms=350, top_ms=370, width_ms=400, force_ms=340, position=(0.04,)):
    """For the tool `pick`."""
    return [
        image("front", front_ms),
        image("top", top_ms),
        sample("width", joints(position, at(width_ms)), width_ms),
        sample("force", joints(position, at(force_ms)), force_ms),
    ]


# What is in it


@pytest.mark.parametrize("youngest", ["front_ms", "top_ms", "width_ms", "force_ms"])
def test_an_observation_is_captured_at_the_stamp_of_its_youngest_part(observation, youngest):
    others = {"front_ms": 410, "top_ms": 410} if youngest in ("front_ms", "top_ms") else {}
    found = observation("pick", evidence(**{**others, youngest: 450}))
    assert found.captured_at_ns == at(450)


def test_an_observation_holds_views_and_signals_in_order(observation):
    found = observation("pick", reversed(evidence()))
    assert found.run_id == "run-1"
    assert [item.name for item in found.views] == ["front", "top"]
    assert [(item.name, item.value, item.unit, item.stamp_ns) for item in found.signals] == [
        ("width", 0.04, "m", at(400)),
        ("force", 8.25, "N", at(340)),
    ]
    assert found.clearance is None


def test_every_part_is_stamped_after_the_end_and_the_settle_time(observation):
    old = evidence(front_ms=299, top_ms=299, width_ms=299, force_ms=299)
    found = observation("pick", [*old, *evidence(front_ms=300, top_ms=301)])
    assert [item.stamp_ns for item in found.views] == [at(300), at(301)]
    assert min(item.stamp_ns for item in found.signals) >= at(300)


def test_the_provenance_says_age_spread_and_the_rule_in_force(observation):
    assert observation("pick", evidence()).provenance == {
        "settle_ns": 300 * MS,
        "slop_ns": 50 * MS,
        "age_ns": 340 * MS,
        "spread_ns": 60 * MS,
        "signal_topics": {"width": "joints", "force": "joints"},
    }


def test_the_summary_is_one_line_with_the_numbers(observation):
    assert observation("pick", evidence()).summary == (
        "views front, top; signals width 0.04 m, force 8.25 N; "
        "0.340 s after the end, spread 0.060 s"
    )


def test_the_summary_says_that_a_signal_is_not_finite(observation):
    found = observation("pick", evidence(position=(np.nan,)))
    assert "width not finite m" in found.summary


def test_an_observation_of_signals_alone_says_that_it_has_no_views(observation):
    held = sample("held", make("std_msgs/msg/Bool", data=True), 250)
    found = observation("grip", [*evidence()[2:3], held])
    assert found.views == ()
    assert found.summary.startswith("views none; signals width 0.04 m, held 1; 0.250 s after")
    assert found.captured_at_ns == at(400)


def test_the_topic_and_publisher_of_a_view_are_those_found_at_run_time(observation):
    origins = Origins(topics={"front": "/ns/front"}, publishers={"top": "cam"})
    found = observation("pick", evidence(), origins=origins)
    assert [(item.topic, item.publisher) for item in found.views] == [
        ("/ns/front", ""),
        ("top", "cam"),
    ]


def test_nothing_is_observed_before_the_evidence_is_complete(decoder):
    session = CaptureSession(capture_rule(CONFIG, "pick"))
    for item in evidence():
        session.add(item)
    assert observe(session, decoder, CONFIG, a_run("pick")) is None
    session.finish(ENDED_NS)
    assert observe(session, decoder, CONFIG, a_run("pick")) is not None


def test_the_same_samples_give_the_same_observation(observation):
    assert observation("pick", evidence()) == observation("pick", evidence())


# Distances


def scans(front=1.5, rear=4.0):
    """36 beams, 5 m all around but for the middle of front and rear."""
    ranges = [5.0] * 36
    ranges[0], ranges[18] = rear, front
    return [sample(f"clearance.{name}", a_scan(ranges, at(300)), 300) for name in ("front", "rear")]


def test_distances_become_the_clearance_of_the_base(observation):
    left = sample("clearance.left", a_range(0.75, at(310)), 310)
    found = observation("drive", [left, *scans()])
    assert found.clearance is not None
    clearance = found.clearance.model_dump()
    assert math.isnan(clearance.pop("right"))
    assert clearance == {"front": 1.25, "left": 0.75, "rear": 4.0}
    assert found.summary == (
        "views none; signals clearance front 1.25 m, clearance left 0.75 m, clearance rear 4 m; "
        "0.300 s after the end, spread 0.010 s"
    )
    assert found.provenance["signal_topics"] == {}


def test_free_space_is_infinite_and_shown_as_free(observation):
    found = observation("drive", scans(front=math.inf, rear=-math.inf))
    assert found.clearance.front == 5.0 - 0.25
    left = sample("clearance.left", a_range(math.inf), 300)
    found = observation("drive", [left, *scans(rear=-math.inf)])
    assert (found.clearance.left, found.clearance.rear) == (math.inf, 0.0)
    assert "clearance left free, clearance rear 0 m" in found.summary


def test_a_distance_that_is_not_there_is_not_a_number_and_named_as_absent(observation):
    found = observation("drive", scans())
    assert math.isnan(found.clearance.left)
    assert found.provenance["absent"] == ["clearance.left"]


def test_a_scan_that_measured_nothing_is_no_evidence_and_the_next_one_is(observed):
    nothing = sample("clearance.front", a_scan([math.nan] * 36, at(290)), 290)
    found, session = observed("drive", [nothing, *scans()])
    assert found.clearance.front == 1.25
    assert session.counts["clearance.front"].rejected == 1
    found, session = observed("drive", [nothing, scans()[1]])
    assert found is None
    assert why_not(session) == (
        "signal 'clearance.front': 1 message is no evidence: none of 7 readings is a measurement: "
        "NaN, or outside of [0.1, 10] m"
    )


# Calibrations

LENS = {"width": 640, "height": 480, "k": (500, 0, 320, 0, 510, 240, 0, 0, 1), "d": (0.1, 0.2)}


def info(after_ms=-900, **changes):
    return sample("front.camera_info", camera_info(at(after_ms), **changes), after_ms)


WITH_INFO = a_config(front={"info_topic": "front/camera_info"})


def test_a_calibration_from_the_configuration_is_in_the_view(observation):
    found = observation("look", [image("front", 300)], config=a_config(front={"calibration": LENS}))
    assert found.views[0].calibration == Calibration(**LENS)


def test_without_a_calibration_there_is_none_in_the_view(observation):
    assert observation("look", [image("front", 300)]).views[0].calibration is None


def test_a_calibration_from_its_topic_is_in_the_view_whatever_its_stamp(observation):
    found = observation("look", [info(), image("front", 300)], config=WITH_INFO)
    assert found.views[0].calibration == Calibration(
        width=640,
        height=480,
        k=(500, 0, 320, 0, 510, 240, 0, 0, 1),
        d=(0.1, -0.2, 0, 0, 0),
        distortion_model="plumb_bob",
    )
    assert found.captured_at_ns == at(300)
    assert (found.provenance["age_ns"], found.provenance["spread_ns"]) == (300 * MS, 0)
    assert found.signals == ()


def test_the_last_calibration_is_the_one_in_the_view(observation):
    samples = [info(fx=400.0), info(-800, fx=450.0), image("front", 300)]
    found = observation("look", samples, config=WITH_INFO)
    assert found.views[0].calibration.k[0] == 450.0


def test_a_camera_that_says_it_is_not_calibrated_has_no_calibration(observation):
    found = observation("look", [info(fx=0.0, size=(0, 0)), image("front", 300)], config=WITH_INFO)
    assert found.views[0].calibration is None


def test_a_calibration_for_another_size_is_handed_on_as_it_is(observation):
    # The image is 3x2 pixels: who measures with it says that the two do not belong together.
    found = observation("look", [info(size=(1280, 960)), image("front", 300)], config=WITH_INFO)
    calibration = found.views[0].calibration
    assert (calibration.width, calibration.height) == (1280, 960)


def test_a_calibration_for_no_size_is_no_evidence_and_the_next_one_is(observed):
    bad = info(size=(0, 480))
    found, session = observed("look", [bad, image("front", 300)], config=WITH_INFO)
    assert found is None
    assert why_not(session) == (
        "calibration 'front.camera_info': 1 message is no evidence: "
        "calibrated for an image of 0x480 pixels"
    )
    found, _ = observed("look", [bad, image("front", 300), info()], config=WITH_INFO)
    assert found.views[0].calibration is not None


def test_a_missing_calibration_is_waited_for_and_named(observed):
    found, session = observed("look", [image("front", 300), image("front", 900)], config=WITH_INFO)
    assert found is None
    assert why_not(session) == (
        "calibration 'front.camera_info': no message while the tool ran and after"
    )


def test_a_calibration_that_cannot_be_read_is_no_evidence(observed):
    whole = info()
    for length in range(0, len(whole.data), 7):
        damaged = Sample(whole.source, whole.stamp_ns, whole.data[:length])
        found, session = observed("look", [damaged, image("front", 300)], config=WITH_INFO)
        assert found is None
        assert INFO in session.counts["front.camera_info"].rejected_reason


def test_the_calibration_of_an_optional_camera_is_optional(observed):
    config = a_config(wrist={"info_topic": "wrist/info"})
    found, _ = observed("inspect", [image("front", 300)], config=config)
    assert found.provenance["absent"] == ["wrist", "wrist.camera_info"]


# What is unusual is in the provenance, and only then


def test_an_encoding_from_the_configuration_is_recorded_beside_the_published_one(observation):
    found = observation("look", [image("front", 300)], config=a_config(front={"encoding": "bgr8"}))
    assert (found.views[0].encoding, found.views[0].published_encoding) == ("bgr8", "rgb8")


def test_without_one_the_published_encoding_is_the_encoding(observation):
    found = observation("look", [image("front", 300)])
    assert (found.views[0].encoding, found.views[0].published_encoding) == ("rgb8", "")


def test_notes_of_a_frame_are_in_the_provenance(observation):
    more = np.zeros(23, np.uint8)
    found = observation("pick", [image("front", 350, data=more), *evidence()[1:]])
    assert list(found.provenance["notes"]) == ["front"]
    assert "3 bytes of data after the last row" in found.provenance["notes"]["front"][0]


def test_optional_sources_that_are_not_there_are_named(observation):
    found = observation("inspect", [image("front", 300)])
    assert [item.name for item in found.views] == ["front"]
    assert found.provenance["absent"] == ["wrist"]


def a_png(after_ms):
    file = cv2.imencode(".png", np.full((4, 6, 3), 128, np.uint8))[1].tobytes()
    return sample("wrist", a_compressed_image(file, "png", at(after_ms)), after_ms)


def test_optional_sources_that_are_there_are_not_named_and_in_their_place(observation):
    found = observation("inspect", [image("front", 300), a_png(320)])
    assert [item.name for item in found.views] == ["wrist", "front"]
    assert "absent" not in found.provenance


def test_an_optional_frame_that_cannot_be_decoded_is_absent(observed):
    broken = sample("wrist", a_compressed_image(b"GIF89a", "gif", at(310)), 310)
    found, session = observed("inspect", [image("front", 300), broken])
    assert found.provenance["absent"] == ["wrist"]
    assert "gif" in session.counts["wrist"].rejected_reason
    found, _ = observed("inspect", [image("front", 300), broken, a_png(320)])
    assert [item.stamp_ns for item in found.views] == [at(320), at(300)]


def test_sources_that_are_stamped_on_receipt_are_named(observation):
    config = a_config(front={"stamp": "receive"})
    found = observation("pick", evidence(), config=config)
    assert found.provenance["stamped_on_receipt"] == ["front"]
    assert [item.stamped_on_receipt for item in found.views] == [True, False]


def test_messages_without_a_header_are_named_as_stamped_on_receipt(observation):
    held = sample("held", make("std_msgs/msg/Bool", data=False), 300)
    found = observation("grip", [*evidence()[2:3], held])
    assert found.provenance["stamped_on_receipt"] == ["held"]


# Samples that are no evidence


def test_one_frame_that_cannot_be_read_is_replaced_by_the_next(observed):
    samples = evidence()
    broken = Sample("top", at(345), samples[1].data[:-1])
    found, session = observed("pick", [samples[0], broken, *samples[2:], samples[1]])
    assert [item.stamp_ns for item in found.views] == [at(350), at(370)]
    assert session.counts["top"].rejected == 1


def test_when_no_other_comes_the_reason_is_told(observed):
    samples = evidence()
    broken = [Sample("top", at(345 + more), samples[1].data[:-1]) for more in range(3)]
    found, session = observed("pick", [samples[0], *broken, *samples[2:]])
    assert found is None
    words = why_not(session)
    size = len(samples[1].data) - 1
    assert words.startswith("camera 'top': 3 messages are no evidence, the last one: ")
    assert f"{size} bytes are no sensor_msgs/msg/Image" in words


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"encoding": "rgb9"}, "rgb9"),
        ({"data": np.zeros(17, np.uint8)}, "17"),
        ({"data": np.zeros(0, np.uint8)}, "0 bytes"),
        ({"step": 8}, "step 8"),
    ],
)
def test_a_frame_that_cannot_be_decoded_is_replaced_by_the_next(observed, changes, words):
    broken = image("front", 300, **changes)
    found, session = observed("look", [broken, image("front", 310)])
    assert found.captured_at_ns == at(310)
    assert words in session.counts["front"].rejected_reason
    assert observed("look", [broken])[0] is None


def test_a_message_without_the_joint_is_replaced_by_one_that_has_it(observed):
    settings = {**SETTINGS["signals"]["width"], "field": "position[finger]"}
    config = EvaluationConfig.model_validate(
        {**SETTINGS, "signals": {**SETTINGS["signals"], "width": settings}}
    )

    def of(names, after_ms):
        return sample("width", joints((0.5, 0.25), at(after_ms), names), after_ms)

    held = sample("held", make("std_msgs/msg/Bool", data=True), 300)
    found, _ = observed("grip", [held, of(("a", "b"), 300), of(("a", "finger"), 310)], config)
    assert (found.signals[0].value, found.signals[0].stamp_ns) == (0.25, at(310))
    found, session = observed("grip", [held, of(("a", "b"), 300)], config)
    assert found is None
    assert why_not(session).endswith(
        f"{JOINTS}: position[finger]: no 'finger' in this message; it has ['a', 'b']"
    )


def test_damaged_samples_of_any_kind_never_end_in_another_error(observed):
    draw = np.random.default_rng(7)
    outcomes = set()
    for _ in range(150):
        samples = [*evidence(), *evidence(front_ms=420, top_ms=420, width_ms=420, force_ms=420)]
        damaged = []
        for item in samples:
            data = bytearray(item.data)
            for _ in range(int(draw.integers(0, 4))):
                data[int(draw.integers(0, len(data)))] = int(draw.integers(0, 256))
            cut = len(data) if draw.random() < 0.7 else int(draw.integers(0, len(data)))
            damaged.append(Sample(item.source, item.stamp_ns, bytes(data[:cut])))
        found, session = observed("pick", damaged)
        outcomes.add(found is not None)
        if found is None:
            assert "no evidence" in why_not(session) or "never came within" in why_not(session)
    assert outcomes == {True, False}


# The sources of a configuration


def test_every_source_has_its_name_and_type():
    config = a_config(wrist={"info_topic": "wrist/info"})
    assert {name: message_type(item) for name, item in all_sources(config).items()} == {
        "front": "sensor_msgs/msg/Image",
        "top": "sensor_msgs/msg/Image",
        "wrist": COMPRESSED,
        "width": JOINTS,
        "force": JOINTS,
        "held": "std_msgs/msg/Bool",
        "clearance.front": SCAN,
        "clearance.left": RANGE,
        "clearance.rear": SCAN,
        "wrist.camera_info": INFO,
    }
    assert all_sources(config)["wrist.camera_info"].topic == "wrist/info"


def test_the_sources_of_a_tool_are_in_its_own_order():
    config = a_config(wrist={"info_topic": "wrist/info"}, top={"info_topic": "top/info"})
    assert list(sources(config, "pick")) == ["front", "top", "width", "force", "top.camera_info"]
    assert list(sources(config, "inspect")) == ["wrist", "front", "wrist.camera_info"]
    assert list(sources(config, "drive")) == ["clearance.front", "clearance.left", "clearance.rear"]


def test_good_sources_pass_the_check(decoder):
    check_sources(a_config(front={"encoding": "bayer_rggb8"}, wrist={"encoding": "any"}), decoder)


def test_everything_that_is_wrong_with_sources_is_told_with_its_key(decoder):
    def signal(message_type, field):
        return {"topic": "s", "type": message_type, "field": field}

    config = EvaluationConfig.model_validate(
        {
            **SETTINGS,
            "cameras": {
                **SETTINGS["cameras"],
                "front": {"topic": "front", "encoding": "rgb24"},
                "top": {"topic": "top", "encoding": "jpeg"},
            },
            "signals": {
                **SETTINGS["signals"],
                "grip": signal("acme_msgs/msg/Grip", "width"),
                "joint": signal(JOINTS, "angle[0]"),
                "named": signal("std_msgs/msg/Float64MultiArray", "data[finger]"),
            },
        }
    )
    with pytest.raises(SourceError) as caught:
        check_sources(config, decoder)
    lines = str(caught.value).splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("cameras.front.encoding: 'rgb24' is unknown; known are rgb8, ")
    assert "jpeg" not in lines[0]
    assert lines[1].startswith("cameras.top.encoding: 'jpeg' is unknown; known are rgb8, ")
    assert lines[2].startswith(
        "signals.grip.type: message type acme_msgs/msg/Grip is not installed; looked at "
    )
    assert lines[3] == (
        f"signals.joint.field: angle[0]: {JOINTS} has no field 'angle'; it has "
        "['header', 'name', 'position', 'velocity', 'effort']"
    )
    assert lines[4] == (
        "signals.named.field: data[finger]: std_msgs/msg/Float64MultiArray has no list of names "
        "name or joint_names to look up 'finger' in; it has ['layout', 'data']"
    )
