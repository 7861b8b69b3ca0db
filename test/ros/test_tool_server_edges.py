# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""ToolServer where functions, executors, clients and cancelling do what they should not."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from conftest import Listener, cancel, ended, spinning, until
from raw_tool import FINISHED, STARTED, run_id_of
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future
from robot import Target

from harness_ros import action
from harness_ros.ros import goal_server, tool_server
from harness_ros.ros.action_servers import Servers
from harness_ros.ros.goals import ASK_AGAIN_S, ActionCaller, Unanswered
from harness_ros.ros.qos import REQUESTS
from harness_ros.ros.threads import in_executor, wait
from harness_ros.ros.tool_server import BackendResult, OneAtATime, RunHandle, ToolServer

try:
    from rclpy import experimental
except ImportError:  # before Jazzy
    experimental = None

GOAL = action.ExecuteTool.Goal(arguments='{"target": "red_block"}')


class Events:
    """The EventsExecutor of rclpy, spun as `run_node` spins it."""

    def __init__(self, context: Context) -> None:
        self._executor = experimental.EventsExecutor(context=context)
        self._ending = Future()

    def add_node(self, node: Node) -> None:
        self._executor.add_node(node)

    def spin(self) -> None:
        self._executor.spin_until_future_complete(self._ending, 3600.0)
        self._executor.shutdown(1.0)

    def shutdown(self, timeout_sec: float) -> None:
        self._ending.set_result(None)


EXECUTORS = {"single_threaded": SingleThreadedExecutor, "multi_threaded": MultiThreadedExecutor}
if experimental is not None:
    EXECUTORS["events"] = Events


def done(*_: Any) -> BackendResult:
    return BackendResult(success=True, message="done")


class Bench:
    """Tools on one node, a client of each, and all that is said on `runs`."""

    def __init__(self, arm: Node, planner: Node) -> None:
        self.arm = arm
        self.planner = planner
        self.listener = Listener(planner)
        self.actions: dict[str, str] = {}
        """Name of the action of each tool."""
        self._clients: dict[str, ActionClient] = {}
        self._made = count()

    def add(self, name: str, function: Callable[..., Any], **options: Any) -> ToolServer[Target]:
        """A tool of this name, whose action no other test has."""
        options = {"evaluator_wait_s": 0.0, **options}
        action_name = f"tools/{name}_{next(self._made)}"
        server = ToolServer(self.arm, name, Target, function, action_name, **options)
        client = ActionClient(
            self.planner, action.ExecuteTool, action_name, goal_service_qos_profile=REQUESTS
        )
        Servers(self.planner, client, f"/harness/{action_name}").await_one(10.0, lambda: False)
        self._clients[name], self.actions[name] = client, action_name
        return server

    def start(
        self,
        name: str,
        on_feedback: Callable[[Any], None] | None = None,
        goal: Any = GOAL,
    ) -> Any:
        client = self._clients[name]
        sent = in_executor(
            self.planner, lambda: client.send_goal_async(goal, feedback_callback=on_feedback)
        )
        assert wait(sent, 10.0), "no answer to a goal"
        return sent.result()

    def run(self, name: str) -> Any:
        return ended(self.start(name))


@pytest.fixture(scope="module", params=EXECUTORS)
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    with spinning("arm", EXECUTORS[request.param]) as arm, spinning("planner") as planner:
        yield Bench(arm, planner)


def test_goal_that_is_cancelled_before_it_begins_moves_nothing(bench: Bench) -> None:
    called = []
    bench.add("grip", lambda *given: called.append(given) or done(), evaluator_wait_s=60.0)
    handle = bench.start("grip")
    cancel(handle)
    answer = ended(handle)
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.run_id == run_id_of(handle)
    assert answer.result.backend_message == "cancelled before it began"
    assert not called
    # It is a run all the same: a goal that was taken has one, and one verdict.
    assert until(lambda: bench.listener.phases(run_id_of(handle)) == [STARTED, FINISHED])


def test_goals_cancelled_at_once_end_and_leave_the_tool_free(bench: Bench) -> None:
    def grip(_: Target, run: RunHandle) -> BackendResult:
        time.sleep(0.01)
        return BackendResult(success=not run.cancelled)

    bench.add("grip", grip)
    ends = set()
    for _ in range(30):
        handle = bench.start("grip")
        in_executor(bench.planner, handle.cancel_goal_async)
        in_executor(bench.planner, handle.cancel_goal_async)
        answer = ended(handle)
        assert answer.result.run_id == run_id_of(handle)
        ends.add(answer.status)
    assert ends <= {GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_SUCCEEDED}
    assert GoalStatus.STATUS_CANCELED in ends
    assert bench.run("grip").status == GoalStatus.STATUS_SUCCEEDED


