# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Views as a model is shown them: scaled to a pixel budget, as JPEG, with a caption each.

Nothing is drawn over a view: what covers a pixel covers evidence. Where the outcome is to be seen
in a part of a view, that part follows it as a picture of its own.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness_ros.capture.images import Image, ImageError, decode, to_rgb
from harness_ros.contract import Record, Region, View
from harness_ros.judges.checks.region import Rectangle
from harness_ros.judges.model import depth_picture
from harness_ros.judges.model.quoting import NAME_LENGTH, quoted
from harness_ros.judges.model.settings import ModelSettings
from harness_ros.judges.model.sizes import Size, fitted
from harness_ros.judges.model.values import age_of

LOOKS = 1
"""Counts up when the same frame is drawn another way, so that it is another picture."""
MARGIN = 0.1
"""Of the sides of an outcome region: what it lies in, on each side."""
LEAST_CROP_PX = 64
"""Of the sides of a crop, where the view has so many: smaller ones are refused by some models."""
_MOST_WORKERS = 4


class Frame(Record):
    """The frame that a picture was made of."""

    view: View

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that makes the pixels of the frame, as it was published.

        Taken when it is asked for: it costs almost as much as the JPEG, and only recorded answers
        are looked up by it.
        """
        view = self.view
        facts = (view.encoding, view.height, view.width, view.step, view.is_bigendian)
        digest = hashlib.sha256(json.dumps(facts).encode() + b"\n")
        digest.update(view.data)
        return digest.hexdigest()


class Picture(Record):
    """One picture as it is sent."""

    caption: str
    jpeg: bytes = Field(repr=False)
    frame: Frame = Field(repr=False)
    how: tuple[Any, ...]
    """How the frame is shown: kind, size, crop and quality."""

    @property
    def digest(self) -> str:
        """SHA-256 of the frame as it was published and of how it is shown.

        Not of the JPEG, whose bytes depend on the version of the library.
        """
        return hashlib.sha256(json.dumps([self.frame.digest, *self.how]).encode()).hexdigest()


class _Shown(NamedTuple):
    """A picture that has no number yet."""

    words: str
    """How it was made and is to be read."""
    jpeg: bytes
    how: tuple[Any, ...]


Box = tuple[slice, slice]
"""Rows and columns of a view."""


def draw(
    views: Sequence[View], regions: Mapping[str, Region], youngest_ns: int, settings: ModelSettings
) -> tuple[Picture, ...]:
    """The pictures of views in their order, a crop right behind the view that it is a part of.

    Args:
        regions: where the outcome is to be seen, by the name of the view.
        youngest_ns: stamp that ages are told from.

    Raises:
        ImageError: a view cannot be decoded or shown, or its region is none.
    """
    workers = min(_MOST_WORKERS, os.cpu_count() or 1)
    # OpenCV leaves the interpreter to other threads while it scales and encodes.
    with ThreadPoolExecutor(workers, thread_name_prefix="pictures") as pool:
        drawn = list(pool.map(lambda view: _draw(view, regions.get(view.name), settings), views))
    pictures: list[Picture] = []
    for view, (whole, *crops) in zip(views, drawn, strict=True):
        frame, number = Frame(view=view), len(pictures) + 1
        name, age = quoted(view.name, NAME_LENGTH), age_of(view.stamp_ns, youngest_ns)
        caption = f"Picture {number}: view {name}, {age}, {whole.words}."
        pictures.append(Picture(caption=caption, jpeg=whole.jpeg, frame=frame, how=whole.how))
        for crop in crops:
            caption = (
                f"Picture {number + 1}: crop of picture {number} (view {name}), the part in which "
                f"the outcome is to be seen, {crop.words}."
            )
            pictures.append(Picture(caption=caption, jpeg=crop.jpeg, frame=frame, how=crop.how))
    return tuple(pictures)


def _draw(view: View, region: Region | None, settings: ModelSettings) -> list[_Shown]:
    """The whole view, and the crop of its outcome region where it has one."""
    try:
        image = decode(view)
        show = _depth if image.dtype == np.float32 else _colour
        pictures = [show(image, None, settings)]
        box = None if region is None else _box(view, region, image.shape)
        if box is not None:
            pictures.append(show(image, box, settings))
    except cv2.error as error:
        raise ImageError(view, f"it cannot be shown: {error.err}") from None
    return pictures


def _colour(image: Image, box: Box | None, settings: ModelSettings) -> _Shown:
    part = image if box is None else image[box]
    height, width = part.shape[:2]
    size = fitted((width, height), settings.pixel_budget)
    pixels = to_rgb(_scaled(part, size))
    scaled = f", scaled to {_by(size)}" if size != (width, height) else ""
    words = f"{_place(box, image.shape)}{width}x{height} pixels{scaled}"
    return _Shown(words, _jpeg(pixels, settings), _how("colour", size, box, settings))


def _depth(image: Image, box: Box | None, settings: ModelSettings) -> _Shown:
    part: NDArray[Any] = image if box is None else image[box]
    height, width = part.shape
    drawn = depth_picture.draw(part, settings.pixel_budget)
    scaled = f", shown as {_by(drawn.size)}" if drawn.size != (width, height) else ""
    own = "" if box is None else ", with a scale of its own"
    words = f"{_place(box, image.shape)}{width}x{height} pixels{scaled}, {drawn.words}{own}"
    return _Shown(words, _jpeg(drawn.pixels, settings), _how("depth", drawn.size, box, settings))


def _scaled(image: NDArray[Any], size: Size) -> NDArray[Any]:
    height, width = image.shape[:2]
    if size == (width, height):
        return image
    # Down to half of a side every pixel counts in a bilinear mean, at a fraction of the time.
    mild = 2 * size[0] >= width and 2 * size[1] >= height
    method = cv2.INTER_LINEAR if mild else cv2.INTER_AREA
    scaled: NDArray[Any] = cv2.resize(image, size, interpolation=method)
    return scaled


def _box(view: View, region: Region, shape: tuple[int, ...]) -> Box | None:
    """The pixels of an outcome region and a margin; None where that is the whole view."""
    left, top, right, bottom = region
    if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
        raise ImageError(
            view,
            f"its outcome region is {list(region)}; left, top, right and bottom are wanted, "
            "as shares of width and height from 0 to 1",
        )
    rows, columns = Rectangle(*region).pixels(shape)
    box = _widened(rows, shape[0]), _widened(columns, shape[1])
    return None if box == (slice(0, shape[0]), slice(0, shape[1])) else box


def _widened(pixels: slice, size: int) -> slice:
    side = pixels.stop - pixels.start
    margin = max(math.ceil(MARGIN * side), -(-(LEAST_CROP_PX - side) // 2))
    return slice(max(0, pixels.start - margin), min(size, pixels.stop + margin))


def _place(box: Box | None, shape: tuple[int, ...]) -> str:
    if box is None:
        return ""
    parts = [
        f"{100 * part.start / size:.0f} % to {100 * part.stop / size:.0f} % of its {side}"
        for part, size, side in zip(reversed(box), shape[1::-1], ("width", "height"), strict=True)
    ]
    return f"{' and '.join(parts)}, "


def _by(size: Size) -> str:
    return f"{size[0]}x{size[1]}"


def _jpeg(pixels: NDArray[np.uint8], settings: ModelSettings) -> bytes:
    bgr = cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)
    _, data = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, settings.jpeg_quality])
    return data.tobytes()


def _how(kind: str, size: Size, box: Box | None, settings: ModelSettings) -> tuple[Any, ...]:
    crop = None if box is None else [[part.start, part.stop] for part in box]
    return LOOKS, kind, size, crop, settings.jpeg_quality
