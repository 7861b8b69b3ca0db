# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Frames of every encoding, made here by what is known of the encodings and not by the decoder."""

import struct

import cv2
import numpy as np

from harness_ros.capture.images import DECODERS
from harness_ros.contract import View

PATTERNS = ("rggb", "bggr", "gbrg", "grbg")
COLOUR, GREY, DEPTH = "colour", "grey", "depth"
DTYPES = {COLOUR: np.uint8, GREY: np.uint8, DEPTH: np.float32}


def view(encoding, data, width=0, height=0, step=0, **changes):
    fields = {
        "name": "top",
        "stamp_ns": 1,
        "frame_id": "top",
        "height": height,
        "width": width,
        "encoding": encoding,
        "step": step,
        "is_bigendian": False,
        "data": data,
        "topic": "/top/image_raw",
    }
    return View(**{**fields, **changes})


def raw_view(encoding, pixels, padding=0, bigendian=False, **changes):
    """A frame of rows of pixels (H, W) or (H, W, channels), padded."""
    height, width = pixels.shape[:2]
    if bigendian:
        pixels = pixels.astype(pixels.dtype.newbyteorder(">"))
    data = rows_of(pixels, padding)
    step = len(data) // height
    return view(encoding, data, width, height, step, is_bigendian=bigendian, **changes)


def rows_of(pixels, padding=0):
    return b"".join(row.tobytes() + b"\xee" * padding for row in pixels)


def file_of(suffix, pixels, *parameters):
    done, data = cv2.imencode(suffix, pixels, parameters)
    assert done
    return data.tobytes()


