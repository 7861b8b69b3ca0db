# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults: the physics fails, the backend does not notice."""

from __future__ import annotations

import pytest

from harness_ros.sim import truth
from harness_ros.sim.faults import KINDS, Fault, FaultKind, FaultPlan
from harness_ros.sim.geometry import BLOCKS, GEOMETRY
from harness_ros.sim.tools import PUSH_SEGMENTS
from harness_ros.sim.world import Tabletop


@pytest.mark.parametrize("kind", [*KINDS["pick"], FaultKind.KNOCKED_OFF])
@pytest.mark.parametrize("block", BLOCKS)
def test_a_pick_fails_in_the_world_and_reports_success(
    world: Tabletop, run, kind: FaultKind, block: str
) -> None:
    report = run("pick", Fault(kind, BLOCKS.index(block)), target=block)
    assert report.success
    assert not truth.holds(world, "pick", {"target": block})
    assert world.on_table(block) == (kind is not FaultKind.KNOCKED_OFF)
    assert (len([b for b in BLOCKS if truth.is_held(world, b)]) == 1) == (
        kind is FaultKind.WRONG_BLOCK
    )


@pytest.mark.parametrize("choice", [0, 1])
@pytest.mark.parametrize("destination", ["bin", "left_zone", "right_zone"])
def test_a_misplaced_block_lies_clearly_beside_its_destination(
    world: Tabletop, run, destination: str, choice: int
) -> None:
    run("pick", target="yellow_block")
    fault = Fault(FaultKind.MISPLACED, choice)
    report = run("place", fault, target="yellow_block", destination=destination)
    assert report.success
    assert not truth.holds(world, "place", {"target": "yellow_block", "destination": destination})
    assert world.position("yellow_block")[2] == pytest.approx(GEOMETRY.block / 2, abs=0.002)
    if destination != "bin":
        assert truth.margin(world, "yellow_block", destination) < -0.04


@pytest.mark.parametrize("choice", range(2))
def test_a_short_push_is_still_outside_after_all_its_segments(
    world: Tabletop, run, choice: int
) -> None:
    arguments = {"target": "red_block", "zone": "left_zone"}
    for _ in range(PUSH_SEGMENTS):
        assert run("push", Fault(FaultKind.SHORT_PUSH, choice), **arguments).success
    assert not truth.holds(world, "push", arguments)
    assert truth.margin(world, "red_block", "left_zone") < -0.08


def test_a_push_can_take_its_block_over_the_edge(world: Tabletop, run) -> None:
    arguments = {"target": "blue_block", "zone": "right_zone"}
    assert run("push", Fault(FaultKind.KNOCKED_OFF), **arguments).success
    assert not world.on_table("blue_block")
    assert not truth.holds(world, "push", arguments)
    assert not truth.progress(world, world.last_seen("blue_block"), arguments)


@pytest.mark.parametrize("tool", ["pick", "push"])
def test_a_tool_sent_for_a_fallen_block_moves_reports_success_and_fails(
    world: Tabletop, run, tool: str
) -> None:
    run("pick", Fault(FaultKind.KNOCKED_OFF), target="blue_block")
    arguments = {"target": "blue_block"} | ({"zone": "right_zone"} if tool == "push" else {})
    assert run(tool, **arguments).success
    assert not truth.holds(world, tool, arguments)


def test_friction_is_as_before_when_a_slippery_call_is_over(world: Tabletop, run) -> None:
    run("pick", Fault(FaultKind.SLIPPERY), target="red_block")
    run("pick", target="red_block")
    assert truth.holds(world, "pick", {"target": "red_block"})


@pytest.mark.parametrize("seed", range(50))
def test_a_plan_holds_five_faults_and_never_three_in_a_row(seed: int) -> None:
    calls = FaultPlan(seed).calls
    assert len(calls) == 5
    assert all(1 <= call <= 12 for call in calls)
    assert all(c - a > 2 for a, c in zip(calls, calls[2:], strict=False))


def test_asking_a_plan_twice_gives_the_same_fault() -> None:
    plan, again = FaultPlan(4), FaultPlan(4)
    for call in range(1, 15):
        for tool, kinds in KINDS.items():
            fault = plan.fault(call, tool)
            assert fault == plan.fault(call, tool) == again.fault(call, tool)
            assert (fault is not None) == (call in plan.calls)
            assert fault is None or fault.kind in (*kinds, FaultKind.KNOCKED_OFF)


@pytest.mark.parametrize("seed", range(20))
def test_at_most_one_call_of_a_plan_knocks_a_block_off(seed: int) -> None:
    plan = FaultPlan(seed)
    faults = [plan.fault(call, "pick") for call in plan.calls]
    assert sum(fault.kind is FaultKind.KNOCKED_OFF for fault in faults if fault) <= 1


def test_a_plan_can_be_empty() -> None:
    plan = FaultPlan(0, enabled=False)
    assert not any(plan.fault(call, "pick") for call in range(1, 15))
