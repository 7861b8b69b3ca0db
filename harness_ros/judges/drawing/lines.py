# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Lines in drawings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import cv2
import numpy as np

from harness_ros.judges.drawing.labels import Box, Label
from harness_ros.judges.drawing.palette import DARK, Colour, Pixels

_BITS = 4
"""Fraction bits of coordinates, so that lines lie where they belong to a sixteenth of a pixel."""

Place = tuple[float, float]
"""(x, y) in pixels of the drawing."""


class Outline(NamedTuple):
    """A closed polygon with words."""

    places: tuple[Place, ...]
    words: str
    colour: Colour

    @property
    def label(self) -> Label:
        """Its words, near the second point."""
        x, y = self.places[1]
        return Label(self.words, x, y, self.colour)

    @property
    def box(self) -> Box:
        """What it encloses."""
        left, top = np.floor(np.min(self.places, axis=0)).astype(int)
        right, bottom = np.ceil(np.max(self.places, axis=0)).astype(int)
        return Box(int(left), int(top), int(right), int(bottom))


def draw_polyline(
    pixels: Pixels, places: Iterable[Place], colour: Colour, closed: bool, width: int = 2
) -> None:
    """A line through places."""
    points = np.rint(np.array(list(places)) * 2**_BITS).astype(np.int32)
    # A dark line beneath keeps the bright one visible on a bright ground.
    for ink, thickness in ((DARK, width + 2), (colour, width)):
        cv2.polylines(pixels, [points], closed, ink, thickness, cv2.LINE_AA, _BITS)


def draw_outlines(
    pixels: Pixels, outlines: Sequence[Outline], faint: Sequence[Outline]
) -> list[Outline]:
    """Draws each outline once; a faint one only where there is no other of the same polygon.

    Returns:
        Those that were drawn.
    """
    strong = {outline.places: outline for outline in outlines}
    others = {outline.places: outline for outline in faint if outline.places not in strong}
    for outline in others.values():
        draw_polyline(pixels, outline.places, outline.colour, closed=True, width=1)
    for outline in strong.values():
        draw_polyline(pixels, outline.places, outline.colour, closed=True)
    return [*strong.values(), *others.values()]
