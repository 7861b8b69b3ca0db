# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is really so, read from the physics alone.

For tests and for measuring judges. Nothing that judges may import it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from harness_ros.sim.geometry import BIN, XYZ
from harness_ros.sim.world import Tabletop

LIFTED = 0.04
"""A block is held clear of the table when its underside is higher than this, in metres."""
CLOSER = 0.004
"""A push has progressed when its block came closer by this much, in metres."""
_STANDING = 0.012


def holds(world: Tabletop, tool: str, arguments: Mapping[str, str]) -> bool:
    """Whether a call of a tool reached what it is for.

    Args:
        world: The world after the call.
        tool: `pick`, `place` or `push`.
        arguments: The call's arguments.

    Raises:
        KeyError: The tool or an argument is unknown.
    """
    target = arguments["target"]
    if tool == "pick":
        return is_held(world, target)
    goal = arguments[{"place": "destination", "push": "zone"}[tool]]
    released = not world.touching(target) and world.at_rest(target)
    there = is_in_bin(world, target) if goal == BIN else is_on_zone(world, target, goal)
    return there and released


def progress(world: Tabletop, before: XYZ, arguments: Mapping[str, str]) -> bool:
    """Whether a push brought its block closer to the zone without reaching it yet.

    Args:
        world: The world after a segment.
        before: The block's position before it, in metres.
        arguments: The push's arguments.
    """
    target, zone = arguments["target"], arguments["zone"]
    if is_on_zone(world, target, zone) or not _standing(world, target):
        return False
    goal = world.geometry.zones[zone]
    return math.dist(world.position(target)[:2], goal) < math.dist(before[:2], goal) - CLOSER


def is_held(world: Tabletop, block: str) -> bool:
    """Whether both fingers hold a block clear of the table."""
    underside = world.position(block)[2] - world.geometry.block / 2
    return len(world.touching(block)) == 2 and underside > LIFTED


def is_in_bin(world: Tabletop, block: str) -> bool:
    """Whether a block's centre is between the bin's walls and below their rim."""
    g = world.geometry
    x, y, z = world.position(block)
    return (
        abs(x - g.bin_centre[0]) < g.bin_half[0]
        and abs(y - g.bin_centre[1]) < g.bin_half[1]
        and 0.0 < z < g.bin_height
    )


def is_on_zone(world: Tabletop, block: str, zone: str) -> bool:
    """Whether a block stands on the table with its centre inside a zone's square."""
    return _standing(world, block) and margin(world, block, zone) > 0.0


def margin(world: Tabletop, block: str, zone: str) -> float:
    """How far a block's centre is inside a zone's square, in metres; negative outside."""
    g = world.geometry
    x, y, _ = world.position(block)
    return g.zone_half - max(abs(x - g.zones[zone][0]), abs(y - g.zones[zone][1]))


def _standing(world: Tabletop, block: str) -> bool:
    return abs(world.position(block)[2] - world.geometry.block / 2) < _STANDING
