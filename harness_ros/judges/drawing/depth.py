# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Depth as colours, and the scale that says which colour is how far."""

from __future__ import annotations

from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from harness_ros.judges.drawing import text
from harness_ros.judges.drawing.palette import FAINT, Pixels, filled, of_outcome

UNKNOWN = (58, 58, 62)
UNKNOWN_STRIPE = (84, 84, 90)
SHARE_OUTSIDE = 0.01
"""Of the known pixels, so many at each end do not widen the scale: they are noise."""


class DepthRange(NamedTuple):
    """Metres of the first and the last colour."""

    near: float
    far: float

    @staticmethod
    def of(depth: NDArray[np.float32]) -> DepthRange:
        """The range that shows nearly all known pixels of a depth image."""
        known = depth[np.isfinite(depth)]
        if not known.size:
            return DepthRange(0.0, 1.0)
        near, far = (
            float(value) for value in np.quantile(known, [SHARE_OUTSIDE, 1 - SHARE_OUTSIDE])
        )
        return DepthRange(near, far) if far - near > 1e-3 else DepthRange(near - 0.01, near + 0.01)

    def fraction(self, metres: Any) -> Any:
        """Where a distance lies on the scale: 0 is its near end, 1 its far end."""
        return np.clip((metres - self.near) / (self.far - self.near), 0.0, 1.0)


class Mark(NamedTuple):
    """What one check measured and wanted, shown above the scale."""

    number: int
    holds: bool | None
    value: float | None
    low: float | None
    high: float | None


def colours(depth: NDArray[np.float32], scale: DepthRange) -> Pixels:
    """Depth (H, W) in metres as RGB (H, W, 3); unknown pixels are grey with stripes."""
    known = np.isfinite(depth)
    # Red is near, as heat maps have what matters red.
    levels = 255 - np.rint(255 * scale.fraction(np.where(known, depth, scale.far))).astype(np.uint8)
    pixels: Pixels = cv2.cvtColor(cv2.applyColorMap(levels, cv2.COLORMAP_TURBO), cv2.COLOR_BGR2RGB)
    rows, columns = np.indices(depth.shape)
    pixels[~known] = UNKNOWN
    pixels[~known & ((rows + columns) % 8 < 2)] = UNKNOWN_STRIPE
    return pixels


_BAR, _ROW, _TICKS = 12, 20, 20
_SIZE = 13
_GAP = 8


def draw_scale(scale: DepthRange, marks: list[Mark], width: int) -> Pixels:
    """The scale as a strip of that width: a row for each mark, the bar, its ticks in metres."""
    bar_top = _ROW * len(marks) + 4
    strip = filled(bar_top + _BAR + _TICKS, width)
    left, right = text.width_of("00", _SIZE, bold=True) + _GAP, width - _value_width() - _GAP
    metres = np.linspace(scale.near, scale.far, right - left, dtype=np.float32)
    strip[bar_top : bar_top + _BAR, left:right] = colours(metres[None, :], scale)
    for place in np.linspace(0, 1, 5):
        x = round(left + place * (right - left - 1))
        cv2.line(strip, (x, bar_top + _BAR), (x, bar_top + _BAR + 3), FAINT, 1)
        words = f"{scale.near + place * (scale.far - scale.near):.3f}"
        at = (max(0, x - text.width_of(words, _SIZE) // 2), bar_top + _BAR + 3)
        text.put(strip, words, at, FAINT, _SIZE)
    text.put(strip, "m", (right + _GAP, bar_top - 2), FAINT, _SIZE)
    for row, mark in enumerate(marks):
        _draw_mark(strip, scale, mark, (left, right - 1), row * _ROW)
    return strip


def _value_width() -> int:
    return text.width_of("00.000 m", _SIZE, bold=True)


def _draw_mark(
    strip: Pixels, scale: DepthRange, mark: Mark, ends: tuple[int, int], top: int
) -> None:
    left, right = ends

    def place(metres: float) -> int:
        return round(left + float(scale.fraction(metres)) * (right - left))

    ink = of_outcome(mark.holds)
    middle = top + _ROW // 2 + 2
    low = left if mark.low is None else place(mark.low)
    high = right if mark.high is None else place(mark.high)
    cv2.line(strip, (low, middle), (high, middle), FAINT, 2, cv2.LINE_AA)
    for x, bound in ((low, mark.low), (high, mark.high)):
        # One that lies beyond the scale has no end on it.
        if bound is not None and scale.near <= bound <= scale.far:
            cv2.line(strip, (x, middle - 5), (x, middle + 5), FAINT, 2, cv2.LINE_AA)
    text.put(strip, str(mark.number), (0, top + 2), ink, _SIZE, bold=True)
    if mark.value is not None:
        cv2.circle(strip, (place(mark.value), middle), 5, ink, cv2.FILLED, cv2.LINE_AA)
        words = f"{mark.value:.3f} m"
        text.put(strip, words, (right + _GAP + 1, top + 2), ink, _SIZE, bold=True)
