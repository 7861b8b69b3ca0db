# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a compressed message holds: its first bytes say the codec, its publisher the pixels.

`format` varies by publisher and age. compressed_image_transport writes `<pixels>; <codec>
compressed <pixels in the file>`, compressed_depth_image_transport `<pixels>; compressedDepth
<codec>` (older ones without the codec, which is PNG), others the codec alone or nothing.
"""

from __future__ import annotations

import re

from harness_ros.capture.images import png
from harness_ros.capture.images.compressed_depth import HEADER
from harness_ros.capture.images.files import codec_of

DEPTH = ("16UC1", "32FC1")
BAYER = tuple(
    f"bayer_{pattern}{bits}" for bits in (8, 16) for pattern in ("rggb", "bggr", "gbrg", "grbg")
)
EXCHANGED = {
    red_first: f"{red_first} as {red_first.replace('rgb', 'bgr')}"
    for red_first in ("rgb8", "rgba8", "rgb16", "rgba16")
}
"""Pixels that went unconverted to an encoder that takes them for BGR, so that the file has red and
blue in each other's place."""

_MATRIX = re.compile(r"(8|16|32|64)[usf]c?\d*", re.IGNORECASE)
_CODECS = {"jpeg": "jpeg", "jpg": "jpeg", "png": "png", "tiff": "tiff", "tif": "tiff"}


def compressed_encoding(format: str, data: bytes) -> str:
    """View.encoding of a compressed message: a key of DECODERS where it can be decoded.

    Args:
        format: that of sensor_msgs/msg/CompressedImage.
        data: those of the message.

    Returns:
        `jpeg`, `png` or `tiff`, after `<pixels>; ` where the file alone does not tell what its
        pixels are: depth, a Bayer mosaic, grey of 16 bits, or red and blue exchanged. For
        compressed depth `<pixels>; compressedDepth <png or rvl>`. For anything else what the
        publisher says, which `decode` then refuses.
    """
    published, said = _split(format)
    codec = codec_of(data)
    if codec is not None:
        return _file_encoding(codec, published, said)
    depth = {"mono16": "16UC1"}.get(published, published)
    depth = f"{depth}; compressedDepth".removeprefix("; ")
    if data.startswith(png.MAGIC, HEADER.size):
        return f"{depth} png"
    if "compresseddepth" in said:
        return f"{depth} {'rvl' if 'rvl' in said else 'png'}"
    named = next((_CODECS[word] for word in said if word in _CODECS), None)
    if named is not None:
        return _file_encoding(named, published, said)
    return f"{format.strip()}; compressed".removeprefix("; ")


def _split(format: str) -> tuple[str, list[str]]:
    """The pixels that were published in the spelling of image_encodings.hpp, and other words."""
    head, separator, tail = format.partition(";")
    words = re.split(r"[\s;,/]+", (tail if separator else format).strip().lower())
    if not separator and any(word in _CODECS or word == "compresseddepth" for word in words):
        return "", words
    published = head.strip()
    upper = published.upper()
    return (upper if _MATRIX.fullmatch(published) else published.lower()), words


def _file_encoding(codec: str, published: str, said: list[str]) -> str:
    converted = any(word.startswith(("mono", "bgr", "rgb")) for word in said)
    named = f"{published}; {codec}"
    if published in BAYER:
        # Some versions store the mosaic as if it were grey, others make grey of it first.
        return codec if converted else named
    if published == "mono16":
        return codec if codec == "jpeg" else named
    if published in EXCHANGED and codec == "tiff" and not converted:
        return f"{EXCHANGED[published]}; {codec}"
    if published in EXCHANGED.values():
        return named
    # JPEG and PNG files define what is red, and most whose publisher says rgb8 keep to that.
    if _MATRIX.fullmatch(published) and published not in ("8UC1", "8UC3", "8UC4"):
        return named
    return codec
