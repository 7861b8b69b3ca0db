# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Decoded images to be looked at: by people, and by models that take pictures."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from harness_ros.capture.images.decoders import decode
from harness_ros.capture.images.pixels import Image
from harness_ros.contract import View

_FARTHEST_GREY, _NEAREST_GREY = 40, 255


def to_rgb(image: Image) -> NDArray[np.uint8]:
    """A decoded image as RGB uint8 (H, W, 3) to be looked at.

    Depth becomes grey: white is the nearest pixel, dark grey the farthest, black unknown.
    """
    pixels: NDArray[Any] = _depth_as_grey(image) if image.dtype == np.float32 else image
    return np.repeat(pixels[:, :, None], 3, axis=2) if pixels.ndim == 2 else pixels


def encode_png(image: View | Image) -> bytes:
    """A frame or decoded image as an RGB PNG file of 8 bits to be looked at (see `to_rgb`).

    Raises:
        ImageError: the frame cannot be decoded.
    """
    pixels = decode(image) if isinstance(image, View) else image
    _, data = cv2.imencode(".png", cv2.cvtColor(to_rgb(pixels), cv2.COLOR_RGB2BGR))
    return data.tobytes()


def _depth_as_grey(depth: Image) -> NDArray[np.uint8]:
    known = np.isfinite(depth)
    grey = np.zeros(depth.shape, np.uint8)
    if known.any():
        near, far = float(depth[known].min()), float(depth[known].max())
        nearness = (far - depth[known]) / max(far - near, 1e-6) if far > near else 1.0
        grey[known] = np.rint(_FARTHEST_GREY + (_NEAREST_GREY - _FARTHEST_GREY) * nearness)
    return grey
