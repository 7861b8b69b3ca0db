# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The corners of a marker to a small part of a pixel.

A detector gives whole pixels that lie on the marker's black side. Here a line is fitted to each of
the four edges and the lines are cut with each other, as AprilTag does (E. Olson, AprilTag: A robust
and flexible visual fiducial system, ICRA 2011): an edge has many pixels, a corner has one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from harness_ros.judges.markers import Marker

CELL_SHARE = 1 / 9
"""Of a marker's side: less than a cell of any dictionary, so that no other edge is looked at."""
LEAST_REACH_PX, GREATEST_REACH_PX = 1.5, 6.0
PLACES = 32
"""Along an edge, from one corner's neighbourhood to the other's."""
STEPS_A_PIXEL = 4
PASSES = 2
"""The second starts from better edges, so that it looks across them at a right angle."""

_Points = NDArray[np.float64]


class _Line(NamedTuple):
    point: _Points
    direction: _Points


def refined_corners(image: NDArray[Any], marker: Marker) -> _Points:
    """The corners of a marker in pixels, (4, 2), in the order of `Marker.corners`.

    Args:
        image: the one that the marker was found in, RGB uint8 (H, W, 3) or grey (H, W).
    """
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) if image.ndim == 3 else image
    reach = float(np.clip(marker.side_px * CELL_SHARE, LEAST_REACH_PX, GREATEST_REACH_PX))
    corners = np.array(marker.corners, np.float64)
    for _ in range(PASSES):
        centre = corners.mean(axis=0)
        edges = [
            _edge(grey, corners[side], corners[(side + 1) % 4], centre, reach) for side in range(4)
        ]
        corners = np.array([_crossing(edges[side - 1], edges[side]) for side in range(4)])
    return corners


def _edge(grey: NDArray[Any], begin: _Points, end: _Points, centre: _Points, reach: float) -> _Line:
    """The line on which the image turns from black to white, near the one from begin to end."""
    along = end - begin
    outward = np.array([along[1], -along[0]]) / np.linalg.norm(along)
    if outward @ (begin - centre) < 0:
        outward = -outward
    places = begin + np.linspace(0.12, 0.88, PLACES)[:, None] * along
    steps = np.linspace(-reach, reach, 2 * round(STEPS_A_PIXEL * reach) + 1)
    points = (places[:, None] + steps[None, :, None] * outward).astype(np.float32)
    profiles = cv2.remap(
        grey, points[..., 0], points[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    ).astype(np.float64)
    # Squared, so that the noise of flat parts counts little against the edge.
    weights = np.clip(np.diff(profiles, axis=1), 0, None) ** 2
    total = weights.sum(axis=1)
    seen = total > 0.05 * total.max()
    if np.count_nonzero(seen) < 2:
        return _Line(begin, along / np.linalg.norm(along))
    offsets = weights[seen] @ ((steps[1:] + steps[:-1]) / 2) / total[seen]
    found = places[seen] + offsets[:, None] * outward
    middle = found.mean(axis=0)
    return _Line(middle, np.linalg.svd(found - middle)[2][0])


def _crossing(first: _Line, second: _Line) -> _Points:
    """Where two lines meet."""
    way = np.linalg.lstsq(
        np.stack([first.direction, -second.direction], axis=1),
        second.point - first.point,
        rcond=None,
    )[0]
    crossing: _Points = first.point + way[0] * first.direction
    return crossing
