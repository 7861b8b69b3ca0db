# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Fiducial markers in an image, with the OpenCV of Ubuntu 24.04 (4.6) and the present one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

SMALLEST_SIDE_PX = 10
"""Markers with shorter sides are not looked for; each of their cells is hardly a pixel."""


class Marker(NamedTuple):
    """A marker that was seen."""

    id: int
    x: float
    """Centre, in fractions of the width."""
    y: float
    """Centre, in fractions of the height."""
    side_px: float
    """Mean length of its four sides in pixels of the image that was given."""
    corners: tuple[tuple[float, float], ...] = ()
    """(x, y) of its corners in pixels of the image that was given: top left, top right, bottom
    right, bottom left of the marker as printed. The middle of a pixel has whole coordinates."""


def find_markers(image: NDArray[Any], dictionary: str, scale: int = 1) -> tuple[Marker, ...]:
    """The markers of a dictionary, ordered by id and place.

    Args:
        image: RGB uint8 (H, W, 3) or grey uint8 (H, W).
        dictionary: name of a predefined dictionary, such as `DICT_APRILTAG_36h11`.
        scale: how many times to enlarge the image before; 2 finds smaller markers.
    """
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) if image.ndim == 3 else image
    height, width = grey.shape
    if scale != 1:
        grey = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    corners, ids = _detector(dictionary, max(grey.shape))(grey)
    if ids is None:
        return ()
    found = []
    for number, quad in zip(ids.ravel(), corners, strict=True):
        points = np.asarray(quad, np.float64).reshape(4, 2)
        side = float(np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1).mean())
        # The middle of a pixel has whole coordinates, its left edge lies half a pixel before.
        points = (points + 0.5) / scale
        x, y = points.mean(axis=0)
        corners = tuple((float(corner[0]) - 0.5, float(corner[1]) - 0.5) for corner in points)
        found.append(
            Marker(int(number), float(x) / width, float(y) / height, side / scale, corners)
        )
    return tuple(sorted(_each_once(found, width, height)))


def _each_once(found: list[Marker], width: int, height: int) -> list[Marker]:
    """Without the second outline of a marker: one cannot lie within half a side of its copy."""
    kept: list[Marker] = []
    for marker in sorted(found, key=lambda marker: (-marker.side_px, marker)):
        if not any(
            marker.id == other.id
            and math.hypot((marker.x - other.x) * width, (marker.y - other.y) * height)
            < other.side_px / 2
            for other in kept
        ):
            kept.append(marker)
    return kept


def _detector(dictionary: str, longest_px: int) -> Callable[[Any], Any]:
    """What gives (corners, ids) of a grey image whose longer side has so many pixels."""
    aruco: Any = cv2.aruco
    number = getattr(aruco, dictionary)
    current = hasattr(aruco, "ArucoDetector")
    parameters = aruco.DetectorParameters() if current else aruco.DetectorParameters_create()
    parameters.cornerRefinementMethod = aruco.CORNER_REFINE_NONE
    # By default relative to the image alone: large images would lose markers that small ones show.
    parameters.minMarkerPerimeterRate = min(
        parameters.minMarkerPerimeterRate, 4 * SMALLEST_SIDE_PX / longest_px
    )
    # Of two outlines closer than this, versions before 4.9 keep the larger alone: that of the paper
    # which a marker is printed on, and not the marker.
    parameters.minMarkerDistanceRate = 0.005
    if current:
        detector = aruco.ArucoDetector(aruco.getPredefinedDictionary(number), parameters)
        return lambda grey: detector.detectMarkers(grey)[:2]
    predefined = aruco.Dictionary_get(number)
    return lambda grey: aruco.detectMarkers(grey, predefined, parameters=parameters)[:2]
