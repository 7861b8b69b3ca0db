# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What each tool does, laid out as named motions before the first of them begins.

A fault bends the plan's numbers; whether the block then ends up where it should is physics.
"""

from __future__ import annotations

import math
from itertools import chain

from harness_ros.sim import spots
from harness_ros.sim.faults import Fault, FaultKind
from harness_ros.sim.geometry import BIN, BLOCKS, XY
from harness_ros.sim.motion import SLOW, Motion, close, move, open_to, rest
from harness_ros.sim.world import Tabletop

Plan = list[tuple[str, Motion]]

_BESIDE = 0.06
_STEP = 0.06
"""Longest way of a block in one segment of a push; the whole way is cut into equal steps."""
_STAND_OFF = 0.012
"""Distance from the block at which the pusher comes down."""
_SHORT = (-0.006, 0.004)
"""How far a short push moves the block: not at all, or hardly."""
_DROP = 0.003
"""Height above its support at which a block is released."""
_PUSH_WIDTH = 0.024
"""How far the fingers are open when pushing along y, to touch at two places."""
_BIN_MISS = ((-0.17, 0.0), (-0.17, -0.04), (-0.17, -0.08), (-0.155, -0.02))
_ZONE_MISS = ((0.0, 0.15), (0.0, -0.145), (-0.15, 0.0), (0.15, 0.0))


def pick(world: Tabletop, target: str, fault: Fault | None) -> Plan:
    """Grasp a block, lift it, show it at the home pose."""
    g = world.geometry
    emptying, believed = _empty_hand(world, target)
    lanes = spots.lanes(world, target)
    sweeps = fault is not None and fault.kind is FaultKind.KNOCKED_OFF and bool(lanes)
    x, y = believed if sweeps else _grasp(world, target, believed, fault)
    approach = _with_width(world, g.open_width, move(world, (x, y, g.transit_z)))
    if fault is not None and sweeps:
        approach = chain(_sweep(world, believed, lanes[fault.choice % len(lanes)]), approach)
    return [
        *emptying,
        ("approach", approach),
        ("descend", move(world, (x, y, g.grasp_z), SLOW)),
        ("close", close(world)),
        ("lift", move(world, (x, y, g.transit_z), SLOW)),
        ("present", move(world, g.home)),
        ("settle", rest(world)),
    ]


def place(world: Tabletop, target: str, destination: str, fault: Fault | None) -> Plan | None:
    """Put down what the gripper holds, return home; None where there is no room."""
    g = world.geometry
    spot = spots.room(world, destination, target)
    if spot is None:
        return None
    x, y = spot
    if fault is not None:
        x, y = _miss(world, target, (x, y), destination, fault)
    floor = g.bin_floor if destination == BIN and fault is None else 0.0
    return [
        ("approach", move(world, (x, y, g.transit_z))),
        ("descend", move(world, (x, y, g.grasp_z + floor + _DROP), SLOW)),
        ("open", open_to(world, g.open_width)),
        ("retreat", move(world, (x, y, g.transit_z), SLOW)),
        ("home", move(world, g.home)),
        ("settle", rest(world)),
    ]


def push(world: Tabletop, target: str, zone: str, fault: Fault | None) -> Plan:
    """Push a block one segment further towards a zone's centre, along the longer axis."""
    emptying, (x, y) = _empty_hand(world, target)
    zx, zy = world.geometry.zones[zone]
    along_x = abs(zx - x) >= abs(zy - y)
    way = zx - x if along_x else zy - y
    sign = 1.0 if way >= 0 else -1.0
    direction = (sign, 0.0) if along_x else (0.0, sign)
    travel = abs(way) / max(1, math.ceil(abs(way) / _STEP))
    if fault is not None and fault.kind is FaultKind.KNOCKED_OFF:
        if direction in spots.lanes(world, target):
            travel = _way_off(world, (x, y), direction)
        else:
            travel = _SHORT[0]
    elif fault is not None:
        travel = _SHORT[fault.choice % len(_SHORT)]
    return [*emptying, *_push(world, (x, y), direction, travel)]


