# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Depth as a picture that a model can read: colours, and below them their scale in metres."""

from __future__ import annotations

import math
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from harness_ros.judges.drawing.depth import DepthRange, colours, draw_scale
from harness_ros.judges.drawing.palette import Pixels
from harness_ros.judges.model.sizes import Size, fitted, times

SCALE_WIDTH = 360
"""Pixels that the numbers below the bar need at least."""
SCALE_HEIGHT = draw_scale(DepthRange(0.0, 1.0), [], SCALE_WIDTH).shape[0]


class DepthPicture(NamedTuple):
    """A depth image to be looked at."""

    pixels: Pixels
    size: Size
    """Width and height of the depth in it, without the scale."""
    words: str
    """How it is to be read."""


def draw(depth: NDArray[np.float32], pixel_budget: int) -> DepthPicture:
    """Depth (H, W) in metres as turbo colours of at most so many pixels, the scale included.

    Small depth images are enlarged, so that there is room for the scale. Sizes change by leaving
    out or repeating pixels: a mean of near and far would be a distance that nothing has.
    """
    size, has_scale = _size((depth.shape[1], depth.shape[0]), pixel_budget)
    small = cv2.resize(depth, size, interpolation=cv2.INTER_NEAREST).astype(np.float32, copy=False)
    scale = DepthRange.of(small)
    parts = [colours(small, scale)]
    if has_scale:
        parts.append(draw_scale(scale, [], size[0]))
    return DepthPicture(np.concatenate(parts), size, _words(small, scale, has_scale))


def _size(size: Size, budget: int) -> tuple[Size, bool]:
    """Width and height of the depth, and whether its scale is drawn below it."""
    width, height = size
    # width * height * share^2 + SCALE_HEIGHT * width * share = budget
    area, linear = width * height, SCALE_HEIGHT * width
    share = (math.sqrt(linear**2 + 4 * area * budget) - linear) / (2 * area)
    wanted = max(1, -(-SCALE_WIDTH // width))
    with_scale = times(size, min(share, wanted), budget)
    fits = with_scale[0] * (with_scale[1] + SCALE_HEIGHT) <= budget
    if with_scale[0] >= SCALE_WIDTH and fits:
        return with_scale, True
    return fitted(size, budget), False


def _words(depth: NDArray[np.float32], scale: DepthRange, has_scale: bool) -> str:
    known = float(np.isfinite(depth).mean())
    if known == 0.0:
        return "depth, unknown in every pixel, which is grey with stripes"
    bar = "; the bar below it has the scale in metres" if has_scale else ""
    unknown = f"; grey with stripes is unknown, {_percent(1 - known)} of it" if known < 1 else ""
    return (
        f"depth as colours (turbo): dark red is near ({scale.near:.3f} m), over yellow, green and "
        f"blue to dark violet, which is far ({scale.far:.3f} m); what lies beyond has the colour "
        f"of that end{bar}{unknown}"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "less than 1 %"
