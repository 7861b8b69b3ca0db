# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tools whose results or run events are wrong, missing, late or too much: each call ends once.

All misbehave at the same time; a tool that ends as it should runs among them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from conftest import Chain, spinning, until
from planner import Planner, config_with
from processes import Nodes
from raw_tool import FINISHED, STARTED, Gate, RawTool
from rclpy.action.server import ServerGoalHandle
from rclpy.executors import MultiThreadedExecutor

from harness_ros import action
from harness_ros.contract import ExitCode, Kind, Status

TIMEOUT_S = 1.5
"""Of every tool here."""
EARLIER = "earlier_success"
OPEN = Gate()
"""Opened when all calls have ended: what waits for it gives no result in time."""
Misbehaviour = Callable[[RawTool, ServerGoalHandle], Any]


def earlier_success(tool: RawTool, goal: ServerGoalHandle) -> Any:
    return tool.succeeds(goal)


def names_no_run(tool: RawTool, goal: ServerGoalHandle) -> Any:
    tool.announce(goal)
    goal.succeed()
    return tool.result(goal, run_id="")


def raises_after_succeed(tool: RawTool, goal: ServerGoalHandle) -> Any:
    tool.announce(goal)
    goal.succeed()
    raise RuntimeError("after the goal has succeeded")


def raises_at_once(tool: RawTool, goal: ServerGoalHandle) -> Any:
    raise RuntimeError("before anything was done")


def names_a_run_that_does_not_exist(tool: RawTool, goal: ServerGoalHandle) -> Any:
    tool.announce(goal)
    goal.succeed()
    return tool.result(goal, run_id="f" * 32)


def names_an_earlier_run(tool: RawTool, goal: ServerGoalHandle) -> Any:
    goal.succeed()
    return tool.result(goal, run_id=EARLIER_RUNS[0])


def never_says_that_it_finished(tool: RawTool, goal: ServerGoalHandle) -> Any:
    tool.announce(goal, [STARTED])
    goal.succeed()
    return tool.result(goal)


def never_says_anything(tool: RawTool, goal: ServerGoalHandle) -> Any:
    goal.succeed()
    return tool.result(goal)


def finishes_twice(tool: RawTool, goal: ServerGoalHandle) -> Any:
    tool.announce(goal, [STARTED, FINISHED, FINISHED])
    goal.succeed()
    return tool.result(goal)


def finishes_before_it_starts(tool: RawTool, goal: ServerGoalHandle) -> Any:
    tool.announce(goal, [FINISHED, STARTED])
    goal.succeed()
    return tool.result(goal)


def result_comes_before_finished(tool: RawTool, goal: ServerGoalHandle) -> Any:
    tool.announce(goal, [STARTED])
    threading.Timer(0.5, lambda: tool.announce(goal, [FINISHED])).start()
    goal.succeed()
    return tool.result(goal)


def never_ends(tool: RawTool, goal: ServerGoalHandle) -> Any:
    tool.announce(goal, [STARTED])
    OPEN.pass_through()
    return tool.result(goal)


def says_by_status_alone_that_it_succeeded(tool: RawTool, goal: ServerGoalHandle) -> Any:
    tool.announce(goal)
    goal.succeed()
    OPEN.pass_through()
    return tool.result(goal)


def ends_after_everybody_gave_up(tool: RawTool, goal: ServerGoalHandle) -> Any:
    tool.announce(goal, [STARTED])
    OPEN.pass_through()
    tool.announce(goal, [FINISHED])
    goal.succeed()
    return tool.result(goal)


def result_is_huge(tool: RawTool, goal: ServerGoalHandle) -> Any:
    tool.announce(goal)
    goal.succeed()
    return tool.result(goal, backend_message="x" * 3_000_000)


def floods_feedback(tool: RawTool, goal: ServerGoalHandle) -> Any:
    tool.announce(goal, [STARTED])
    numbers = (float("nan"), float("inf"), -float("inf"), -3.0, 0.5, 7.0)
    end = time.monotonic() + 1.0
    count = 0
    while time.monotonic() < end:
        feedback = action.ExecuteTool.Feedback(stage=f"{count}" * 20, progress=numbers[count % 6])
        goal.publish_feedback(feedback)
        count += 1
        time.sleep(0.001)
    FLOOD.append(count)
    tool.announce(goal, [FINISHED])
    goal.succeed()
    return tool.result(goal)


EARLIER_RUNS: list[str] = []
FLOOD: list[int] = []
"""How much feedback there was."""

SEEN = (ExitCode.SUCCESS, Kind.JUDGED)
"""The ledger holds a success."""
NO_RUN = (ExitCode.UNJUDGED, Kind.MISSING_RUN_ID)
INTERRUPTED = (ExitCode.UNJUDGED, Kind.INTERRUPTED)

CASES: dict[Misbehaviour, tuple[tuple[ExitCode, Kind], str, str]] = {
    names_no_run: (SEEN, "", ""),
    raises_after_succeed: (SEEN, "", ""),
    raises_at_once: (NO_RUN, "ended (aborted) without a run_id", ""),
    names_a_run_that_does_not_exist: (SEEN, "", ""),
    names_an_earlier_run: (NO_RUN, "and names its run", ""),
    never_says_that_it_finished: (INTERRUPTED, "did not say that it ended", ""),
    never_says_anything: (NO_RUN, "never said so on `runs`", ""),
    finishes_twice: (SEEN, "", ""),
    finishes_before_it_starts: (SEEN, "", ""),
    result_comes_before_finished: (SEEN, "", ""),
    never_ends: (INTERRUPTED, "", "gave no result: not within 1.5 s"),
    says_by_status_alone_that_it_succeeded: (SEEN, "", "gave no result: not within 1.5 s"),
    ends_after_everybody_gave_up: (INTERRUPTED, "", "gave no result"),
    result_is_huge: (SEEN, "", "x" * 4096),
    floods_feedback: (SEEN, "", ""),
}
"""Exit code and kind, words in the failure reason, and words in the backend's message."""


