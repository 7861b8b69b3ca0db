# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The header of a TIFF file (TIFF 6.0, and BigTIFF), and whether all of its pixels are there."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from harness_ros.capture.images.errors import FileError
from harness_ros.capture.images.headers import CUT_OFF, FileHeader, checked_size

MAGICS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")

_WIDTH, _HEIGHT, _BITS, _SAMPLES = 256, 257, 258, 277
_TILE_WIDTH, _TILE_HEIGHT = 322, 323
_PIECES = ((273, 279), (324, 325))
"""Tags of offsets and lengths, of strips and of tiles."""
_WANTED = {_WIDTH, _HEIGHT, _BITS, _SAMPLES, _TILE_WIDTH, _TILE_HEIGHT, *sum(_PIECES, ())}
_TYPES = {1: "u1", 3: "u2", 4: "u4", 16: "u8"}
"""The unsigned integers among the types of a field."""


def header(data: bytes) -> FileHeader:
    """Reads the first directory, that of the image that is decoded.

    Raises:
        FileError: the file is broken or cut off.
    """
    try:
        fields = _fields(data)
    except (struct.error, ValueError, OverflowError):
        raise FileError(f"{CUT_OFF}: its directory is missing") from None
    width, height = _first(fields, _WIDTH, 0), _first(fields, _HEIGHT, 0)
    bits, samples = _first(fields, _BITS, 1), _first(fields, _SAMPLES, 1)
    if _TILE_WIDTH in fields:
        # A decoder allocates whole tiles, however small the image is.
        checked_size(_first(fields, _TILE_WIDTH, 0), _first(fields, _TILE_HEIGHT, 0))
    for offsets, lengths in _PIECES:
        for offset, length in zip(fields.get(offsets, ()), fields.get(lengths, ()), strict=False):
            if offset + length > len(data):
                raise FileError(f"{CUT_OFF}: pixels up to byte {offset + length} are missing")
    return FileHeader(width, height, samples, bits)


def _first(fields: dict[int, list[int]], tag: int, default: int) -> int:
    return next(iter(fields.get(tag, ())), default)


def _fields(data: bytes) -> dict[int, list[int]]:
    """Wanted fields by tag; raises a ValueError, struct.error or OverflowError where data end."""
    order = "<" if data[:1] == b"I" else ">"
    big = data[2:4] in (b"+\0", b"\0+")
    # BigTIFF: 64 bits where TIFF has 32 (and 16 for the number of entries).
    word, counter, start = ("Q", "Q", 8) if big else ("I", "H", 4)
    (position,) = struct.unpack_from(order + word, data, start)
    (entries,) = struct.unpack_from(order + counter, data, position)
    entry = struct.Struct(f"{order}HH{word}")
    inline = struct.calcsize(word)
    position += struct.calcsize(counter)
    found: dict[int, list[int]] = {}
    for number in range(entries):
        place = position + number * (entry.size + inline)
        tag, kind, count = entry.unpack_from(data, place)
        if tag not in _WANTED or tag in found or kind not in _TYPES:
            continue
        item: np.dtype[Any] = np.dtype(order + _TYPES[kind])
        place += entry.size
        if count * item.itemsize > inline:
            (place,) = struct.unpack_from(order + word, data, place)
        if place + count * item.itemsize > len(data):
            raise ValueError("the values of a field lie outside of the file")
        found[tag] = np.frombuffer(data, item, count, place).tolist() if count else []
    return found
