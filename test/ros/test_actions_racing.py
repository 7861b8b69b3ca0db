# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Calls that race their own cancelling, and each other."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from conftest import Chain, cancel, ended, spinning, until
from planner import Planner, config_with
from processes import Nodes
from raw_tool import FINISHED, STARTED, Gate, RawTool
from rclpy.action import CancelResponse, GoalResponse
from robot import Target

from harness_ros import action
from harness_ros.contract import ExitCode, Kind, Status
from harness_ros.ros.client import HarnessClient
from harness_ros.ros.threads import in_executor, wait
from harness_ros.ros.tool_server import BackendResult, RunHandle, ToolServer

SERVER_TIMEOUT_S = 20.0
CANCEL_TIMEOUT_S = 2.0
QUICK = {"cameras": [], "signals": ["gripper_width"], "settle_s": 0.0}
"""Tools whose evidence is one number."""
WIDE = {"success": {"signal": {"name": "gripper_width", "min": 0.03}}, "otherwise": "it is narrow"}
HUGE = {"success": {"signal": {"name": "gripper_width", "min": 9.0}}, "otherwise": "it is small"}
STILL = {
    "success": HUGE["success"],
    "process": {"when": WIDE["success"], "reason": "not there yet"},
}
HELD = QUICK | {"criterion": WIDE}
"""A tool whose post-condition holds."""
SMALL = QUICK | {"criterion": HUGE}
"""A tool whose post-condition does not hold."""
MANY = ("first", "second", "third", "fourth")
TOOLS = {
    "holds": HELD,
    "fails": SMALL,
    "proceeds": QUICK | {"criterion": STILL, "segments": 5},
    "foreign": HELD,
    "absent": HELD,
    "stopped": QUICK | {"criterion": STILL, "segments": 3},
    "slow": QUICK | {"criterion": STILL, "segments": 2, "timeout_s": 0.3},
    **dict.fromkeys(MANY, HELD),
}


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    folder = tmp_path_factory.mktemp("racing")
    timeouts = {"server_timeout_s": SERVER_TIMEOUT_S, "cancel_timeout_s": CANCEL_TIMEOUT_S}
    made = Nodes(folder, config_with(folder, TOOLS), {"tool_gateway": timeouts})
    yield made
    made.stop_all()


def works_a_moment(_: Target, run: RunHandle) -> BackendResult:
    """Works for 75 ms and stops at once when it is cancelled."""
    for _ in range(15):
        run.check_cancelled()
        time.sleep(0.005)
    return BackendResult(success=True, message="done")


def stops_when_cancelled(_: Target, run: RunHandle) -> BackendResult:
    assert until(lambda: run.cancelled)
    run.check_cancelled()
    raise AssertionError


@pytest.fixture(scope="module")
def arm(started: Chain) -> Iterator[None]:
    """Tools of one node, which one thread spins."""
    with spinning("quick_arm") as node:
        functions = dict.fromkeys(("holds", "fails", "proceeds"), works_a_moment)
        functions |= dict.fromkeys(MANY, lambda *_: BackendResult(success=True))
        functions |= dict.fromkeys(("slow", "stopped"), stops_when_cancelled)
        for name, work in functions.items():
            ToolServer(node, name, Target, work)
        yield


@dataclass
class Raced:
    """A call that was cancelled after some milliseconds."""

    tool: str
    delay_ms: int
    answer: Any

    @property
    def result(self) -> Any:
        return self.answer.result


@pytest.fixture(scope="module")
def raced(started: Chain, arm: None, planner: Planner) -> list[Raced]:
    """20 calls of each of three tools, cancelled after 0 to 152 ms, the tools side by side."""

    def race(tool: str) -> list[Raced]:
        calls = []
        for delay_ms in range(0, 160, 8):
            handle = planner.start(tool)
            time.sleep(delay_ms / 1000.0)
            for _ in range(2):  # twice: the second changes nothing
                in_executor(planner.node, handle.cancel_goal_async)
            calls.append(Raced(tool, delay_ms, ended(handle)))
        return calls

    with ThreadPoolExecutor(3) as callers:
        return [
            call for calls in callers.map(race, ("holds", "fails", "proceeds")) for call in calls
        ]


def test_each_raced_call_has_one_result_which_agrees_with_the_ledger(
    started: Chain, planner: Planner, raced: list[Raced]
) -> None:
    for call in raced:
        result = call.result
        if not result.run_ids:
            assert (result.exit_code, result.verdict.kind) == (ExitCode.CANCELLED, "cancelled")
            continue
        for run_id in result.run_ids:
            verdict = started.harness.get_verdict(run_id)
            assert verdict is not None, call
            assert until(lambda run_id=run_id: planner.listener.verdicts_of(run_id))
            assert len(planner.listener.verdicts_of(run_id)) == 1
            assert planner.listener.phases(run_id) == [STARTED, FINISHED]
        assert result.verdict.run_id == result.run_ids[-1]
        assert (result.verdict.status, result.verdict.kind) == (verdict.status, verdict.kind)


