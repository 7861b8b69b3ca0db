# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The distance to the nearest obstacle, from sensor_msgs/LaserScan and sensor_msgs/Range.

REP 117: +inf is free space as far as the sensor sees, -inf is an obstacle too close to be measured,
NaN is no measurement. Other readings outside of [range_min, range_max] are discarded, as the
definition of LaserScan asks for: many drivers write 0 where nothing came back.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness_ros.contract import HarnessError

EDGE_RAD = 1e-5
"""A beam this near to the edge of a sector lies in it: the angles of a scan are float32, and add
up from beam to beam."""


class DistanceError(HarnessError):
    """A message that holds no distance in the wanted direction."""


def from_scan(scan: Any, sector_deg: tuple[float, float]) -> float:
    """Least range of a LaserScan in a sector.

    Args:
        scan: sensor_msgs/LaserScan; angles in radians, counterclockwise from the x axis (REP 103).
        sector_deg: from and to in degrees; may reach beyond 180 or -180.

    Returns:
        Metres; infinite where the sector is free, 0 where something is too close to be measured.

    Raises:
        DistanceError: no beam lies in the sector, or none of them measured anything.
    """
    ranges = np.asarray(scan.ranges, np.float64)
    angles = scan.angle_min + np.arange(len(ranges)) * scan.angle_increment
    low, high = (math.radians(edge) for edge in sector_deg)
    # A beam lies in the sector when it is no further than its width from its beginning.
    inside = np.mod(angles - low + EDGE_RAD, 2 * math.pi) <= high - low + 2 * EDGE_RAD
    if not inside.any():
        raise DistanceError(
            f"no beam of the scan lies in {list(sector_deg)} degrees; it has {len(ranges)} from "
            f"{math.degrees(scan.angle_min):.1f} to {math.degrees(scan.angle_max):.1f}"
        )
    return _nearest(ranges[inside], float(scan.range_min), float(scan.range_max))


def from_range(message: Any) -> float:
    """Distance of a Range; see `from_scan` for what is returned and raised."""
    reading = np.array([float(message.range)])
    return _nearest(reading, float(message.min_range), float(message.max_range))


def _nearest(ranges: NDArray[np.float64], least: float, most: float) -> float:
    if np.isneginf(ranges).any():
        return 0.0
    measured = ranges[np.isposinf(ranges) | ((ranges >= least) & (ranges <= most))]
    if not measured.size:
        raise DistanceError(
            f"none of {ranges.size} readings is a measurement: NaN, or outside of "
            f"[{least:g}, {most:g}] m"
        )
    return float(measured.min())
