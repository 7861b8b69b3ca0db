# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What can be said of an encoding that is not decoded."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection

_MATRIX = re.compile(r"(8|16|32|64)(U|S|F)(C(\d*))?", re.IGNORECASE)
_NUMBERS = {"U": "unsigned integers", "S": "signed integers", "F": "floating-point numbers"}
_OVERRIDE = "set 'encoding:' of the camera to what they are"


def explain(encoding: str, known: Collection[str]) -> str:
    """Why an encoding is not decoded, and what would be right."""
    for name in known:
        if name.lower() == encoding.lower():
            return f"unknown encoding; it is spelt '{name}'"
    pixels, separator, codec = encoding.partition("; ")
    matrix = _MATRIX.fullmatch(pixels)
    if separator and codec == "jpeg" and matrix:
        return (
            "a JPEG file keeps 8 bits and not exactly, so it cannot hold depth; let the publisher "
            "send PNG or compressedDepth"
        )
    if "compressedDepth" in encoding:
        kind = encoding[encoding.index("compressedDepth") :]
        return (
            "the publisher does not say which depth was compressed; set 'encoding:' of the camera "
            f"to '16UC1; {kind}' (millimetres) or '32FC1; {kind}' (metres)"
        )
    if separator and codec == "compressed":
        return f"the data are none of JPEG, PNG, TIFF and compressedDepth{_close(pixels, known)}"
    if pixels == "32FC1" and codec == "png":
        return (
            "a PNG file holds integers, whose scale is unknown without the compressedDepth header"
        )
    if matrix:
        bits, kind, channels = matrix[1], matrix[2].upper(), matrix[4] or "1"
        return (
            f"{channels} channel(s) of {_NUMBERS[kind]} of {bits} bits, whose meaning OpenCV's "
            f"name does not tell: colour, depth or unit; {_OVERRIDE}, such as rgb16 or 16UC1"
        )
    if encoding == "compressed":
        return "the publisher names no format and the data are none of JPEG, PNG and TIFF"
    return f"unknown encoding{_close(encoding, known)}; docs/images.md lists those that are known"


def _close(encoding: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(encoding.lower()[:64], known, n=2)
    return f", the closest known are {' and '.join(map(repr, close))}" if close else ""
