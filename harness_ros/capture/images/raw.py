# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Raw frames of one plane: rows of pixels of one number or a few each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from harness_ros.capture.images.errors import ImageError
from harness_ros.capture.images.layout import Layout, Plane, RawDecoder, lay_out
from harness_ros.capture.images.pixels import Image, Meaning
from harness_ros.contract import View


@dataclass(frozen=True)
class Raw(RawDecoder):
    """Decodes rows of pixels."""

    dtype: DTypeLike
    channels: int
    meaning: Meaning
    smallest: int = 1
    """Pixels that each side must have at least."""
    note: str = ""
    """What a reader should know of every frame of this encoding."""

    def notes(self, view: View) -> tuple[str, ...]:
        """What is unusual and does no harm."""
        notes = super().notes(view)
        return (self.note, *notes) if self.note else notes

    def __call__(self, view: View) -> Image:
        """The image; a view of the data where they are what an image is here."""
        item = np.dtype(self.dtype)
        step = self.layout(view).step
        strides = (step, self.channels * item.itemsize, item.itemsize)
        pixels: NDArray[Any] = np.ndarray(
            (view.height, view.width, self.channels),
            item.newbyteorder(">" if view.is_bigendian else "<"),
            view.data,
            strides=strides,
        )
        if self.channels == 1:
            pixels = pixels[:, :, 0]
        # OpenCV reads numbers in the order of this machine, and rows that are not aligned badly.
        return self.meaning(pixels if item.itemsize == 1 else np.require(pixels, item, ["C", "A"]))

    def layout(self, view: View) -> Layout:
        """Where the rows are."""
        row = view.width * self.channels * np.dtype(self.dtype).itemsize
        found = lay_out(view, Plane(row, view.height))
        if min(view.width, view.height) < self.smallest:
            raise ImageError(
                view,
                f"an image of this encoding needs at least {self.smallest}x{self.smallest} pixels",
            )
        return found
