# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Labels on a picture: each stands near its point, inside the picture, and over no other label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness_ros.judges.drawing import text
from harness_ros.judges.drawing.palette import DARK, WHITE, Colour, Pixels, blend

SIZE = 14
_MARGIN = 4


class Box(NamedTuple):
    """A rectangle in pixels; right and bottom lie outside of it."""

    left: int
    top: int
    right: int
    bottom: int

    def shared(self, other: Box) -> int:
        """Pixels that two boxes have in common."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(width, 0) * max(height, 0)


class Label(NamedTuple):
    """Words for a point of the picture, in pixels of the drawing."""

    words: str
    x: float
    y: float
    colour: Colour
    """Of the box behind the words."""
    inside: bool = False
    """Right and below of the point if there is space, as in the corner of a rectangle."""


_LABEL_WEIGHT = 10
"""Covering a label is so much worse than covering something that was outlined."""


def draw_labels(pixels: Pixels, labels: Sequence[Label], outlined: Sequence[Box] = ()) -> list[Box]:
    """Writes the labels; where the picture is too full, they cover as little as they can.

    Args:
        pixels: RGB uint8 (height, width, 3).
        outlined: what is better not covered.

    Returns:
        Where each label stands.
    """
    rows, columns = pixels.shape[:2]
    taken: list[Box] = []
    for label in labels:
        words = _shortened(label.words, columns - 4 * _MARGIN)
        wide = text.width_of(words, SIZE, bold=True) + 2 * _MARGIN
        high = text.height_of(SIZE) + 2
        boxes = [
            _moved_inside(Box(x, y, x + wide, y + high), columns, rows)
            for x, y in _corners(label, wide, high)
        ]
        best = min(
            boxes,
            key=lambda box: (
                _LABEL_WEIGHT * sum(box.shared(other) for other in taken)
                + sum(box.shared(other) for other in outlined)
            ),
        )
        taken.append(best)
        blend(pixels[best.top : best.bottom, best.left : best.right], label.colour, 0.85)
        at = (best.left + _MARGIN, best.top + 2)
        text.put(pixels, words, at, _readable_on(label.colour), SIZE, bold=True)
    return taken


def _readable_on(colour: Colour) -> Colour:
    red, green, blue = colour
    return DARK if 0.299 * red + 0.587 * green + 0.114 * blue > 125 else WHITE


def _corners(label: Label, wide: int, high: int) -> Iterator[tuple[int, int]]:
    """Top left corners that the label may have, the best first."""
    x, y, gap = round(label.x), round(label.y), 8
    right, left = x + gap, x - gap - wide
    below, above = y + gap, y - gap - high
    if label.inside:
        for down in range(5):
            yield x, y + down * (high + 2)
    for step in range(5):
        shift = step * (high + 2)
        for column in (right, left):
            yield column, above - shift
            yield column, below + shift


def _moved_inside(box: Box, columns: int, rows: int) -> Box:
    wide, high = box.right - box.left, box.bottom - box.top
    left = max(0, min(box.left, columns - wide))
    top = max(0, min(box.top, rows - high))
    return Box(left, top, min(left + wide, columns), min(top + high, rows))


def _shortened(words: str, width: int) -> str:
    words = text.plain(words)
    if text.width_of(words, SIZE, bold=True) <= width:
        return words
    while words and text.width_of(words + "...", SIZE, bold=True) > width:
        words = words[:-1]
    return words + "..."