def test_exit_code_of_a_raced_call_is_that_of_its_verdict_or_cancelled(raced: list[Raced]) -> None:
    for call in raced:
        result = call.result
        seen = result.verdict.status == Status.SUCCESS
        assert (result.exit_code == ExitCode.SUCCESS) is seen, call
        assert (call.answer.status == GoalStatus.STATUS_SUCCEEDED) is seen
        assert (call.answer.status == GoalStatus.STATUS_CANCELED) is (
            result.exit_code == ExitCode.CANCELLED
        )
        assert result.exit_code != ExitCode.UNJUDGED
        assert call.tool != "fails" or not seen


def test_races_end_both_ways(raced: list[Raced]) -> None:
    ends = Counter((call.tool, ExitCode(call.result.exit_code)) for call in raced)
    assert ends["holds", ExitCode.SUCCESS] >= 3, ends
    assert ends["fails", ExitCode.FAILURE] >= 3, ends
    assert ends["fails", ExitCode.CANCELLED] >= 3, ends
    assert ends["proceeds", ExitCode.CANCELLED] >= 15, ends
    # A tool that stopped, and a world that is as wanted all the same.
    assert any(
        call.result.exit_code == ExitCode.SUCCESS and call.result.backend_message == "cancelled"
        for call in raced
    )


def test_call_cancelled_before_its_tool_is_there_ends_at_once(
    chain: Chain, planner: Planner
) -> None:
    begun = time.monotonic()
    handle = planner.start("absent")
    cancel(handle)
    answer = ended(handle)
    assert time.monotonic() - begun < SERVER_TIMEOUT_S / 2
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.exit_code == ExitCode.CANCELLED
    assert answer.result.verdict.kind == Kind.CANCELLED.value
    assert list(answer.result.run_ids) == []


def test_call_cancelled_before_its_tool_accepts_is_cancelled_when_it_does(
    chain: Chain, planner: Planner, foreign: RawTool
) -> None:
    gate = Gate()

    def decide() -> GoalResponse:
        gate.pass_through()
        return GoalResponse.ACCEPT

    def execute(goal: Any) -> Any:
        foreign.announce(goal, [STARTED])
        assert until(lambda: goal.is_cancel_requested)
        foreign.announce(goal, [FINISHED])
        goal.canceled()
        return foreign.result(goal, backend_success=False, backend_message="stopped")

    foreign.decide, foreign.execute = decide, execute
    chain.robot.width = 0.0
    handle = planner.start("foreign")
    assert gate.reached.wait(10.0)
    cancel(handle)
    gate.open.set()
    answer = ended(handle)
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.exit_code == ExitCode.CANCELLED
    assert answer.result.backend_message == "stopped"
    # The verdict says how the world was left.
    assert answer.result.verdict.failure_reason == "it is narrow"


def test_call_cancelled_while_its_verdict_is_awaited_is_what_the_verdict_says(
    chain: Chain, arm: None, planner: Planner
) -> None:
    for width, exit_code, status in (
        (0.05, ExitCode.SUCCESS, GoalStatus.STATUS_SUCCEEDED),
        (0.0, ExitCode.FAILURE, GoalStatus.STATUS_ABORTED),
    ):
        known = len(planner.listener.runs)
        chain.robot.silent, chain.robot.width = {"gripper"}, width
        handle = planner.start("first")
        assert until(
            lambda known=known: [run.phase for run in planner.listener.runs[known:]] == [0, 1]
        )
        cancel(handle)
        chain.robot.silent = set()
        answer = ended(handle)
        assert (answer.status, answer.result.exit_code) == (status, exit_code), answer.result


def test_tool_that_refuses_to_cancel_is_waited_for(
    chain: Chain, planner: Planner, foreign: RawTool
) -> None:
    gate = Gate()

    def execute(goal: Any) -> Any:
        foreign.announce(goal, [STARTED])
        gate.pass_through()
        foreign.announce(goal, [FINISHED])
        goal.succeed()
        return foreign.result(goal)

    foreign.execute, foreign.on_cancel = execute, lambda: CancelResponse.REJECT
    handle = planner.start("foreign")
    assert gate.reached.wait(10.0)
    cancel(handle)
    result = in_executor(planner.node, handle.get_result_async)
    assert not wait(result, CANCEL_TIMEOUT_S + 0.5)  # nothing is to happen until the tool ends
    gate.open.set()
    assert wait(result, 10.0)
    answer = result.result()
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert answer.result.exit_code == ExitCode.SUCCESS
    assert (answer.result.backend_success, answer.result.backend_message) == (True, "")


