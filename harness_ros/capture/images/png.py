# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The header and the end of a PNG file (ISO/IEC 15948)."""

from __future__ import annotations

import struct

from harness_ros.capture.images.errors import FileError
from harness_ros.capture.images.headers import CUT_OFF, FileHeader

MAGIC = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 3: 3, 4: 4, 6: 4}
"""Channels of what OpenCV makes of each colour type: palettes and grey with alpha become colour."""


def header(data: bytes) -> FileHeader:
    """Walks over the chunks of a file to its end.

    Raises:
        FileError: the file is broken or cut off.
    """
    position = len(MAGIC)
    length, kind = _chunk(data, position)
    if kind != b"IHDR" or length != 13:
        raise FileError("the PNG file is broken: it does not begin with IHDR")
    if len(data) < position + 8 + length:
        raise FileError(CUT_OFF)
    width, height, bits, colour = struct.unpack_from(">IIBB", data, position + 8)
    if colour not in _CHANNELS:
        raise FileError(f"the PNG file is broken: colour type {colour}")
    while kind != b"IEND":
        position += 12 + length
        length, kind = _chunk(data, position)
    end = position + 12 + length
    if end > len(data):
        raise FileError(f"{CUT_OFF}: its end (IEND) is missing")
    return FileHeader(width, height, _CHANNELS[colour], bits, end)


def _chunk(data: bytes, position: int) -> tuple[int, bytes]:
    if position + 8 > len(data):
        raise FileError(f"{CUT_OFF}: its end (IEND) is missing")
    length, kind = struct.unpack_from(">I4s", data, position)
    return length, kind
