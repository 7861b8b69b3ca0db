# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pixels of a frame: from the bytes that a publisher sent to an array, and to PNG.

The layout of raw data is that of sensor_msgs/msg/Image; metres and invalid values of depth are
those of REP 117 and REP 118.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import cv2
import numpy as np
from numpy.typing import DTypeLike, NDArray

from harness_ros.contract import HarnessError, View

Image = NDArray[np.uint8] | NDArray[np.float32]
"""Colour: RGB uint8 (H, W, 3). Grey: uint8 (H, W). Depth: float32 (H, W) in metres, NaN unknown."""


class ImageError(HarnessError):
    """A frame that is no evidence: its data do not make the image that it claims to be."""

    def __init__(self, view: View, problem: str) -> None:
        super().__init__(
            f"{view.topic}: encoding '{view.encoding}', {view.width}x{view.height}, "
            f"step {view.step}, {len(view.data)} bytes of data: {problem}"
        )


def decode(view: View) -> Image:
    """The image of a frame.

    Returns:
        Colour as RGB uint8 (H, W, 3), without alpha; grey as uint8 (H, W); depth as float32 (H, W)
        in metres, NaN where it is unknown (0, infinite or NaN in the data). Data beyond the last
        row are left out. The array may be a read-only view of the data.

    Raises:
        ImageError: the encoding is unknown, or the data are too short or broken.
    """
    decoder = DECODERS.get(view.encoding)
    if decoder is None:
        raise ImageError(view, f"unknown encoding, known are {', '.join(DECODERS)}")
    return decoder(view)


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


_FARTHEST_GREY, _NEAREST_GREY = 40, 255


def _depth_as_grey(depth: Image) -> NDArray[np.uint8]:
    known = np.isfinite(depth)
    grey = np.zeros(depth.shape, np.uint8)
    if known.any():
        near, far = float(depth[known].min()), float(depth[known].max())
        nearness = (far - depth[known]) / max(far - near, 1e-6) if far > near else 1.0
        grey[known] = np.rint(_FARTHEST_GREY + (_NEAREST_GREY - _FARTHEST_GREY) * nearness)
    return grey


Decoder = Callable[[View], Image]


def _raw(dtype: DTypeLike, channels: int, meaning: Callable[[NDArray[Any]], Image]) -> Decoder:
    """A decoder of rows of pixels; `meaning` gets them as (H, W) or (H, W, channels)."""
    item = np.dtype(dtype)

    def decode_raw(view: View) -> Image:
        row = view.width * channels * item.itemsize
        if view.width == 0 or view.height == 0:
            raise ImageError(view, "an empty image")
        if view.step < row:
            raise ImageError(view, f"a row needs a step of at least {row} bytes")
        # The padding of the last row may be missing: no pixel is lost with it.
        needed = view.step * (view.height - 1) + row
        if len(view.data) < needed:
            raise ImageError(view, f"at least {needed} bytes of data are needed")
        rows = np.ndarray((view.height, row), np.uint8, view.data, strides=(view.step, 1))
        ordered = item.newbyteorder(">" if view.is_bigendian else "<")
        pixels = np.ascontiguousarray(rows).view(ordered)
        shape = (view.height, view.width, channels)
        return meaning(pixels.reshape(shape if channels > 1 else shape[:2]))

    return decode_raw


def _as_is(pixels: NDArray[Any]) -> Image:
    return pixels


def _reversed_channels(pixels: NDArray[Any]) -> Image:
    return np.ascontiguousarray(pixels[:, :, ::-1])


def _metres(pixels: NDArray[Any]) -> Image:
    depth = pixels.astype(np.float32)
    depth[~np.isfinite(depth) | (depth == 0)] = np.nan
    return depth


def _millimetres(pixels: NDArray[Any]) -> Image:
    return _metres(pixels.astype(np.float32) / np.float32(1000))


_JPEG_START, _JPEG_SCAN, _JPEG_END = b"\xff\xd8\xff", b"\xff\xda", b"\xff\xd9"
_PNG_START, _PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND"


def _compressed(view: View) -> Image:
    """Decodes a JPEG or PNG file, whichever the data are: publishers differ in what they say."""
    data = view.data
    if data.startswith(_JPEG_START):
        # A decoder fills what is missing with grey, which would pass for evidence.
        complete = data.rfind(_JPEG_END) > data.rfind(_JPEG_SCAN)
    elif data.startswith(_PNG_START):
        complete = _PNG_END in data
    else:
        raise ImageError(view, f"neither JPEG nor PNG, the data begin with '{data[:8].hex(' ')}'")
    if not complete:
        raise ImageError(view, "the file is cut off")
    try:
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    except cv2.error as error:
        raise ImageError(view, f"the file is broken: {error.err}") from None
    if pixels is None:
        raise ImageError(view, "the file is broken")
    if pixels.dtype == np.uint8 and pixels.ndim == 2:
        return pixels.astype(np.uint8, copy=False)
    if pixels.dtype == np.uint8 and pixels.shape[2] in (3, 4):
        return _reversed_channels(pixels[:, :, :3])
    if pixels.dtype == np.uint16 and pixels.ndim == 2:
        return _millimetres(pixels)
    raise ImageError(
        view, f"pixels of shape {pixels.shape} and type {pixels.dtype} have no meaning"
    )


DECODERS: Mapping[str, Decoder] = {
    "rgb8": _raw(np.uint8, 3, _as_is),
    "bgr8": _raw(np.uint8, 3, _reversed_channels),
    "mono8": _raw(np.uint8, 1, _as_is),
    "16UC1": _raw(np.uint16, 1, _millimetres),
    "32FC1": _raw(np.float32, 1, _metres),
    "jpeg": _compressed,
    "png": _compressed,
}
"""Every known encoding (sensor_msgs/image_encodings.hpp, `jpeg`, `png`) and what decodes it."""
