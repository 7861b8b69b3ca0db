# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the header of an image file says, before anything is decoded.

A decoder allocates what a header claims, so the size is looked at first.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness_ros.capture.images.errors import FileError

MOST_PIXELS = 2**26
"""More pixels than that are refused in compressed images (8192x8192; the largest industrial
sensors have 65 million): a few bytes may claim any size."""


@dataclass(frozen=True)
class FileHeader:
    """The image in a file."""

    width: int
    height: int
    channels: int
    bits: int
    """Of one channel."""
    end: int | None = None
    """Length of the file in bytes where the format tells."""

    def __post_init__(self) -> None:
        checked_size(self.width, self.height)


def checked_size(width: int, height: int, most: int = MOST_PIXELS) -> None:
    """Raises a FileError for a size that is no image or too large to decode."""
    if width == 0 or height == 0:
        raise FileError(f"an empty image of {width}x{height} pixels")
    if width * height > most:
        raise FileError(f"an image of {width}x{height} pixels, more than the {most} decoded")


CUT_OFF = "the file is cut off"
