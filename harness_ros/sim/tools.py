# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The physical tools, as an open-loop backend runs them: they move and never look back.

Each is a generator. It commands setpoints, yields a `Stage` and expects the physics to be
advanced by one control tick before it is asked again; its return value is the backend's report.
Closing it stops the gantry where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict

from harness_ros.sim import plans
from harness_ros.sim.faults import Fault, FaultKind
from harness_ros.sim.motion import Motion
from harness_ros.sim.world import Tabletop

TICK_S: Final = 0.01
"""Control period: how far physics advances between two stages, in seconds."""
SLIPPERY_FRICTION: Final = 0.05

BlockName = Literal["red_block", "green_block", "blue_block", "yellow_block"]
ZoneName = Literal["left_zone", "right_zone"]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PickArguments(_Arguments):
    """What to pick up."""

    target: BlockName


class PlaceArguments(_Arguments):
    """What to put down, and where."""

    target: BlockName
    destination: Literal["bin", "left_zone", "right_zone"]


class PushArguments(_Arguments):
    """What to push, and onto which zone."""

    target: BlockName
    zone: ZoneName


@dataclass(frozen=True)
class Stage:
    """How far a tool has come."""

    name: str
    """What the tool is doing: approach, descend, close, lift, present, settle, …"""
    progress: float
    """Share of the whole motion, 0 to 1."""


@dataclass(frozen=True)
class BackendReport:
    """What a backend believes that knows nothing but its own motion."""

    success: bool
    message: str


ToolRun = Generator[Stage, None, BackendReport]


def pick(world: Tabletop, arguments: PickArguments, fault: Fault | None = None) -> ToolRun:
    """Grasps a block, lifts it and shows it at the home pose."""
    with ExitStack() as stack:
        if fault is not None and fault.kind is FaultKind.SLIPPERY:
            stack.enter_context(world.friction(arguments.target, SLIPPERY_FRICTION))
        yield from _run(world, plans.pick(world, arguments.target, fault))
    return BackendReport(True, f"pick {arguments.target}: motion finished, gripper closed")


def place(world: Tabletop, arguments: PlaceArguments, fault: Fault | None = None) -> ToolRun:
    """Puts down what the gripper holds, in the bin or on a zone, and returns home.

    Where another block leaves no room it does not move and reports that; this is the only report
    that is not a success.
    """
    target, destination = arguments.target, arguments.destination
    plan = plans.place(world, target, destination, fault)
    if plan is None:
        return BackendReport(False, f"place {target} {destination}: no room there")
    yield from _run(world, plan)
    return BackendReport(True, f"place {target} {destination}: motion finished, gripper opened")


def push(world: Tabletop, arguments: PushArguments, fault: Fault | None = None) -> ToolRun:
    """Runs one segment of a push: up to 6 cm towards the zone's centre along one axis."""
    yield from _run(world, plans.push(world, arguments.target, arguments.zone, fault))
    return BackendReport(True, f"push {arguments.target} {arguments.zone}: segment finished")


Tool = Callable[[Tabletop, Any, "Fault | None"], ToolRun]

TOOLS: Final[dict[str, tuple[Tool, type[BaseModel]]]] = {
    "pick": (pick, PickArguments),
    "place": (place, PlaceArguments),
    "push": (push, PushArguments),
}
"""Each tool's generator and argument model."""

PUSH_SEGMENTS: Final = 4
"""Segments after which a push gives up."""


def finish(world: Tabletop, run: ToolRun) -> BackendReport:
    """Runs a tool to its end, advancing the physics. For use without a node."""
    while True:
        try:
            next(run)
        except StopIteration as end:
            report: BackendReport = end.value
            return report
        world.step(TICK_S)


def _run(world: Tabletop, plan: list[tuple[str, Motion]]) -> Iterator[Stage]:
    finished = False
    try:
        for index, (name, motion) in enumerate(plan):
            for share in motion:
                yield Stage(name, (index + share) / len(plan))
        finished = True
    finally:
        if not finished:
            world.stop()
