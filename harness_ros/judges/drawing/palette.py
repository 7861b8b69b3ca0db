# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Colours of drawings; all are RGB."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
"""RGB uint8 (height, width, 3)."""

Colour = tuple[int, int, int]

PAPER: Colour = (250, 250, 248)
INK: Colour = (40, 42, 48)
FAINT: Colour = (112, 116, 124)
WHITE: Colour = (255, 255, 255)
DARK: Colour = (16, 18, 22)

GREEN: Colour = (26, 140, 72)
RED: Colour = (205, 40, 44)
AMBER: Colour = (196, 126, 0)

TINTS: tuple[Colour, ...] = ((255, 0, 200), (0, 205, 255), (255, 214, 0), (150, 255, 60))
"""What checks shade the pixels with that they count, one after the other."""

X_AXIS: Colour = (235, 50, 50)
Y_AXIS: Colour = (40, 190, 70)
Z_AXIS: Colour = (60, 110, 255)


def of_outcome(holds: bool | None) -> Colour:
    """Green: it holds. Red: it does not. Amber: it cannot be told."""
    if holds is None:
        return AMBER
    return GREEN if holds else RED


def filled(height: int, width: int, colour: Colour = PAPER) -> Pixels:
    """RGB uint8 (height, width, 3) of one colour."""
    # Row by row: pixel by pixel, NumPy takes ten times as long.
    row = np.tile(np.array(colour, np.uint8), (width, 1))
    return np.repeat(row[None], height, axis=0)


def blend(pixels: NDArray[Any], colour: Colour, opacity: float | NDArray[Any]) -> None:
    """Mixes a colour into pixels (..., 3) in place; opacity from 0 to 1, one or (...) of them."""
    share = np.asarray(opacity, np.float32)[..., None]
    pixels[:] = np.rint(pixels * (1 - share) + np.array(colour, np.float32) * share)
