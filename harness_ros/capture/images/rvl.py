# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Depth images compressed with RVL.

A. D. Wilson: Fast Lossless Depth Image Compression, ISS 2017. By turns the number of zeros, the
number of other values, and for each of these the difference to the one before (zigzag: sign in the
lowest bit). Numbers are cut into groups of three bits, lowest first, one a nibble, whose highest
bit says that more follow; nibbles fill 32-bit words (little-endian here, as
compressed_depth_image_transport stores them) from the top.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness_ros.capture.images.errors import FileError
from harness_ros.capture.images.headers import CUT_OFF, checked_size

MOST_PIXELS = 2**24
"""Larger images are refused (4096x4096): a few bytes may claim any size."""
_LONGEST = 10
"""Nibbles of a number: 30 bits, more than any run within the largest image."""


def size(data: bytes) -> tuple[int, int]:
    """Width and height in pixels.

    Raises:
        FileError: there is no size, or one that is not decoded.
    """
    if len(data) < 8:
        raise FileError(f"{CUT_OFF}: {len(data)} bytes of RVL, at least 8 are needed")
    width, height = struct.unpack_from("<II", data)
    checked_size(width, height, MOST_PIXELS)
    return width, height


def decode(data: bytes) -> NDArray[np.uint16]:
    """The image, uint16 (H, W).

    All numbers are unpacked at once; a loop goes over the runs alone. Memory stays within about
    80 bytes a pixel, whatever the data are.

    Raises:
        FileError: the data are broken or cut off, or the image is too large.
    """
    width, height = size(data)
    numbers = _numbers(data[8:], width * height)
    pixels = np.zeros(width * height, np.uint16)
    first, length, place = _runs(numbers, pixels.size)
    total = int(length.sum())
    # For each value of a run: how far it is from the run's first.
    within = np.arange(total) - np.repeat(np.cumsum(length) - length, length)
    zigzag = numbers[np.repeat(first, length) + within]
    values = np.cumsum((zigzag >> 1) ^ -(zigzag & 1))
    if total and (values.min() < 1 or values.max() > 0xFFFF):
        raise FileError("the RVL data are broken: a value outside of 1 to 65535")
    pixels[np.repeat(place, length) + within] = values
    return pixels.reshape(height, width)


def _numbers(data: bytes, pixels: int) -> NDArray[np.int64]:
    """The numbers in the order in which they were written, no more than an image can need."""
    # A value takes six nibbles at most, and the lengths of runs fewer nibbles than the runs pixels.
    words = np.frombuffer(data, "<u4", min(len(data) // 4, pixels + 2))
    nibbles = np.empty((words.size, 8), np.uint8)
    for place in range(8):
        nibbles[:, place] = (words >> (28 - 4 * place)) & 0xF
    flat = nibbles.ravel()
    last = np.flatnonzero(flat < 8)
    first = np.concatenate([[0], last[:-1] + 1]) if last.size else last
    numbers = np.zeros(last.size, np.int64)
    longer: NDArray[Any] = np.arange(last.size)
    for place in range(_LONGEST):
        numbers[longer] |= (flat[first[longer] + place].astype(np.int64) & 7) << 3 * place
        longer = longer[first[longer] + place < last[longer]]
        if not longer.size:
            return numbers
    # Only what stands before it can still be used.
    return numbers[: longer[0]]


def _runs(
    numbers: NDArray[np.int64], pixels: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Of each run of values: index of its first number, its length, its first pixel."""
    counts = numbers.data
    first, length, places = [], [], []
    position = pixel = 0
    while pixel < pixels:
        if position + 1 >= len(counts):
            raise FileError(f"{CUT_OFF}: RVL data for {pixel} of {pixels} pixels")
        pixel += counts[position]
        values = counts[position + 1]
        first.append(position + 2)
        length.append(values)
        places.append(pixel)
        pixel += values
        position += 2 + values
    if pixel > pixels or position > len(counts):
        raise FileError(f"the RVL data are broken or cut off: {pixel} pixels of {pixels}")
    return np.array(first, np.int64), np.array(length, np.int64), np.array(places, np.int64)
