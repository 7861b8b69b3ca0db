# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import random

import cv2
import numpy as np
import pytest
from rosbags.typesys import Stores, get_typestore

from harness_ros.capture.decoding import DecodeError, Decoder, observation, signal, view
from harness_ros.capture.images import decode
from harness_ros.capture.sample import Sample
from harness_ros.config import CameraConfig, EvaluationConfig, SignalConfig
from harness_ros.contract import Run

IMAGE = "sensor_msgs/msg/Image"
COMPRESSED = "sensor_msgs/msg/CompressedImage"
JOINTS = "sensor_msgs/msg/JointState"
WRENCH = "geometry_msgs/msg/WrenchStamped"
STORE = get_typestore(Stores.ROS2_JAZZY)
BIG_AND_LITTLE = pytest.mark.parametrize("little", [True, False], ids=["little", "big"])


def make(message_type, /, **fields):
    return STORE.types[message_type](**fields)


def header(stamp_ns=5_000_000_007, frame_id="camera_optical"):
    seconds, nanoseconds = divmod(stamp_ns, 10**9)
    stamp = make("builtin_interfaces/msg/Time", sec=seconds, nanosec=nanoseconds)
    return make("std_msgs/msg/Header", stamp=stamp, frame_id=frame_id)


def cdr(message, little=True):
    return bytes(STORE.serialize_cdr(message, message.__msgtype__, little_endian=little))


def an_image(stamp_ns=5_000_000_007, **changes):
    fields = {
        "header": header(stamp_ns),
        "height": 2,
        "width": 3,
        "encoding": "rgb8",
        "is_bigendian": 0,
        "step": 10,
        "data": np.arange(20, dtype=np.uint8),
    }
    return make(IMAGE, **{**fields, **changes})


def a_compressed_image(data, image_format="jpeg"):
    return make(
        COMPRESSED, header=header(), format=image_format, data=np.frombuffer(data, np.uint8)
    )


def joints(position=(0.04, 0.5), stamp_ns=5_000_000_007):
    return make(
        JOINTS,
        header=header(stamp_ns),
        name=["left", "7"],
        position=np.array(position, np.float64),
        velocity=np.array([], np.float64),
        effort=np.array([8.25], np.float64),
    )


def a_wrench(z):
    vector = STORE.types["geometry_msgs/msg/Vector3"]
    wrench = make("geometry_msgs/msg/Wrench", force=vector(1.0, 2.0, z), torque=vector(0, 0, 0))
    return make(WRENCH, header=header(), wrench=wrench)


@pytest.fixture
def decoder():
    return Decoder()


def read_view(decoder, data, message_type=IMAGE, topic="/robot/front", publisher="driver"):
    camera = CameraConfig(topic="front", type=message_type)
    return view(decoder, camera, Sample("front", 5_000_000_007, data), topic, publisher)


def read_signal(decoder, data, field, message_type=JOINTS, unit="m"):
    config = SignalConfig(topic="joints", type=message_type, field=field, unit=unit)
    return signal(decoder, config, Sample("width", 5_000_000_007, data))


# Frames


@BIG_AND_LITTLE
def test_every_field_of_an_image_reaches_the_view(decoder, little):
    found = read_view(decoder, cdr(an_image(is_bigendian=1), little))
    assert found.model_dump() == {
        "name": "front",
        "stamp_ns": 5_000_000_007,
        "frame_id": "camera_optical",
        "height": 2,
        "width": 3,
        "encoding": "rgb8",
        "step": 10,
        "is_bigendian": True,
        "data": bytes(range(20)),
        "topic": "/robot/front",
        "publisher": "driver",
    }


@pytest.mark.parametrize(("extension", "encoding"), [(".jpg", "jpeg"), (".png", "png")])
@pytest.mark.parametrize("image_format", ["jpeg", "rgb8; png compressed bgr8", ""])
def test_a_compressed_image_is_named_by_its_data_and_not_by_its_format(
    decoder, extension, encoding, image_format
):
    file = cv2.imencode(extension, np.full((4, 6, 3), 128, np.uint8))[1].tobytes()
    found = read_view(decoder, cdr(a_compressed_image(file, image_format)), COMPRESSED)
    assert (found.encoding, found.data) == (encoding, file)
    assert (found.height, found.width, found.step, found.is_bigendian) == (0, 0, 0, False)
    assert (found.frame_id, found.stamp_ns) == ("camera_optical", 5_000_000_007)
    assert decode(found).shape == (4, 6, 3)


