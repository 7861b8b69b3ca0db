# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures in the size in which a report shows them."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from harness_ros.capture.images import decode, to_rgb
from harness_ros.contract import View
from harness_ros.grading.report.data import ReportView

LONGEST_PX, QUALITY = 640, 80


def view_of(view: View, caption: str = "", longest_px: int = LONGEST_PX) -> ReportView:
    """A frame as a report shows it; depth becomes grey.

    Raises:
        ImageError: the frame cannot be decoded.
    """
    return picture_of(view.name, to_rgb(decode(view)), caption, longest_px)


def picture_of(
    name: str, pixels: NDArray[np.uint8], caption: str = "", longest_px: int = LONGEST_PX
) -> ReportView:
    """An RGB uint8 image (height, width, 3), made smaller where a side is longer than allowed."""
    shown: NDArray[Any] = pixels
    height, width = pixels.shape[:2]
    if max(height, width) > longest_px:
        scale = longest_px / max(height, width)
        size = max(1, round(width * scale)), max(1, round(height * scale))
        shown = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    bgr = cv2.cvtColor(shown, cv2.COLOR_RGB2BGR)
    _, data = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    return ReportView(name, data.tobytes(), shown.shape[1], shown.shape[0], caption)
