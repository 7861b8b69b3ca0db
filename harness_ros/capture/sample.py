# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A message as it arrived: bytes and a stamp, nothing decoded."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from harness_ros.contract import HarnessError

NANOSECONDS = 1_000_000_000


class StampError(HarnessError):
    """Bytes that cannot be the CDR buffer of a message with a header."""


@dataclass(frozen=True)
class Sample:
    """One serialized message of a camera or signal topic."""

    source: str
    """Key under `cameras` or `signals`, `clearance.<direction>` or `<camera>.camera_info`."""
    stamp_ns: int
    data: bytes
    """CDR with its four-byte encapsulation header."""
    received_ns: int = 0
    """When it arrived, on the clock of the stamps; 0 where that is not known."""


def header_stamp(cdr: bytes) -> int:
    """The stamp of a serialized message that starts with std_msgs/Header, in nanoseconds.

    The encapsulation header is four bytes, its second byte odd for little endian (DDS-XTypes 1.3,
    7.6.2); the stamp follows: int32 seconds, uint32 nanoseconds.

    Raises:
        StampError: fewer than 12 bytes, or nanoseconds of a second or more.
    """
    if len(cdr) < 12:
        raise StampError(f"a message of {len(cdr)} bytes holds no header stamp (12 are needed)")
    seconds, nanoseconds = struct.unpack_from("<iI" if cdr[1] & 1 else ">iI", cdr, 4)
    if nanoseconds >= NANOSECONDS:
        raise StampError(f"stamp with {nanoseconds} nanoseconds; less than {NANOSECONDS} is valid")
    return int(seconds * NANOSECONDS + nanoseconds)