@pytest.mark.parametrize("data", [b"", b"GIF89a....", b"\x89PN"])
def test_a_compressed_image_that_is_neither_jpeg_nor_png_is_no_evidence(decoder, data):
    message = cdr(a_compressed_image(data, "gif"))
    with pytest.raises(DecodeError) as caught:
        read_view(decoder, message, COMPRESSED)
    for part in ("'front'", "/robot/front", "'gif'", f"{len(data)} bytes"):
        assert part in str(caught.value)


def test_an_image_cut_off_anywhere_is_no_evidence(decoder):
    whole = cdr(an_image())
    for length in range(len(whole)):
        with pytest.raises(DecodeError) as caught:
            read_view(decoder, whole[:length])
        for part in ("camera 'front'", "/robot/front", f"{length} bytes", IMAGE):
            assert part in str(caught.value)


def test_damaged_bytes_give_a_message_or_a_decode_error_and_nothing_else(decoder):
    draw = random.Random(4)
    whole, outcomes = cdr(joints()), set()
    for _ in range(1000):
        damaged = bytearray(whole)
        for _ in range(3):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        try:
            read_signal(decoder, bytes(damaged), "position[0]")
            outcomes.add("read")
        except DecodeError as error:
            outcomes.add("refused")
            assert "signal 'width' (joints)" in str(error)
    assert outcomes == {"read", "refused"}


# Stamps


@BIG_AND_LITTLE
def test_a_stamp_is_that_of_the_header_where_there_is_one(decoder, little):
    assert decoder.stamp_ns(IMAGE, cdr(an_image(), little), received_ns=9) == 5_000_000_007


def test_a_message_without_a_header_is_stamped_when_it_is_received(decoder):
    data = cdr(make("std_msgs/msg/Float64", data=1.5))
    assert decoder.stamp_ns("std_msgs/msg/Float64", data, received_ns=9) == 9


@pytest.mark.parametrize(
    ("message_type", "has_header"),
    [(IMAGE, True), (JOINTS, True), ("std_msgs/msg/Float64", False), ("std_msgs/msg/Empty", False)],
)
def test_types_with_a_header_are_told_from_others(decoder, message_type, has_header):
    assert decoder.has_header(message_type) is has_header


def test_a_type_without_a_definition_is_an_error_with_its_name(decoder):
    with pytest.raises(DecodeError, match="acme_msgs/msg/Grip"):
        decoder.has_header("acme_msgs/msg/Grip")
    with pytest.raises(DecodeError, match=r"signal 'width' .*acme_msgs/msg/Grip"):
        read_signal(decoder, cdr(joints()), "width", "acme_msgs/msg/Grip")


# Signals


@BIG_AND_LITTLE
@pytest.mark.parametrize(
    ("field", "value"),
    [("position[0]", 0.04), ("position[1]", 0.5), ("effort[0]", 8.25), ("header.stamp.sec", 5.0)],
)
def test_a_signal_is_read_from_its_field(decoder, field, value, little):
    found = read_signal(decoder, cdr(joints(), little), field)
    assert found.model_dump() == {
        "name": "width",
        "value": value,
        "unit": "m",
        "stamp_ns": 5_000_000_007,
    }


def test_a_nested_field_is_read(decoder):
    assert read_signal(decoder, cdr(a_wrench(-9.5)), "wrench.force.z", WRENCH).value == -9.5


def test_a_boolean_is_zero_or_one(decoder):
    for state in (False, True):
        data = cdr(make("std_msgs/msg/Bool", data=state))
        assert read_signal(decoder, data, "data", "std_msgs/msg/Bool").value == int(state)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_not_finite_is_handed_on_as_it_is(decoder, value):
    found = read_signal(decoder, cdr(joints([value])), "position[0]").value
    assert np.array_equal(found, value, equal_nan=True)


@pytest.mark.parametrize(
    ("field", "problem"),
    [
        ("posture", "posture"),
        ("posture[0]", "posture"),
        ("position[2]", "index 2 is out of bounds"),
        ("velocity[0]", "index 0 is out of bounds"),
        ("position", "no number"),
        ("effort", "no number"),
        ("name[0]", "'left', which is no number"),
        ("name[1]", "'7', which is no number"),
        ("header", "no number"),
        ("header[0]", "header"),
        ("position[0].x", "'x'"),
    ],
)
def test_a_field_that_holds_no_number_is_an_error_with_topic_and_field(decoder, field, problem):
    with pytest.raises(DecodeError) as caught:
        read_signal(decoder, cdr(joints()), field)
    assert f"signal 'width' (joints): {field} of {JOINTS}" in str(caught.value)
    assert problem in str(caught.value)


