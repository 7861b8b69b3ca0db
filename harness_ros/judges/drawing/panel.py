# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One view in a drawing: a title, the picture, and below it what belongs to the view."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_ros.capture.images import to_rgb
from harness_ros.judges.drawing import text
from harness_ros.judges.drawing.depth import DepthRange, Mark, colours, draw_scale
from harness_ros.judges.drawing.labels import Label, draw_labels
from harness_ros.judges.drawing.lines import Outline, draw_outlines
from harness_ros.judges.drawing.palette import AMBER, FAINT, INK, Pixels, filled

TITLE_PX, SMALL_PX = 15, 13
GAP = 8
INSET_HEIGHT = 150


class Panel:
    """The picture of a view, enlarged or reduced, while checks draw on it.

    Args:
        name: of the view.
        image: as `harness_ros.capture.images.decode` gives it; None where there is none.
        about: what stands behind the name: size, encoding; or why there is no image.
        width: of the panel in pixels of the drawing.
        max_height: of the picture.
    """

    def __init__(
        self, name: str, image: NDArray[Any] | None, about: str, width: int, max_height: int
    ) -> None:
        self.name = name
        self.labels: list[Label] = []
        self.outlines: list[Outline] = []
        self.faint_outlines: list[Outline] = []
        self.marks: list[Mark] = []
        self.insets: list[tuple[NDArray[Any], str]] = []
        self._about = "no picture" if image is None else about
        self._width = width
        depth = None if image is None or image.dtype != np.float32 else image
        self._range = None if depth is None else DepthRange.of(depth)
        self.shape = (9, 16) if image is None else (image.shape[0], image.shape[1])
        """(height, width) of the view."""
        self._scale = min(width / self.shape[1], max_height / self.shape[0])
        size = tuple(max(1, round(side * self._scale)) for side in self.shape[::-1])
        self.pixels = (
            _missing(size, about) if image is None else _resized(_shown(image, self._range), size)
        )
        """RGB of the picture, to be drawn on."""

    def place(self, point: ArrayLike) -> tuple[float, float]:
        """Where a point of the view (x, y) lies on `pixels`."""
        x, y = np.asarray(point, float)
        return (x + 0.5) * self._scale - 0.5, (y + 0.5) * self._scale - 0.5

    def render(self) -> Pixels:
        """The panel as it is put into the drawing, (height, width, 3)."""
        outlines = draw_outlines(self.pixels, self.outlines, self.faint_outlines)
        labels = [*self.labels, *(outline.label for outline in outlines)]
        draw_labels(self.pixels, list(dict.fromkeys(labels)), [item.box for item in outlines])
        parts = [self._title(), self._padded(self.pixels)]
        if self._range is not None:
            parts.append(self._padded(draw_scale(self._range, self.marks, self.pixels.shape[1])))
        if self.insets:
            parts.append(self._inset_row())
        return np.concatenate(parts)

    def _title(self) -> Pixels:
        line = text.height_of(TITLE_PX)
        name = self.name
        used = text.width_of(name, TITLE_PX, bold=True) + 10
        about = text.wrap(self._about, max(self._width - used, 60), SMALL_PX)[0]
        title = filled(line + 4, self._width)
        text.put(title, name, (0, 0), INK, TITLE_PX, bold=True)
        text.put(title, about, (used, 2), FAINT, SMALL_PX)
        return title

    def _padded(self, pixels: Pixels) -> Pixels:
        padded = filled(pixels.shape[0], self._width)
        padded[:, : pixels.shape[1]] = pixels
        return padded

    def _inset_row(self) -> Pixels:
        """The insets side by side, those that find no space left out."""
        line = text.height_of(SMALL_PX)
        row = filled(GAP + line + INSET_HEIGHT, self._width)
        left = 0
        for image, words in self.insets:
            scale = min(INSET_HEIGHT / image.shape[0], self._width / image.shape[1])
            size = tuple(max(1, round(side * scale)) for side in image.shape[1::-1])
            wide = max(size[0], text.width_of(words, SMALL_PX))
            if left + wide > self._width:
                break
            text.put(row, words, (left, GAP), FAINT, SMALL_PX)
            top = GAP + line
            row[top : top + size[1], left : left + size[0]] = _resized(to_rgb(image), size)
            left += wide + 2 * GAP
        return row


def _shown(image: NDArray[Any], scale: DepthRange | None) -> Pixels:
    return to_rgb(image) if scale is None else colours(image, scale)


def _resized(pixels: Pixels, size: tuple[int, ...]) -> Pixels:
    larger = size[0] > pixels.shape[1]
    # Enlarged so that each pixel of the camera can be told: thresholds are set by looking at them.
    method = cv2.INTER_NEAREST if larger else cv2.INTER_AREA
    resized: Pixels = cv2.resize(pixels, size, interpolation=method).astype(np.uint8, copy=False)
    return np.ascontiguousarray(resized)


def _missing(size: tuple[int, ...], why: str) -> Pixels:
    pixels = filled(size[1], size[0], (228, 228, 226))
    for row, words in enumerate(text.wrap(why, size[0] - 24, TITLE_PX)):
        text.put(pixels, words, (12, 12 + row * text.height_of(TITLE_PX)), AMBER, TITLE_PX)
    return pixels
