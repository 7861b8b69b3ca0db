# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pixels of a frame: from the bytes that a publisher sent to an array, and to PNG.

The layout of raw data is that of sensor_msgs/msg/Image, the names of raw encodings those of
sensor_msgs/image_encodings.hpp; metres and invalid values of depth are those of REP 117 and
REP 118. docs/images.md lists every encoding with its array, unit and notes.

`decoders` names every encoding and what decodes it. `layout` finds the rows in raw data, `raw`,
`yuv` and `pixels` turn them into images; `formats` names what a compressed message holds,
`jpeg`, `png` and `tiff` read the headers of files, `files`, `compressed_depth` and `rvl` decode.
"""

from harness_ros.capture.images.decoders import DECODERS, check, decode, notes
from harness_ros.capture.images.errors import ImageError
from harness_ros.capture.images.formats import compressed_encoding
from harness_ros.capture.images.pixels import Image
from harness_ros.capture.images.showing import encode_png, to_rgb

__all__ = [
    "DECODERS",
    "Image",
    "ImageError",
    "check",
    "compressed_encoding",
    "decode",
    "encode_png",
    "notes",
    "to_rgb",
]