# Observations

CONFIG = EvaluationConfig.model_validate(
    {
        "version": 1,
        "cameras": {"front": {"topic": "front"}, "top": {"topic": "top"}},
        "signals": {
            "width": {"topic": "joints", "type": JOINTS, "field": "position[0]", "unit": "m"},
            "force": {"topic": "joints", "type": JOINTS, "field": "effort[0]", "unit": "N"},
        },
        "capture": {"settle_s": 0.2, "slop_s": 0.05},
        "judges": {"human": {}},
        "tools": {
            "pick": {
                "post_condition": "The gripper holds it.",
                "judge": "human",
                "cameras": ["front", "top"],
                "signals": ["width", "force"],
                "settle_s": 0.3,
            }
        },
    }
)
ENDED_NS = 4_000_000_000
RUN = Run(
    run_id="run-1",
    call_id="call-1",
    segment=1,
    tool_name="pick",
    arguments={},
    started_at_ns=3_000_000_000,
    ended_at_ns=ENDED_NS,
)


def samples(front_ms=350, top_ms=370, width_ms=400, force_ms=340, position=(0.04,)):
    def stamp(after_ms):
        return ENDED_NS + after_ms * 1_000_000

    frames = [
        Sample("front", stamp(front_ms), cdr(an_image(stamp(front_ms)))),
        Sample("top", stamp(top_ms), cdr(an_image(stamp(top_ms)))),
    ]
    signals = [
        Sample("width", stamp(width_ms), cdr(joints(position, stamp(width_ms)))),
        Sample("force", stamp(force_ms), cdr(joints(position, stamp(force_ms)))),
    ]
    return frames, signals


@pytest.mark.parametrize("youngest", ["front_ms", "top_ms", "width_ms", "force_ms"])
def test_an_observation_is_captured_at_the_stamp_of_its_youngest_part(decoder, youngest):
    found = observation(decoder, CONFIG, RUN, *samples(**{youngest: 450}))
    assert found.captured_at_ns == ENDED_NS + 450_000_000


def test_an_observation_holds_views_and_signals_in_order(decoder):
    found = observation(decoder, CONFIG, RUN, *samples())
    assert found.run_id == "run-1"
    assert [item.name for item in found.views] == ["front", "top"]
    assert [(item.name, item.value, item.unit) for item in found.signals] == [
        ("width", 0.04, "m"),
        ("force", 8.25, "N"),
    ]


def test_the_provenance_says_age_spread_and_the_rule_in_force(decoder):
    assert observation(decoder, CONFIG, RUN, *samples()).provenance == {
        "settle_ns": 300_000_000,
        "slop_ns": 50_000_000,
        "age_ns": 340_000_000,
        "spread_ns": 60_000_000,
        "signal_topics": {"width": "joints", "force": "joints"},
    }


def test_the_summary_is_one_line_with_the_numbers(decoder):
    assert observation(decoder, CONFIG, RUN, *samples()).summary == (
        "views front, top; signals width 0.04 m, force 8.25 N; "
        "0.340 s after the end, spread 0.060 s"
    )


def test_the_summary_says_that_a_signal_is_not_finite(decoder):
    found = observation(decoder, CONFIG, RUN, *samples(position=(np.nan,)))
    assert "width not finite m" in found.summary


def test_an_observation_of_signals_alone_says_that_it_has_no_views(decoder):
    found = observation(decoder, CONFIG, RUN, [], samples()[1])
    assert found.views == ()
    assert found.summary.startswith("views none; signals width 0.04 m")
    assert found.captured_at_ns == ENDED_NS + 400_000_000


def test_the_topic_and_publisher_of_a_view_are_those_found_at_run_time(decoder):
    found = observation(
        decoder, CONFIG, RUN, *samples(), topics={"front": "/ns/front"}, publishers={"top": "cam"}
    )
    assert [(item.topic, item.publisher) for item in found.views] == [
        ("/ns/front", ""),
        ("top", "cam"),
    ]


def test_one_frame_that_cannot_be_read_ends_the_observation(decoder):
    frames, signals = samples()
    frames[1] = Sample("top", frames[1].stamp_ns, frames[1].data[:-1])
    with pytest.raises(DecodeError, match="camera 'top'"):
        observation(decoder, CONFIG, RUN, frames, signals)
