# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which places on the table are free: for putting aside, for missing, for sweeping through."""

from __future__ import annotations

import math
from collections.abc import Iterable

from harness_ros.sim.geometry import BIN, BLOCKS, XY
from harness_ros.sim.world import Tabletop

_CLEARANCE = (0.09, 0.06)
"""Distance along x or y between two blocks' centres at which the open gripper fits around one."""
_LANE = 0.065
"""Half the width of the way that a swept block needs."""
_RUN_UP = 0.10
"""Room that the gripper needs behind a block to sweep it."""
_EDGE = 0.04


def others(world: Tabletop, target: str) -> list[str]:
    """The blocks on the table apart from one, nearest to it first."""
    x, y, _ = world.last_seen(target)
    found = [b for b in BLOCKS if b != target and world.on_table(b)]
    return sorted(found, key=lambda b: math.dist(world.position(b)[:2], (x, y)))


def in_bin(world: Tabletop, block: str) -> bool:
    """Whether a block's centre is between the bin's walls, at whatever height below 10 cm."""
    g = world.geometry
    x, y, z = world.position(block)
    dx, dy = abs(x - g.bin_centre[0]), abs(y - g.bin_centre[1])
    return dx < g.bin_half[0] and dy < g.bin_half[1] and 0.0 < z < 0.10


def is_free(world: Tabletop, spot: XY, target: str) -> bool:
    """Whether a block may stand here: on the table, off the bin, away from all other blocks."""
    g = world.geometry
    x, y = spot
    if not g.table_x[0] + _EDGE < x < g.table_x[1] - _EDGE:
        return False
    if not g.table_y[0] + _EDGE < y < g.table_y[1] - _EDGE:
        return False
    margin = g.bin_wall + g.block
    dx, dy = abs(x - g.bin_centre[0]), abs(y - g.bin_centre[1])
    if dx < g.bin_half[0] + margin and dy < g.bin_half[1] + margin:
        return False
    return all(_apart(world.position(b)[:2], spot) for b in others(world, target))


def first_free(world: Tabletop, spots: Iterable[XY], target: str) -> XY | None:
    """The first spot where a block may stand, or None."""
    return next((spot for spot in spots if is_free(world, spot, target)), None)


def room(world: Tabletop, destination: str, target: str) -> XY | None:
    """Where a block can be put down: a zone's centre or a slot of the bin; None if all is taken."""
    g = world.geometry
    if destination == BIN:
        spots = [g.bin_slot(i) for i in range(len(g.bin_slots))]
    else:
        spots = [g.zones[destination]]
    taken = [world.position(b)[:2] for b in others(world, target)]
    return next((s for s in spots if all(_apart(s, t) for t in taken)), None)


def lanes(world: Tabletop, target: str) -> list[XY]:
    """Directions in which the block can be swept off the table without meeting anything."""
    g = world.geometry
    x, y, _ = world.last_seen(target)
    if in_bin(world, target):
        return []
    obstacles = [world.position(b)[:2] for b in others(world, target)]
    obstacles.append((g.bin_centre[0], g.bin_centre[1] - g.bin_half[1]))
    obstacles.append(g.bin_centre)
    directions = [(0.0, -1.0), (-1.0, 0.0), (1.0, 0.0)]
    return [d for d in directions if not any(_in_lane(o, (x, y), d) for o in obstacles)]


def _in_lane(obstacle: XY, start: XY, direction: XY) -> bool:
    dx, dy = obstacle[0] - start[0], obstacle[1] - start[1]
    along = dx * direction[0] + dy * direction[1]
    across = abs(dx * direction[1] - dy * direction[0])
    return along > -_RUN_UP and across < _LANE


def _apart(a: XY, b: XY) -> bool:
    return abs(a[0] - b[0]) > _CLEARANCE[0] or abs(a[1] - b[1]) > _CLEARANCE[1]
