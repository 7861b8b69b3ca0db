# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One view as a check draws on it, in pixels of the view, whatever the size of the drawing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_ros.judges.checks.region import WHOLE_IMAGE, Rectangle
from harness_ros.judges.drawing import palette
from harness_ros.judges.drawing.depth import Mark
from harness_ros.judges.drawing.labels import Label
from harness_ros.judges.drawing.lines import Outline, draw_polyline
from harness_ros.judges.drawing.palette import Colour

if TYPE_CHECKING:
    from harness_ros.judges.drawing.panel import Panel


class Canvas:
    """What a check draws with.

    A point is (x, y) in pixels of the view; the middle of a pixel has whole coordinates. Colours
    are RGB; without one a line has the colour of the outcome: green where the check holds, red
    where it does not, amber where it cannot be told.
    """

    def __init__(self, panel: Panel, number: int, holds: bool | None) -> None:
        self._panel = panel
        self.number = number
        """Number of the check, as its evidence has it."""
        self.holds = holds
        self.colour: Colour = palette.of_outcome(holds)
        self.tint: Colour = palette.TINTS[(number - 1) % len(palette.TINTS)]
        """What the check marks what it sees with, unlike those of other checks."""

    @property
    def view(self) -> str:
        """Name of the view that is drawn on; a check with several views is asked once for each."""
        return self._panel.name

    def region(self, region: Rectangle) -> None:
        """The outline of a region, with the number of the check in its corner."""
        rows, columns = region.pixels(self._panel.shape)
        left, top = self._panel.place((columns.start - 0.5, rows.start - 0.5))
        right, bottom = self._panel.place((columns.stop - 0.5, rows.stop - 0.5))
        height, width = self._panel.pixels.shape[:2]
        # Inside of the picture's edge, where a line of two pixels is seen whole.
        corners = [
            (max(left, 1.0), max(top, 1.0)),
            (min(right, width - 2.0), max(top, 1.0)),
            (min(right, width - 2.0), min(bottom, height - 2.0)),
            (max(left, 1.0), min(bottom, height - 2.0)),
        ]
        self._polyline(corners, self.colour, closed=True)
        x, y = corners[0]
        self._panel.labels.append(Label(str(self.number), x, y, self.colour, inside=True))

    def shade(self, mask: NDArray[np.bool_], region: Rectangle = WHOLE_IMAGE) -> None:
        """Stripes over the pixels that count, and a line around them.

        Args:
            mask: (H, W) of the region's pixels.
            region: where the mask lies.
        """
        whole = np.zeros(self._panel.shape, np.uint8)
        whole[region.pixels(self._panel.shape)] = mask
        pixels = self._panel.pixels
        height, width = pixels.shape[:2]
        large = cv2.resize(whole, (width, height), interpolation=cv2.INTER_NEAREST)
        rows, columns = np.indices((height, width))
        along = rows + columns if self.number % 2 else rows - columns
        striped = (large > 0) & (along % 8 < 2)
        selected = pixels[striped]
        palette.blend(selected, self.tint, 0.75)
        pixels[striped] = selected
        outlines, _ = cv2.findContours(large, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
        cv2.drawContours(pixels, outlines, -1, self.tint, 1, cv2.LINE_AA)

    def outline(self, points: ArrayLike, words: str, colour: Colour | None = None) -> None:
        """A closed polygon through points (N, 2), and words near its second point."""
        self._panel.outlines.append(self._outline(points, words, colour or self.colour))

    def faint_outline(self, points: ArrayLike, words: str, colour: Colour) -> None:
        """An outline that is left out where any check has outlined the same."""
        self._panel.faint_outlines.append(self._outline(points, words, colour))

    def _outline(self, points: ArrayLike, words: str, colour: Colour) -> Outline:
        places = [self._panel.place(point) for point in np.asarray(points, float)]
        return Outline(tuple(places), words, colour)

    def line(
        self, begin: ArrayLike, end: ArrayLike, colour: Colour | None = None, width: int = 2
    ) -> None:
        """A line between two points."""
        places = [self._panel.place(np.asarray(point, float)) for point in (begin, end)]
        self._polyline(places, colour or self.colour, closed=False, width=width)

    def cross(self, point: ArrayLike, colour: Colour | None = None) -> None:
        """A small cross on a point, of the same size in every drawing."""
        x, y = self._panel.place(np.asarray(point, float))
        for dx, dy in ((5.0, 0.0), (0.0, 5.0)):
            places = [(x - dx, y - dy), (x + dx, y + dy)]
            self._polyline(places, colour or self.colour, closed=False)

    def label(self, point: ArrayLike, words: str, colour: Colour | None = None) -> None:
        """Words near a point; the same words at the same point are written once."""
        x, y = self._panel.place(np.asarray(point, float))
        self._panel.labels.append(Label(words, x, y, colour or self.colour))

    def depth_mark(self, value: float | None, low: float | None, high: float | None) -> None:
        """What was measured and what was wanted, in metres, on the scale of a depth picture."""
        self._panel.marks.append(Mark(self.number, self.holds, value, low, high))

    def inset(self, image: NDArray[Any], words: str) -> None:
        """A small image beside the view, such as the picture it is compared with."""
        self._panel.insets.append((image, words))

    def _polyline(
        self, places: Iterable[tuple[float, float]], colour: Colour, closed: bool, width: int = 2
    ) -> None:
        draw_polyline(self._panel.pixels, places, colour, closed, width)
