# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The header and the end of a JPEG file (ITU-T T.81, annex B)."""

from __future__ import annotations

import re
import struct

from harness_ros.capture.images.errors import FileError
from harness_ros.capture.images.headers import CUT_OFF, FileHeader

MAGIC = b"\xff\xd8\xff"
MOST_SCANS = 64
"""A progressive file goes over the whole image once a scan; real ones have about ten."""

_MARKER = re.compile(rb"\xff[^\x00\xff]")
_END, _SCAN = 0xD9, 0xDA
_WITHOUT_LENGTH = {0x01, *range(0xD0, 0xD9)}
_FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def header(data: bytes) -> FileHeader:
    """Walks over the segments of a file to its end.

    Raises:
        FileError: the file is broken or cut off; a decoder would fill what is missing with grey,
            which would pass for evidence.
    """
    frame: tuple[int, int, int, int] | None = None
    scans, marker = 0, _MARKER.search(data, 2)
    while marker is not None:
        code, position = data[marker.start() + 1], marker.end()
        if code == _END:
            return _checked(frame, scans, position)
        if code in _WITHOUT_LENGTH:
            marker = _MARKER.search(data, position)
            continue
        if position + 2 > len(data):
            break
        (length,) = struct.unpack_from(">H", data, position)
        if code in _FRAMES:
            if frame is not None or length < 8 or position + length > len(data):
                raise FileError(f"the JPEG file is broken at byte {position}")
            bits, height, width, components = struct.unpack_from(">BHHB", data, position + 2)
            frame = width, height, components, bits
        scans += code == _SCAN
        marker = _MARKER.search(data, position + length)
    raise FileError(f"{CUT_OFF}: its end (ff d9) is missing")


def _checked(frame: tuple[int, int, int, int] | None, scans: int, end: int) -> FileHeader:
    if frame is None or scans == 0:
        raise FileError("the JPEG file holds no image")
    if scans > MOST_SCANS:
        raise FileError(f"the JPEG file has {scans} scans, more than the {MOST_SCANS} decoded")
    return FileHeader(*frame, end=end)