def test_goal_whose_acceptance_is_lost_is_cancelled(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = threading.Event()

    def grip(_: Target, run: RunHandle) -> BackendResult:
        if until(lambda: run.cancelled):
            stopped.set()
        return BackendResult(success=False)

    bench.add("grip", grip)
    caller = ActionCaller(bench.planner, action.ExecuteTool, bench.actions["grip"])
    caller.await_server(10.0)
    execute = caller._client.execute

    async def deaf(taken: dict[str, Any]) -> None:
        taken.pop("goal", None)
        await execute(taken)

    monkeypatch.setattr(caller._client, "execute", deaf)
    with pytest.raises(Unanswered, match=r"did not answer a goal in 0\.3 s"):
        caller.send(GOAL, 0.3)
    assert stopped.wait(10.0)


def test_function_that_spins_its_own_node_does_not_deafen_its_tools(bench: Bench) -> None:
    def spins(*_: Any) -> BackendResult:
        moved: Future = Future()
        threading.Timer(0.1, lambda: moved.set_result(None)).start()
        own = SingleThreadedExecutor(context=bench.arm.context)
        rclpy.spin_until_future_complete(bench.arm, moved, executor=own, timeout_sec=5.0)
        return done()

    bench.add("spins", spins)
    bench.add("grip", done)
    for _ in range(2):
        assert bench.run("spins").status == GoalStatus.STATUS_SUCCEEDED
        assert bench.run("grip").status == GoalStatus.STATUS_SUCCEEDED


def test_function_of_one_tool_may_call_another_tool_of_its_node(bench: Bench) -> None:
    bench.add("inner", done)
    bench.add("outer", lambda *_: BackendResult(success=bench.run("inner").status == 4))
    assert bench.run("outer").result.backend_success


def test_call_that_raises_in_the_executor_is_raised_here_and_ends_no_spinning(
    bench: Bench,
) -> None:
    with pytest.raises(ZeroDivisionError):
        in_executor(bench.arm, lambda: 1 / 0)
    assert in_executor(bench.arm, lambda: 42) == 42


def test_tools_that_share_a_turn_run_one_at_a_time(bench: Bench) -> None:
    entered, go_on = threading.Event(), threading.Event()

    def holds(*_: Any) -> BackendResult:
        entered.set()
        assert go_on.wait(10.0)
        return done()

    turn = OneAtATime()
    bench.add("left", holds, turn=turn)
    bench.add("right", done, turn=turn)
    bench.add("lamp", done)
    first = bench.start("left")
    assert entered.wait(10.0)
    assert not bench.start("right").accepted
    assert not bench.start("left").accepted
    assert bench.run("lamp").status == GoalStatus.STATUS_SUCCEEDED
    go_on.set()
    assert ended(first).status == GoalStatus.STATUS_SUCCEEDED
    assert bench.run("right").status == GoalStatus.STATUS_SUCCEEDED


def test_goal_that_was_accepted_and_never_began_does_not_block_its_tool(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_server, "RESERVATION_S", 0.3)
    server = bench.add("grip", done)
    # rclpy asks this, then drops the goal where its acceptance cannot be sent.
    assert server._takes(GOAL)
    assert not bench.start("grip").accepted
    assert until(lambda: bench.start("grip").accepted, 5.0)


def test_result_whose_answer_was_lost_is_asked_for_again_while_it_is_kept() -> None:
    assert ASK_AGAIN_S < goal_server.RESULT_KEPT_S


def test_goal_that_takes_longer_than_results_are_kept_gives_its_result(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(goal_server, "RESULT_KEPT_S", 1)
    begun, go_on = threading.Event(), threading.Event()

    def grip(*_: Any) -> BackendResult:
        begun.set()
        assert go_on.wait(10.0)
        return done()

    bench.add("grip", grip)
    handle = bench.start("grip")
    assert begun.wait(10.0)
    time.sleep(1.5)  # the time is what counts
    go_on.set()
    assert ended(handle).status == GoalStatus.STATUS_SUCCEEDED


def test_numbers_that_are_no_progress_are_told_as_such_and_end_nothing(bench: Bench) -> None:
    numbers = (math.nan, math.inf, -math.inf, -2.0, 1e300, 0.25, 1)
    heard: list[float] = []

    def grip(_: Target, run: RunHandle) -> BackendResult:
        for number in numbers:
            run.feedback("half a pair: \ud800", number)
        assert until(lambda: len(heard) == len(numbers))
        return done()

    bench.add("grip", grip)
    handle = bench.start("grip", lambda message: heard.append(message.feedback.progress))
    assert ended(handle).status == GoalStatus.STATUS_SUCCEEDED
    assert heard == [0.0, 1.0, 0.0, 0.0, 1.0, 0.25, 1.0]


def test_flood_of_feedback_holds_nothing_up(bench: Bench) -> None:
    said = []

    def grip(_: Target, run: RunHandle) -> BackendResult:
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            run.feedback("grip", 0.5)
            said.append(None)
        return done()

    bench.add("grip", grip)
    begun = time.monotonic()
    assert bench.run("grip").status == GoalStatus.STATUS_SUCCEEDED
    assert time.monotonic() - begun < 5.0
    assert len(said) > 300


def test_message_of_the_backend_is_cut(bench: Bench) -> None:
    bench.add("grip", lambda *_: BackendResult(success=False, message="x" * 5_000_000))
    assert bench.run("grip").result.backend_message == "x" * 4096


def test_arguments_that_are_too_long_are_rejected(bench: Bench) -> None:
    bench.add("grip", done)
    text = '{"target": "' + "x" * 3_000_000 + '"}'
    assert not bench.start("grip", goal=action.ExecuteTool.Goal(arguments=text)).accepted
    assert bench.run("grip").status == GoalStatus.STATUS_SUCCEEDED
