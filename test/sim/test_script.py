# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The stand-in for a planner, played against the physics."""

from __future__ import annotations

import pytest

from harness_ros.sim import truth
from harness_ros.sim.faults import FaultPlan
from harness_ros.sim.script import CALLS, Call, Outcome, TaskScript
from harness_ros.sim.tools import PUSH_SEGMENTS, TOOLS, finish
from harness_ros.sim.world import Tabletop


@pytest.mark.parametrize("seed", range(8))
def test_a_script_meets_successes_and_false_successes_in_little_time(seed: int) -> None:
    world = Tabletop(seed)
    history, believed = _play(world, seed)
    assert len(history) == CALLS
    assert all(believed)
    assert sum(not outcome.success for outcome in history) >= 4
    assert sum(outcome.success for outcome in history) >= 5
    assert {outcome.call.tool for outcome in history} == set(TOOLS)
    assert world.time_s < 100.0


def test_the_same_history_gives_the_same_call() -> None:
    call = Call("pick", {"target": "red_block"})
    history = [Outcome(call, success=True)]
    assert TaskScript(5).next_call(history) == TaskScript(5).next_call(history)


def test_what_was_picked_is_placed_next() -> None:
    call = TaskScript(0).next_call([Outcome(Call("pick", {"target": "red_block"}), success=True)])
    assert call is not None
    assert call.tool == "place"
    assert call.arguments["target"] == "red_block"


def test_a_failed_pick_is_tried_once_more_and_then_left() -> None:
    script, pick = TaskScript(0), Call("pick", {"target": "red_block"})
    failed = Outcome(pick, success=False)
    assert script.next_call([failed]) == pick
    third = script.next_call([failed, failed])
    assert third is not None
    assert third.arguments["target"] != "red_block"


def test_a_misplaced_block_is_picked_up_again() -> None:
    call = Call("place", {"target": "red_block", "destination": "bin"})
    history = [
        Outcome(Call("pick", {"target": "red_block"}), success=True),
        Outcome(call, success=False),
    ]
    assert TaskScript(0).next_call(history) == Call("pick", {"target": "red_block"})


def test_a_script_whose_calls_all_fail_goes_on_to_its_end() -> None:
    script, history = TaskScript(2), list[Outcome]()
    while (call := script.next_call(history)) is not None:
        history.append(Outcome(call, success=False))
    assert len(history) == CALLS


def _play(world: Tabletop, seed: int) -> tuple[list[Outcome], list[bool]]:
    script, plan = TaskScript(seed), FaultPlan(seed)
    history: list[Outcome] = []
    believed: list[bool] = []
    while (call := script.next_call(history)) is not None:
        function, model = TOOLS[call.tool]
        arguments = model(**call.arguments)
        fault = plan.fault(len(history) + 1, call.tool)
        for _ in range(PUSH_SEGMENTS if call.tool == "push" else 1):
            report = finish(world, function(world, arguments, fault))
            holds = truth.holds(world, call.tool, call.arguments)
            if holds or not world.on_table(call.arguments["target"]):
                break
        history.append(Outcome(call, holds))
        believed.append(report.success)
    return history, believed