def test_tool_that_somebody_else_cancels_is_told_as_cancelled_and_runs_no_further_segment(
    chain: Chain, arm: None, planner: Planner
) -> None:
    handle = planner.start("stopped")
    assert until(lambda: planner.runs_of("stopped"))
    operator = planner.node.create_client(CancelGoal, "tools/stopped/_action/cancel_goal")
    assert operator.wait_for_service(10.0)
    operator.call_async(CancelGoal.Request())  # all goals
    answer = ended(handle)
    # The planner asked for nothing: its goal cannot be CANCELED, and is no success either.
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.exit_code == ExitCode.CANCELLED
    assert answer.result.verdict.status == Status.PROCESS
    assert answer.result.segments == 1
    planner.node.destroy_client(operator)


def test_segment_that_was_stopped_because_time_was_up_is_judged(
    chain: Chain, arm: None, planner: Planner
) -> None:
    answer = planner.run("slow")
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.exit_code == ExitCode.FAILURE
    assert answer.result.verdict.kind == Kind.SEGMENT_BUDGET_EXHAUSTED.value
    assert answer.result.segments == 2
    assert answer.result.backend_message == "cancelled"


def test_verdict_that_waits_for_a_camera_holds_up_no_other(
    chain: Chain, arm: None, planner: Planner
) -> None:
    chain.robot.silent = {"top"}
    waiting = in_executor(planner.node, planner.start("push").get_result_async)
    outcomes = [chain.call("first") for _ in range(3)]
    assert not waiting.done()
    assert all(outcome.succeeded for outcome in outcomes), outcomes
    assert wait(waiting, 10.0)
    assert waiting.result().result.verdict.kind == Kind.OBSERVATION_UNAVAILABLE.value


def test_two_hundred_calls_of_four_tools_side_by_side_all_come_to_their_verdict(
    chain: Chain, arm: None, planner: Planner
) -> None:
    def stream(tool: str) -> list[Any]:
        # One client for two of the streams: it may be called from several threads.
        client = clients[MANY.index(tool) % 2]
        return [client.run_tool(tool, {"target": "red_block"}) for _ in range(50)]

    entered = threading.Event()
    go_on = threading.Event()

    def pick(*_: Any) -> BackendResult:
        entered.set()
        assert go_on.wait(60.0)
        return BackendResult(success=True)

    chain.robot.behaviour["pick"] = pick
    known = len(planner.listener.verdicts)
    with HarnessClient() as own, ThreadPoolExecutor(5) as callers:
        clients = (chain.harness, own)
        # A slow tool holds up nobody.
        slow = callers.submit(chain.call)
        assert entered.wait(10.0)
        outcomes = [outcome for part in callers.map(stream, MANY) for outcome in part]
        assert not slow.done()
        go_on.set()
        assert slow.result(20.0).succeeded
    assert [outcome.exit_code for outcome in outcomes] == [ExitCode.SUCCESS] * 200
    run_ids = {run_id for outcome in outcomes for run_id in outcome.run_ids}
    assert len(run_ids) == 200
    assert until(lambda: len(planner.listener.verdicts) >= known + 201)
    assert Counter(verdict.run_id for verdict in planner.listener.verdicts[known:]) == Counter(
        run_ids | set(slow.result().run_ids)
    )


def test_goals_that_wait_for_a_gateway_are_not_lost(chain: Chain, planner: Planner) -> None:
    planner.run("dance")
    gateway = chain.nodes.running["tool_gateway"].process
    gateway.send_signal(signal.SIGSTOP)
    goal = action.RunTool.Goal(tool_name="dance", arguments="{}")
    sent = [
        in_executor(planner.node, lambda: planner.client.send_goal_async(goal)) for _ in range(50)
    ]
    gateway.send_signal(signal.SIGCONT)
    assert all(wait(answer, 20.0) for answer in sent)
    assert all(answer.result().accepted for answer in sent)


def test_goals_of_one_tool_at_the_same_time_run_one_after_another_or_not_at_all(
    chain: Chain, arm: None, planner: Planner
) -> None:
    with ThreadPoolExecutor(30) as callers:
        answers = list(callers.map(planner.run, ["holds"] * 30))
    taken = [answer.result for answer in answers if answer.result.run_ids]
    refused = [answer.result for answer in answers if not answer.result.run_ids]
    assert taken
    assert refused
    assert {result.exit_code for result in taken} == {ExitCode.SUCCESS}
    assert {(result.exit_code, result.verdict.kind) for result in refused} == {
        (ExitCode.UNJUDGED, Kind.MISSING_RUN_ID.value)
    }
    assert all("busy" in result.verdict.failure_reason for result in refused)
    runs = planner.runs_of("holds")
    phases = [run.phase for run in runs if run.run_id in {r.run_ids[0] for r in taken}]
    assert phases == [STARTED, FINISHED] * len(taken)
