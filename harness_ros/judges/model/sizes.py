# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How large a picture is shown."""

from __future__ import annotations

import math

Size = tuple[int, int]
"""Width and height in pixels."""

LONGEST_PX = 8192
"""Of a side, whatever the pixel budget: JPEG ends at 65535, and models long before."""


def fitted(size: Size, pixel_budget: int) -> Size:
    """The size itself, or the largest of the same shape that the budget allows."""
    width, height = size
    return times(size, min(1.0, math.sqrt(pixel_budget / (width * height))), pixel_budget)


def times(size: Size, share: float, pixel_budget: int) -> Size:
    """A size so many times as large; a side never falls below a pixel, nor exceeds the limits."""
    width, height = size
    share = min(share, LONGEST_PX / max(size))
    wide, high = max(1, int(width * share)), max(1, int(height * share))
    # A side of one pixel that cannot shrink makes the picture larger than its share.
    wide = min(wide, max(1, pixel_budget // high))
    return wide, min(high, max(1, pixel_budget // wide))
