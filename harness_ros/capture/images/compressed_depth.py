# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages of compressed_depth_image_transport: a header of 12 bytes, then PNG or RVL.

The header is a 32-bit enumeration, which is 0 in every message, and two 32-bit floats a and b
(little-endian). They count for 32FC1 alone, whose stored value q stands for a / (q - b) metres, and
0 for an unknown depth. 16UC1 is stored as it is, in millimetres; its a and b are not even set.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness_ros.capture.images import files, pixels, png, rvl
from harness_ros.capture.images.errors import FileError, ImageError
from harness_ros.capture.images.pixels import Image
from harness_ros.contract import View

HEADER = struct.Struct("<iff")


@dataclass(frozen=True)
class CompressedDepth:
    """Decodes depth that is stored in 16 bits."""

    codec: str
    """`png` or `rvl`."""
    quantised: bool
    """The depth was published in metres (32FC1) and stored as its inverse."""

    def check(self, view: View) -> None:
        """Raises an ImageError where the headers tell that decoding would."""
        try:
            self._check(view.data)
        except FileError as error:
            raise ImageError(view, str(error)) from None

    def notes(self, view: View) -> tuple[str, ...]:
        """What is unusual and does no harm."""
        self.check(view)
        return ()

    def __call__(self, view: View) -> Image:
        """The depth in metres."""
        try:
            self._check(view.data)
            inner = view.data[HEADER.size :]
            stored: NDArray[Any] = (
                rvl.decode(inner) if self.codec == "rvl" else files.unchanged(inner)
            )
        except FileError as error:
            raise ImageError(view, str(error)) from None
        return self._inverse(view, stored) if self.quantised else pixels.millimetres(stored)

    def _check(self, data: bytes) -> None:
        inner = data[HEADER.size :]
        if not inner:
            raise FileError("a header of 12 bytes and PNG or RVL data after it are needed")
        if self.quantised:
            _, scale, offset = HEADER.unpack_from(data)
            if not (math.isfinite(scale) and math.isfinite(offset) and scale > 0):
                raise FileError(f"the quantisation is broken: a = {scale}, b = {offset}")
        if self.codec == "rvl":
            rvl.size(inner)
            return
        if not inner.startswith(png.MAGIC):
            raise FileError(f"no PNG file after the header of 12 bytes but '{inner[:8].hex(' ')}'")
        header = png.header(inner)
        if (header.channels, header.bits) != (1, 16):
            raise FileError(
                f"the PNG file holds {header.channels} channel(s) of {header.bits} bits; depth is "
                "one channel of 16"
            )

    def _inverse(self, view: View, stored: NDArray[Any]) -> Image:
        _, scale, offset = HEADER.unpack_from(view.data)
        with np.errstate(divide="ignore", over="ignore"):
            depth = np.float32(scale) / (stored.astype(np.float32) - np.float32(offset))
        depth[stored == 0] = np.nan
        return pixels.metres(depth)
