# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Motions of the gripper as generators: each sets a setpoint, then yields its progress.

Whoever iterates advances the physics between two yields. A motion reads the world when it is
first asked, so that a list of motions can be laid out before the first begins.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from harness_ros.sim.geometry import XYZ
from harness_ros.sim.world import Tabletop

Motion = Iterator[float]
"""Yields progress from 0 to 1."""

FAST = 0.80
"""Peak speed through free space, m/s."""
SLOW = 0.35
"""Peak speed near blocks, m/s."""

_SHORTEST_S = 0.15
_CLOSING_S = 0.35
_OPENING_S = 0.25
_REST_S = 0.10
_REST_LIMIT_S = 2.0


def move(world: Tabletop, goal: XYZ, speed: float = FAST) -> Motion:
    """Moves the tool tip along a straight line with a minimum-jerk profile."""
    start = world.tip
    duration = max(_SHORTEST_S, 1.875 * math.dist(start, goal) / speed)
    for s in _clock(world, duration):
        blend = s**3 * (10 - 15 * s + 6 * s * s)
        x, y, z = (a + (b - a) * blend for a, b in zip(start, goal, strict=True))
        world.command_tip((x, y, z))
        yield s


def close(world: Tabletop) -> Motion:
    """Closes the fingers until something stops them."""
    world.command_width(0.0)
    yield from _clock(world, _CLOSING_S)


def open_to(world: Tabletop, width: float) -> Motion:
    """Opens the fingers to a distance between the pads, in metres."""
    world.command_width(width)
    yield from _clock(world, _OPENING_S)


def rest(world: Tabletop) -> Motion:
    """Waits until every block stands still, for 2 s at most."""
    began, still_since = world.time_s, world.time_s
    while world.time_s - still_since < _REST_S and world.time_s - began < _REST_LIMIT_S:
        if not world.at_rest():
            still_since = world.time_s
        yield (world.time_s - began) / _REST_LIMIT_S


def _clock(world: Tabletop, duration: float) -> Motion:
    began = world.time_s
    while (elapsed := world.time_s - began) < duration - 1e-9:
        yield elapsed / duration
    yield 1.0
