# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import random

import cv2
import numpy as np
import pytest
from cdr_messages import (
    COMPRESSED,
    IMAGE,
    JOINTS,
    WRENCH,
    a_compressed_image,
    a_wrench,
    an_image,
    cdr,
    joints,
    make,
)

from harness_ros.capture.decoding import DecodeError, Decoder, signal, view
from harness_ros.capture.definitions import DefinitionError
from harness_ros.capture.images import ImageError, decode
from harness_ros.capture.sample import Sample
from harness_ros.config import CameraConfig, SignalConfig, SourceConfig

BIG_AND_LITTLE = pytest.mark.parametrize("little", [True, False], ids=["little", "big"])


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
        "stamped_on_receipt": False,
        "frame_id": "camera_optical",
        "height": 2,
        "width": 3,
        "encoding": "rgb8",
        "published_encoding": "",
        "step": 10,
        "is_bigendian": True,
        "data": bytes(range(20)),
        "calibration": None,
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
    with pytest.raises(ImageError) as caught:
        read_view(decoder, message, COMPRESSED)
    for part in ("/robot/front", "gif", f"{len(data)} bytes"):
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
    front = CameraConfig(topic="front")
    assert decoder.stamp_ns(front, IMAGE, cdr(an_image(), little), received_ns=9) == 5_000_000_007


def test_a_message_without_a_header_is_stamped_when_it_is_received(decoder):
    data = cdr(make("std_msgs/msg/Float64", data=1.5))
    source = SourceConfig(topic="width")
    assert decoder.stamp_ns(source, "std_msgs/msg/Float64", data, received_ns=9) == 9


def test_a_camera_that_is_stamped_when_it_is_received_does_not_need_a_stamp(decoder):
    front = CameraConfig(topic="front", stamp="receive")
    assert decoder.stamp_ns(front, IMAGE, cdr(an_image(0)), received_ns=9) == 9
    assert view(decoder, front, Sample("front", 9, cdr(an_image(0))), "front").stamped_on_receipt


@pytest.mark.parametrize(
    ("message_type", "has_header"),
    [(IMAGE, True), (JOINTS, True), ("std_msgs/msg/Float64", False), ("std_msgs/msg/Empty", False)],
)
def test_types_with_a_header_are_told_from_others(decoder, message_type, has_header):
    assert decoder.has_header(message_type) is has_header


def test_a_type_without_a_definition_is_an_error_with_its_name(decoder):
    with pytest.raises(DefinitionError, match="acme_msgs/msg/Grip"):
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
        ("position[2]", "'position' has 2 elements, [2] is none"),
        ("velocity[0]", "'velocity' has 0 elements, [0] is none"),
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
    assert f"signal 'width' (joints): {JOINTS}: {field}" in str(caught.value)
    assert problem in str(caught.value)