def mosaic(rgb, pattern):
    """What a sensor with this pattern of filters sees of an RGB image (H, W, 3)."""
    seen = np.empty(rgb.shape[:2], rgb.dtype)
    for place, colour in enumerate(pattern):
        where = np.s_[place // 2 :: 2, place % 2 :: 2]
        seen[where] = rgb[where][:, :, "rgb".index(colour)]
    return seen


def yuv_of(rgb):
    """Y, U and V of BT.601, limited range, as uint8 (H, W, 3)."""
    red, green, blue = (rgb[:, :, channel].astype(np.float64) / 255 for channel in range(3))
    luma = 0.299 * red + 0.587 * green + 0.114 * blue
    planes = (16 + 219 * luma, 128 + 112 / 0.886 * (blue - luma), 128 + 112 / 0.701 * (red - luma))
    return np.rint(np.dstack(planes)).clip(0, 255).astype(np.uint8)


def yuv_view(encoding, rgb, padding=0, **changes):
    """A frame in one of the YUV encodings; colours of neighbours are those of the first of them."""
    height, width = rgb.shape[:2]
    even = np.pad(yuv_of(rgb), ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
    luma, chroma = even[:, :, 0], even[:, :, 1:]
    if encoding in ("yuyv", "yuv422_yuy2", "uyvy", "yuv422"):
        pairs = np.stack([luma, chroma[:, np.arange(luma.shape[1]) // 2 * 2, 0]], axis=2)
        pairs[:, 1::2, 1] = chroma[:, ::2, 1]
        if encoding in ("uyvy", "yuv422"):
            pairs = pairs[:, :, ::-1]
        rows = rows_of(pairs[:height], padding)
        return view(encoding, rows, width, height, 2 * luma.shape[1] + padding, **changes)
    if encoding == "nv24":
        luma, chroma = luma[:height, :width], chroma[:height, :width]
        data = rows_of(luma, padding) + rows_of(chroma, 2 * padding)
        return view(encoding, data, width, height, width + padding, **changes)
    half = chroma[::2, ::2, :: 1 if encoding == "nv12" else -1]
    data = rows_of(luma[:height], padding) + rows_of(half, padding)
    return view(encoding, data, width, height, luma.shape[1] + padding, **changes)


def rvl_of(depth):
    """Depth, uint16 (H, W), as RVL after its size, word by word as in the paper."""
    values, nibbles = depth.ravel().tolist(), []

    def write(number):
        while number > 7:
            nibbles.append(number & 7 | 8)
            number >>= 3
        nibbles.append(number)

    place = previous = 0
    while place < len(values):
        start = place
        while place < len(values) and values[place] == 0:
            place += 1
        write(place - start)
        start = place
        while place < len(values) and values[place] != 0:
            place += 1
        write(place - start)
        for value in values[start:place]:
            delta, previous = value - previous, value
            write(2 * delta if delta >= 0 else -2 * delta - 1)
    nibbles += [0] * (-len(nibbles) % 8)
    words = [
        sum(nibble << 28 - 4 * place for place, nibble in enumerate(nibbles[first : first + 8]))
        for first in range(0, len(nibbles), 8)
    ]
    height, width = depth.shape
    return struct.pack(f"<{2 + len(words)}I", width, height, *words)


def quantised(metres, a, b):
    """Depth in metres as compressed_depth_image_transport stores 32FC1: a / depth + b."""
    known = np.isfinite(metres)
    stored = np.zeros(metres.shape, np.uint16)
    stored[known] = (a / metres[known] + b).astype(np.uint16)
    return stored


def compressed_depth(stored, codec, a=0.0, b=0.0):
    """The data of a message: header, then PNG or RVL."""
    packed = rvl_of(stored) if codec == "rvl" else file_of(".png", stored)
    return struct.pack("<iff", 0, a, b) + packed


def kind_of(encoding):
    """What an encoding is decoded to; None where the file decides."""
    pixels = encoding.partition("; ")[0]
    if pixels in ("jpeg", "png", "tiff"):
        return None
    if pixels in ("16UC1", "32FC1"):
        return DEPTH
    return GREY if pixels in ("mono8", "mono16", "8UC1") else COLOUR


def pixels_of(encoding, rng, height, width):
    """Random pixels of a raw encoding of one plane."""
    channels = 1
    for name, count in (("rgba", 4), ("bgra", 4), ("rgb", 3), ("bgr", 3), ("8UC3", 3), ("8UC4", 4)):
        if encoding.startswith(name):
            channels = count
            break
    shape = (height, width, channels) if channels > 1 else (height, width)
    if encoding == "32FC1":
        return rng.random(shape, np.float32) * 5
    sixteen = encoding.endswith("16") or encoding.startswith("16UC")
    return rng.integers(0, 65536 if sixteen else 256, shape, np.uint16 if sixteen else np.uint8)


def frame(encoding, rng, height=6, width=8, bigendian=False):
    """A valid frame of any key of DECODERS."""
    pixels, _, codec = encoding.partition("; ")
    if "compressedDepth" in codec:
        stored = rng.integers(0, 3, (height, width)).astype(np.uint16) * 1234
        return view(encoding, compressed_depth(stored, codec.split()[1], 100.0, -0.5))
    if pixels in ("jpeg", "png", "tiff"):
        image = rng.integers(0, 256, (height, width, 3), np.uint8)
        return view(encoding, file_of(f".{pixels}", image))
    if codec:
        stored = pixels_of(pixels.split()[0], rng, height, width)
        if codec == "jpeg" and stored.dtype == np.uint16:
            stored = (stored >> 8).astype(np.uint8)
        return view(encoding, file_of(f".{codec}", stored))
    if encoding in ("yuyv", "yuv422_yuy2", "uyvy", "yuv422", "nv12", "nv21", "nv24"):
        return yuv_view(encoding, rng.integers(0, 256, (height, width, 3), np.uint8))
    return raw_view(encoding, pixels_of(encoding, rng, height, width), bigendian=bigendian)


ENCODINGS = tuple(DECODERS)
RAW = tuple(name for name in DECODERS if ";" not in name and name not in ("jpeg", "png", "tiff"))
FILES = tuple(name for name in DECODERS if name not in RAW)


def same(image, expected):
    assert image.dtype == expected.dtype
    np.testing.assert_array_equal(image, expected)
