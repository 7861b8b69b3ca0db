# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every encoding and what decodes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import cv2
import numpy as np

from harness_ros.capture.images import formats, pixels
from harness_ros.capture.images.compressed_depth import CompressedDepth
from harness_ros.capture.images.errors import ImageError
from harness_ros.capture.images.files import File
from harness_ros.capture.images.pixels import SMALLEST_MOSAIC, Image, Meaning
from harness_ros.capture.images.raw import Raw
from harness_ros.capture.images.unknown import explain
from harness_ros.capture.images.yuv import Packed422, SemiPlanar420, SemiPlanar444
from harness_ros.contract import View


class Decoder(Protocol):
    """Decodes the frames of one encoding."""

    def check(self, view: View) -> None:
        """Raises an ImageError where headers and sizes tell that decoding would."""

    def notes(self, view: View) -> tuple[str, ...]:
        """What is unusual and does no harm; raises an ImageError where `check` does."""

    def __call__(self, view: View) -> Image:
        """The image; raises an ImageError."""


def decode(view: View) -> Image:
    """The image of a frame.

    Returns:
        Colour as RGB uint8 (H, W, 3), without alpha; grey as uint8 (H, W); depth as float32 (H, W)
        in metres, NaN where it is unknown (zero, negative, infinite or NaN in the data). Data
        beyond the last row are left out. The array may be a read-only view of the data.

    Raises:
        ImageError: the encoding is unknown, or the data are too short or broken.
    """
    return _decoder(view)(view)


def check(view: View) -> None:
    """Looks at sizes and headers alone, to refuse a frame that cannot be decoded.

    Raises:
        ImageError: the encoding is unknown, the data do not fit the sizes, or a file is no image,
            is cut off or has a size that is not decoded. What only shows when every pixel is
            decoded is left to `decode`.
    """
    _decoder(view).check(view)


def notes(view: View) -> tuple[str, ...]:
    """What is unusual in a frame and does no harm, a sentence each, for the provenance.

    Raises:
        ImageError: as in `check`.
    """
    return _decoder(view).notes(view)


def _decoder(view: View) -> Decoder:
    decoder = DECODERS.get(view.encoding)
    if decoder is None:
        raise ImageError(view, explain(view.encoding, DECODERS))
    return decoder


def _dtype(encoding: str) -> type[np.uint8] | type[np.uint16]:
    return np.uint16 if encoding.endswith("16") else np.uint8


def _colour(encoding: str, channels: int, meaning: Meaning) -> Raw:
    return Raw(_dtype(encoding), channels, meaning)


def _pattern(encoding: str) -> Meaning:
    return pixels.mosaic(encoding.removeprefix("bayer_").rstrip("816"))


_ORDER = "OpenCV's name does not tell the order of the colours: read as {}, as rviz does"
_MOSAIC_IN_JPEG = "a Bayer mosaic that went through JPEG: its colours are not exact"
_EXCHANGED = "red and blue of the file were exchanged, as this encoding says"

_RAW: Mapping[str, Decoder] = {
    **{name: _colour(name, 3, pixels.rgb) for name in ("rgb8", "rgb16")},
    **{name: _colour(name, 3, pixels.bgr) for name in ("bgr8", "bgr16")},
    **{name: _colour(name, 4, pixels.rgb) for name in ("rgba8", "rgba16")},
    **{name: _colour(name, 4, pixels.bgr) for name in ("bgra8", "bgra16")},
    "mono8": Raw(np.uint8, 1, pixels.as_is),
    "mono16": Raw(np.uint16, 1, pixels.to_8_bits),
    "8UC1": Raw(np.uint8, 1, pixels.as_is),
    "8UC3": Raw(np.uint8, 3, pixels.bgr, note=_ORDER.format("BGR")),
    "8UC4": Raw(np.uint8, 4, pixels.bgr, note=_ORDER.format("BGRA")),
    "16UC1": Raw(np.uint16, 1, pixels.millimetres),
    "32FC1": Raw(np.float32, 1, pixels.metres),
    **{
        name: Raw(_dtype(name), 1, _pattern(name), smallest=SMALLEST_MOSAIC)
        for name in formats.BAYER
    },
    **{name: Packed422(cv2.COLOR_YUV2RGB_UYVY) for name in ("uyvy", "yuv422")},
    **{name: Packed422(cv2.COLOR_YUV2RGB_YUYV) for name in ("yuyv", "yuv422_yuy2")},
    "nv12": SemiPlanar420(cv2.COLOR_YUV2RGB_NV12),
    "nv21": SemiPlanar420(cv2.COLOR_YUV2RGB_NV21),
    "nv24": SemiPlanar444(),
}

_COMPRESSED: Mapping[str, Decoder] = {
    **{codec: File() for codec in ("jpeg", "png", "tiff")},
    **{f"mono16; {codec}": File(pixels.to_8_bits, np.uint16, (1,)) for codec in ("png", "tiff")},
    **{f"16UC1; {codec}": File(pixels.millimetres, np.uint16, (1,)) for codec in ("png", "tiff")},
    "32FC1; tiff": File(pixels.metres, np.float32, (1,)),
    **{
        f"{as_bgr}; {codec}": File(pixels.rgb, _dtype(name), (3, 4), note=_EXCHANGED)
        for name, as_bgr in formats.EXCHANGED.items()
        for codec in ("jpeg", "png", "tiff")
        if codec != "jpeg" or _dtype(name) is np.uint8
    },
    **{
        f"{name}; {codec}": File(_pattern(name), _dtype(name), (1,), SMALLEST_MOSAIC)
        for name in formats.BAYER
        for codec in ("png", "tiff")
    },
    **{
        f"{name}; jpeg": File(_pattern(name), np.uint8, (1,), SMALLEST_MOSAIC, _MOSAIC_IN_JPEG)
        for name in formats.BAYER
    },
    **{
        f"{depth}; compressedDepth {codec}": CompressedDepth(codec, quantised=depth == "32FC1")
        for depth in formats.DEPTH
        for codec in ("png", "rvl")
    },
}

DECODERS: Mapping[str, Decoder] = {**_RAW, **_COMPRESSED}
"""Every known encoding and what decodes it: the names of sensor_msgs/image_encodings.hpp for raw
frames, and for compressed ones what `compressed_encoding` gives."""
