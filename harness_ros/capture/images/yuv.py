# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Raw frames in YUV, as the Linux kernel names them (V4L2), to RGB.

The numbers are taken as BT.601 of limited range (Y 16 to 235), as OpenCV and with it cv_bridge do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from harness_ros.capture.images.layout import Layout, Plane, RawDecoder, lay_out
from harness_ros.capture.images.pixels import Image, convert
from harness_ros.contract import View


def _even(number: int) -> int:
    return number + number % 2


@dataclass(frozen=True)
class Packed422(RawDecoder):
    """Decodes YUV 4:2:2 in one plane: four bytes for two pixels; an odd width ends with four."""

    code: int
    """OpenCV's conversion to RGB."""

    def __call__(self, view: View) -> Image:
        """The image in RGB."""
        shape = (view.height, _even(view.width), 2)
        step = self.layout(view).step
        pixels: NDArray[np.uint8] = np.ndarray(shape, np.uint8, view.data, strides=(step, 2, 1))
        return np.ascontiguousarray(convert(pixels, self.code)[:, : view.width])

    def layout(self, view: View) -> Layout:
        """Where the rows are."""
        return lay_out(view, Plane(2 * _even(view.width), view.height))


@dataclass(frozen=True)
class SemiPlanar420(RawDecoder):
    """Decodes NV12 and NV21: a plane of Y, then one of U and V by turns for 2x2 pixels.

    `height` counts the rows of the picture and `step` is that of both planes, so the data hold 3/2
    of `height` rows. The header of ROS 2 Jazzy counts two channels for NV21: a frame whose step is
    2 `width` and whose data are as long as for a step of `width` is read as the latter.
    """

    code: int
    """OpenCV's conversion to RGB."""

    def __call__(self, view: View) -> Image:
        """The image in RGB."""
        found = self.layout(view)
        luma, chroma = _planes(view, found, (view.height + 1) // 2, (view.width + 1) // 2, 1)
        # OpenCV wants even sides.
        odd = (view.height % 2, view.width % 2)
        if any(odd):
            luma = cv2.copyMakeBorder(luma, 0, odd[0], 0, odd[1], cv2.BORDER_REPLICATE)
        image: NDArray[Any] = cv2.cvtColorTwoPlane(luma, chroma, self.code)
        return np.ascontiguousarray(image[: view.height, : view.width])

    def layout(self, view: View) -> Layout:
        """Where the rows are."""
        chroma = Plane(_even(view.width), (view.height + 1) // 2)
        return _semi_planar(view, Plane(view.width, view.height), chroma)


@dataclass(frozen=True)
class SemiPlanar444(RawDecoder):
    """Decodes NV24: a plane of Y, then one of U and V by turns for each pixel.

    `step` is that of Y and the rows of U and V lie twice as far apart, so the data hold 3 times
    `height` rows of Y. The header counts two channels: a frame whose step is 2 `width` and whose
    data are as long as for a step of `width` is read as the latter.
    """

    def __call__(self, view: View) -> Image:
        """The image in RGB."""
        luma, chroma = _planes(view, self.layout(view), view.height, view.width, 2)
        # OpenCV has no conversion from 4:4:4 with the same matrix: each pixel becomes a pair.
        pairs = np.empty((view.height, 2 * view.width, 2), np.uint8)
        pairs[:, ::2, 0] = pairs[:, 1::2, 0] = luma
        pairs[:, ::2, 1], pairs[:, 1::2, 1] = chroma[:, :, 0], chroma[:, :, 1]
        return np.ascontiguousarray(convert(pairs, cv2.COLOR_YUV2RGB_YUYV)[:, ::2])

    def layout(self, view: View) -> Layout:
        """Where the rows are."""
        return _semi_planar(
            view, Plane(view.width, view.height), Plane(2 * view.width, view.height, steps=2)
        )


def _semi_planar(view: View, luma: Plane, chroma: Plane) -> Layout:
    packed = view.width * view.height + chroma.row * chroma.rows
    if view.step != 2 * view.width or len(view.data) != packed or view.width % 2:
        return lay_out(view, luma, chroma)
    found = lay_out(view.model_copy(update={"step": view.width}), luma, chroma)
    note = f"step {view.step} counts Y, U and V: read as rows of {view.width} bytes"
    return Layout(found.step, found.offsets, (note, *found.notes))


def _planes(
    view: View, found: Layout, chroma_rows: int, pairs: int, chroma_steps: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Y as (H, W), and U and V (in the order of the encoding) as (rows, pairs, 2)."""
    luma: NDArray[np.uint8] = np.ndarray(
        (view.height, view.width), np.uint8, view.data, strides=(found.step, 1)
    )
    chroma: NDArray[np.uint8] = np.ndarray(
        (chroma_rows, pairs, 2),
        np.uint8,
        view.data,
        found.offsets[1],
        strides=(found.step * chroma_steps, 2, 1),
    )
    return luma, chroma