@dataclass
class Called:
    """How one call ended, and what was heard of it."""

    status: int
    result: Any
    took_s: float
    feedback: list[Any] = field(default_factory=list)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    folder = tmp_path_factory.mktemp("results")
    names = [EARLIER, *(case.__name__ for case in CASES)]
    made = Nodes(
        folder,
        config_with(folder, {name: {"timeout_s": TIMEOUT_S} for name in names}),
        {"tool_gateway": {"cancel_timeout_s": 1.0}, "evaluator": {"finish_grace_s": 1.0}},
    )
    yield made
    made.stop_all()


@pytest.fixture(scope="module")
def called(started: Chain, planner: Planner) -> Iterator[dict[str, Called]]:
    """Every tool of this module called once, all at the same time."""

    def executor(**options: Any) -> MultiThreadedExecutor:
        return MultiThreadedExecutor(num_threads=2 * len(CASES), **options)

    def call(name: str) -> Called:
        heard: list[Any] = []
        begun = time.monotonic()
        answer = planner.run(name, on_feedback=lambda message: heard.append(message.feedback))
        return Called(answer.status, answer.result, time.monotonic() - begun, heard)

    with spinning("foreign_arm", executor) as node:
        for case in (earlier_success, *CASES):
            tool = RawTool(node, case.__name__)
            tool.execute = lambda goal, tool=tool, case=case: case(tool, goal)
        earlier = call(EARLIER)
        EARLIER_RUNS[:] = earlier.result.run_ids
        with ThreadPoolExecutor(len(CASES) + 1) as callers:
            names = [*(case.__name__ for case in CASES), EARLIER]
            outcomes = dict(zip(names, callers.map(call, names), strict=True))
        OPEN.open.set()
        yield outcomes


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_call_ends_once_with_what_the_ledger_says(
    started: Chain, planner: Planner, called: dict[str, Called], case: Misbehaviour
) -> None:
    (exit_code, kind), reason, message = CASES[case]
    call = called[case.__name__]
    result = call.result
    assert (result.exit_code, result.verdict.kind) == (exit_code, kind.value), result
    assert reason in result.verdict.failure_reason
    assert message in result.backend_message
    succeeded = exit_code is ExitCode.SUCCESS
    assert (call.status == GoalStatus.STATUS_SUCCEEDED) is succeeded
    assert (result.verdict.status == Status.SUCCESS) is succeeded

    (run_id,) = result.run_ids
    assert result.verdict.run_id == run_id
    if kind is Kind.MISSING_RUN_ID:
        assert started.harness.get_verdict(run_id, timeout_s=0.0) is None
    else:
        # A run without an end has its verdict some time after the gateway has given up.
        in_ledger = started.harness.get_verdict(run_id)
        assert in_ledger is not None
        assert (in_ledger.status, in_ledger.kind) == (result.verdict.status, kind)
        assert until(lambda: planner.listener.verdicts_of(run_id))
        assert len(planner.listener.verdicts_of(run_id)) == 1


def test_every_call_ends_though_one_tool_never_does(called: dict[str, Called]) -> None:
    assert max(call.took_s for call in called.values()) < 30.0


def test_run_named_by_an_earlier_result_keeps_its_verdict(
    started: Chain, called: dict[str, Called]
) -> None:
    assert EARLIER_RUNS[0] in called["names_an_earlier_run"].result.verdict.failure_reason
    verdict = started.harness.get_verdict(EARLIER_RUNS[0])
    assert verdict is not None
    assert (verdict.tool_name, verdict.status) == (EARLIER, Status.SUCCESS)


def test_flood_of_feedback_reaches_the_planner_as_a_trickle_of_sound_numbers(
    called: dict[str, Called],
) -> None:
    heard = called["floods_feedback"].feedback
    assert FLOOD[0] > 200
    # One every 50 ms at most.
    assert 1 <= len(heard) <= 25
    assert all(0.0 <= feedback.progress <= 1.0 for feedback in heard)
    assert {feedback.segment for feedback in heard} == {1}


def test_run_that_ended_late_keeps_the_verdict_that_it_had(
    started: Chain, planner: Planner, called: dict[str, Called]
) -> None:
    (run_id,) = called["ends_after_everybody_gave_up"].result.run_ids
    assert until(lambda: planner.listener.phases(run_id) == [STARTED, FINISHED])
    assert started.call().succeeded
    verdict = started.harness.get_verdict(run_id)
    assert verdict is not None
    assert verdict.kind is Kind.INTERRUPTED
    assert len(planner.listener.verdicts_of(run_id)) == 1


def test_gateway_stays_sound_after_all_that(started: Chain, called: dict[str, Called]) -> None:
    log = (Path(started.nodes.folder) / "tool_gateway.log").read_text()
    assert "Traceback" not in log
    assert "the gateway failed" not in log
    assert started.call().succeeded
