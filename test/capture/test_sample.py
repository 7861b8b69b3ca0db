# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import struct

import pytest
from rosbags.typesys import Stores, get_typestore

from harness_ros.capture.sample import StampError, header_stamp

STORE = get_typestore(Stores.ROS2_JAZZY)


def a_header(seconds, nanoseconds, *, little_endian=True):
    time = STORE.types["builtin_interfaces/msg/Time"](seconds, nanoseconds)
    header = STORE.types["std_msgs/msg/Header"](time, "camera")
    return bytes(STORE.serialize_cdr(header, "std_msgs/msg/Header", little_endian=little_endian))


@pytest.mark.parametrize("little_endian", [True, False], ids=["little_endian", "big_endian"])
@pytest.mark.parametrize(
    ("seconds", "nanoseconds"), [(0, 0), (0, 1), (1_700_000_000, 123_456_789), (1, 999_999_999)]
)
def test_a_stamp_is_read_from_the_head_of_the_bytes(seconds, nanoseconds, little_endian):
    cdr = a_header(seconds, nanoseconds, little_endian=little_endian)
    assert header_stamp(cdr) == seconds * 10**9 + nanoseconds


@pytest.mark.parametrize("kind", [b"\x00\x01", b"\x00\x03", b"\x00\x07", b"\x00\x09"])
def test_every_little_endian_encapsulation_is_known(kind):
    assert header_stamp(kind + a_header(5, 6)[2:]) == 5_000_000_006


def test_what_follows_the_stamp_is_not_needed():
    assert header_stamp(a_header(5, 6)[:12]) == 5_000_000_006


@pytest.mark.parametrize("length", [0, 3, 4, 11])
def test_fewer_bytes_than_a_stamp_needs_are_an_error(length):
    with pytest.raises(StampError, match=f"{length} bytes"):
        header_stamp(a_header(5, 6)[:length])


def test_nanoseconds_of_a_second_or_more_are_an_error():
    with pytest.raises(StampError, match="1000000000 nanoseconds"):
        header_stamp(b"\x00\x01\x00\x00" + struct.pack("<iI", 5, 1_000_000_000))
