# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From the numbers in the data to what an image is here: colour, grey or depth.

Every function takes an array in the byte order of this machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8] | NDArray[np.float32]
"""Colour: RGB uint8 (H, W, 3). Grey: uint8 (H, W). Depth: float32 (H, W) in metres, NaN unknown."""

Meaning = Callable[[NDArray[Any]], Image]
"""Makes an image of pixels of shape (H, W) or (H, W, channels)."""


def as_is(pixels: NDArray[Any]) -> Image:
    """Grey (H, W) or RGB (H, W, 3) of 8 bits, not copied."""
    return pixels


def to_8_bits(pixels: NDArray[Any]) -> NDArray[Any]:
    """16 bits over their whole range to 8 bits: value / 257, rounded; 8 bits as they are.

    The same scale as in cv_bridge, and the inverse of 8 bits to 16.
    """
    return pixels if pixels.dtype == np.uint8 else cv2.convertScaleAbs(pixels, alpha=1 / 257)


def convert(pixels: NDArray[Any], code: int) -> NDArray[Any]:
    """The same pixels in another colour space, by OpenCV's code."""
    converted: NDArray[Any] = cv2.cvtColor(pixels, code)
    return converted


def rgb(pixels: NDArray[Any]) -> Image:
    """RGB (H, W, 3) or RGBA (H, W, 4) of 8 or 16 bits, without alpha, in 8 bits."""
    eight = to_8_bits(pixels)
    return eight if eight.shape[2] == 3 else convert(eight, cv2.COLOR_RGBA2RGB)


def bgr(pixels: NDArray[Any]) -> Image:
    """BGR (H, W, 3) or BGRA (H, W, 4) of 8 or 16 bits, without alpha, as RGB in 8 bits."""
    code = cv2.COLOR_BGR2RGB if pixels.shape[2] == 3 else cv2.COLOR_BGRA2RGB
    return convert(to_8_bits(pixels), code)


def metres(pixels: NDArray[Any]) -> Image:
    """Depth in metres (H, W): NaN where it is zero, negative, infinite or NaN (REP 117, 118)."""
    depth: NDArray[np.float32] = pixels.astype(np.float32)
    depth[~(np.isfinite(depth) & (depth > 0))] = np.nan
    return depth


def millimetres(pixels: NDArray[Any]) -> Image:
    """Depth in millimetres (H, W), 0 unknown (REP 118), in metres."""
    depth: NDArray[np.float32] = pixels.astype(np.float32)
    depth /= 1000
    depth[pixels == 0] = np.nan
    return depth


SMALLEST_MOSAIC = 3
"""Pixels a side from which on OpenCV demosaics; it leaves smaller ones black without a word."""


def mosaic(pattern: str) -> Meaning:
    """What demosaics a Bayer mosaic (H, W) of 8 or 16 bits, at least 3x3, to RGB.

    Args:
        pattern: colours of the first two pixels of the first row and of the second, such as
            `rggb`. OpenCV's short names (`BayerBG`) start at the second pixel of the second row
            and differ; its long ones are those of ROS.
    """
    code = getattr(cv2, f"COLOR_Bayer{pattern.upper()}2RGB")

    def demosaic(pixels: NDArray[Any]) -> Image:
        return to_8_bits(convert(pixels, code))

    return demosaic