def _push(world: Tabletop, block: XY, direction: XY, travel: float) -> Plan:
    g = world.geometry
    (x, y), (dx, dy) = block, direction
    reach = g.block / 2 + (g.finger[0] if dx else g.finger[1] / 2)
    behind = reach + _STAND_OFF
    sx, sy = x - dx * behind, y - dy * behind
    ex, ey = x + dx * (travel - reach), y + dy * (travel - reach)
    width = 0.0 if dx else _PUSH_WIDTH
    bx, by = ex - dx * _STAND_OFF, ey - dy * _STAND_OFF
    return [
        ("approach", _with_width(world, width, move(world, (sx, sy, g.transit_z)))),
        ("descend", move(world, (sx, sy, g.grasp_z), SLOW)),
        ("push", move(world, (ex, ey, g.grasp_z), SLOW)),
        ("retreat", move(world, (bx, by, g.grasp_z), SLOW)),
        ("lift", move(world, (bx, by, g.transit_z), SLOW)),
        ("home", move(world, g.home)),
        ("settle", rest(world)),
    ]


def _with_width(world: Tabletop, width: float, motion: Motion) -> Motion:
    world.command_width(width)
    yield from motion


def _sweep(world: Tabletop, block: XY, direction: XY) -> Motion:
    """Comes in too low, takes the block along over the edge, rises again."""
    plan = _push(world, block, direction, _way_off(world, block, direction))
    return chain.from_iterable(m for name, m in plan if name not in ("home", "settle"))


def _way_off(world: Tabletop, block: XY, direction: XY) -> float:
    g = world.geometry
    (x, y), (dx, dy) = block, direction
    if dx:
        edge = g.table_x[1] - x if dx > 0 else x - g.table_x[0]
    else:
        edge = g.table_y[1] - y if dy > 0 else y - g.table_y[0]
    return edge + 0.04


def _grasp(world: Tabletop, target: str, believed: XY, fault: Fault | None) -> XY:
    x, y = believed
    near = spots.others(world, target)
    if fault is None or fault.kind is FaultKind.SLIPPERY:
        return x, y
    if fault.kind is FaultKind.WRONG_BLOCK and near:
        x, y, _ = world.position(near[0])
        return x, y
    sides = (-_BESIDE, _BESIDE) if fault.choice % 2 else (_BESIDE, -_BESIDE)
    free = (s for s in sides if all(_far(world, b, x, y + s) for b in near))
    return x, y + next(free, sides[0])


def _far(world: Tabletop, block: str, x: float, y: float) -> bool:
    bx, by, _ = world.position(block)
    return abs(bx - x) > 0.09 or abs(by - y) > 0.055


def _miss(world: Tabletop, target: str, goal: XY, destination: str, fault: Fault) -> XY:
    offsets = _BIN_MISS if destination == BIN else _ZONE_MISS
    first = fault.choice % len(offsets)
    ordered = offsets[first:] + offsets[:first]
    candidates = [(goal[0] + dx, goal[1] + dy) for dx, dy in ordered]
    return spots.first_free(world, candidates, target) or candidates[0]


def _empty_hand(world: Tabletop, target: str) -> tuple[Plan, XY]:
    """Puts aside what the gripper's own sensors say it still holds.

    Returns:
        The motions, and where the target is believed to be after them.
    """
    g = world.geometry
    believed = world.last_seen(target)[:2]
    if world.gripper_force < 1.0 or world.gripper_width < 0.02:
        return [], believed
    held = next((b for b in BLOCKS if world.touching(b)), target)
    starts = g.starts if BLOCKS.index(held) < 2 else g.starts[::-1]
    x, y = spots.first_free(world, (*starts, *g.parking), held) or g.parking[0]
    emptying: Plan = [
        ("put aside", move(world, (x, y, g.transit_z))),
        ("put aside", move(world, (x, y, g.grasp_z + _DROP), SLOW)),
        ("put aside", open_to(world, g.open_width)),
        ("put aside", move(world, (x, y, g.transit_z), SLOW)),
    ]
    return emptying, (x, y) if held == target else believed
