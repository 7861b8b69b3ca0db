# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""ToolServer against a plain action client, in both kinds of executor."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from conftest import Listener, cancel, ended, send, spinning, until
from pydantic import BaseModel, ConfigDict, Field, field_validator
from rclpy.action import ActionClient
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node

from harness_ros import action, msg
from harness_ros.ros.conversion import to_ns
from harness_ros.ros.qos import EVENTS
from harness_ros.ros.tool_server import BackendResult, RunHandle, ToolServer

STARTED, FINISHED = msg.ToolRun.STARTED, msg.ToolRun.FINISHED
SECRET = "backend-says-so"


class Grip(BaseModel):
    model_config = ConfigDict(extra="forbid")

    target: str
    force: float = Field(default=1.0, gt=0)

    @field_validator("target")
    @classmethod
    def _known(cls, target: str) -> str:
        return {"unmapped": {}}.get(target, {target: target})[target]


def done(_: Grip, __: RunHandle) -> BackendResult:
    return BackendResult(success=True, message="closed")


def raises(_: Grip, __: RunHandle) -> Any:
    raise RuntimeError(SECRET)


def unencodable(_: Grip, __: RunHandle) -> Any:
    return BackendResult(success=True, message="half a pair: \ud800")


class Bench:
    """One tool, a planner's client and all that is said on `runs`."""

    def __init__(self, arm: Node, planner: Node) -> None:
        self.function: Callable[[Grip, RunHandle], Any] = done
        self.server = ToolServer(
            arm, "grip", Grip, lambda *given: self.function(*given), evaluator_wait_s=0.0
        )
        self.client = ActionClient(planner, action.ExecuteTool, "tools/grip")
        self.listener = Listener(planner)
        self.accepted: set[str] = set()
        assert self.client.wait_for_server(10.0)

    def send(self, arguments: Any = None, on_feedback: Any = None, **fields: Any) -> Any:
        text = arguments if isinstance(arguments, str) else json.dumps({"target": "red_block"})
        goal = action.ExecuteTool.Goal(arguments=text, **fields)
        handle = send(self.client, goal, on_feedback)
        if handle.accepted:
            self.accepted.add(run_id_of(handle))
        return handle

    def run(self, **fields: Any) -> Any:
        return ended(self.send(**fields))

    def events(self, run_id: str) -> list[msg.ToolRun]:
        """What was said of a run that has ended."""
        assert self.listener.finished(run_id)
        return [run for run in self.listener.runs if run.run_id == run_id]


class Holding:
    """A tool's function that works until it is told to go on, or is cancelled."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, _: Grip, run: RunHandle) -> BackendResult:
        self.entered.set()
        assert until(lambda: run.cancelled or self.go_on.is_set())
        return BackendResult(success=not run.cancelled, message="stopped")


def run_id_of(handle: Any) -> str:
    return bytes(handle.goal_id.uuid).hex()


@pytest.fixture(
    scope="module",
    params=[SingleThreadedExecutor, MultiThreadedExecutor],
    ids=["single_threaded", "multi_threaded"],
)
def made_bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    with spinning("arm", request.param) as arm, spinning("planner") as planner:
        made = Bench(arm, planner)
        yield made
        # Else the client of the next bench finds this server and sends before it finds its own.
        made.server.destroy()


@pytest.fixture
def bench(made_bench: Bench) -> Bench:
    made_bench.function = done
    return made_bench


@pytest.mark.parametrize(
    ("function", "status", "words"),
    [
        (done, 4, "closed"),
        (lambda *_: BackendResult(success=False, message="stalled"), 6, "stalled"),
        (raises, 6, SECRET),
        (lambda *_: sys.exit(3), 6, "SystemExit"),
        (unencodable, 4, r"half a pair: \ud800"),
        (lambda *_: None, 6, "None, which is no BackendResult"),
        (lambda *_: {"success": True}, 6, "{'success': True}, which is no BackendResult"),
        (lambda *_: True, 6, "True, which is no BackendResult"),
    ],
    ids=["succeeds", "fails", "raises", "exits", "unencodable", "none", "dict", "true"],
)
def test_result_names_its_run_whatever_the_backend_does(
    bench: Bench, function: Any, status: int, words: str
) -> None:
    bench.function = function
    handle = bench.send()
    answer = ended(handle)
    assert answer.status == status
    assert answer.result.run_id == run_id_of(handle)
    assert answer.result.backend_success is (status == GoalStatus.STATUS_SUCCEEDED)
    assert words in answer.result.backend_message
    assert [run.phase for run in bench.events(run_id_of(handle))] == [STARTED, FINISHED]
    bench.function = done
    assert bench.run().result.backend_success


def test_run_is_told_when_it_starts_and_when_it_ends(bench: Bench) -> None:
    bench.function = lambda *_: time.sleep(0.05) or BackendResult(success=True)
    before_ns = time.time_ns()
    run_id = bench.run(arguments='{"force": 2, "target": "red_block"}').result.run_id
    started, finished = bench.events(run_id)
    assert (started.phase, finished.phase) == (STARTED, FINISHED)
    assert to_ns(started.ended_at) == 0
    assert before_ns <= to_ns(started.started_at)
    assert finished.started_at == started.started_at
    assert to_ns(finished.ended_at) - to_ns(finished.started_at) >= 50_000_000
    for run in (started, finished):
        assert run.tool_name == "grip"
        assert json.loads(run.arguments) == {"target": "red_block", "force": 2}


def test_no_word_of_the_backend_is_in_a_tool_run(bench: Bench) -> None:
    def grip(_: Grip, run: RunHandle) -> BackendResult:
        run.feedback(f"{SECRET}-stage", 0.5)
        return BackendResult(success=True, message=f"{SECRET}-message")

    for function in (grip, raises, lambda *_: SECRET):
        bench.function = function
        result = bench.run().result
        assert SECRET in result.backend_message
        bench.events(result.run_id)
        said = [data for data in bench.listener.serialized if result.run_id.encode() in data]
        assert len(said) == 2
        assert not any(SECRET.encode() in data for data in said)


@pytest.mark.parametrize(
    "arguments",
    [
        '{"target": ',
        "[1]",
        '"red_block"',
        "null",
        "",
        "{}",
        '{"target": 3}',
        '{"target": "red_block", "colour": "red"}',
        '{"target": "red_block", "force": -1}',
        '{"target": "red_block", "force": NaN}',
        '{"target": "red_block", "force": 1e999}',
        '{"target": "unmapped"}',
        '{"target": ' + "[" * 100 + "]" * 100 + "}",
        '{"target": ' + "[" * 100_000,
    ],
    ids=lambda text: text[:40] or "empty",
)
def test_rejected_goal_is_no_run(bench: Bench, arguments: str) -> None:
    assert not bench.send(arguments).accepted
    after = bench.run().result.run_id
    assert [run.phase for run in bench.events(after)] == [STARTED, FINISHED]
    assert {run.run_id for run in bench.listener.runs} <= bench.accepted


def test_second_goal_is_rejected_while_the_first_goes_on(bench: Bench) -> None:
    bench.function = holding = Holding()
    first = bench.send()
    assert holding.entered.wait(10.0)
    assert not bench.send().accepted
    holding.go_on.set()
    answer = ended(first)
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert len(bench.events(answer.result.run_id)) == 2
    assert {run.run_id for run in bench.listener.runs} <= bench.accepted


def test_function_sees_that_it_is_cancelled(bench: Bench) -> None:
    bench.function = holding = Holding()
    handle = bench.send()
    assert holding.entered.wait(10.0)
    cancel(handle)
    answer = ended(handle)
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.run_id == run_id_of(handle)
    assert answer.result.backend_message == "stopped"
    assert [run.phase for run in bench.events(run_id_of(handle))] == [STARTED, FINISHED]
    bench.function = done
    assert bench.run().result.backend_success


def test_check_cancelled_leaves_the_function(bench: Bench) -> None:
    entered = threading.Event()

    def grip(_: Grip, run: RunHandle) -> BackendResult:
        entered.set()
        for _ in range(1000):
            run.check_cancelled()
            time.sleep(0.01)
        return BackendResult(success=True, message="never cancelled")

    bench.function = grip
    handle = bench.send()
    assert entered.wait(10.0)
    cancel(handle)
    answer = ended(handle)
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.run_id == run_id_of(handle)
    assert (answer.result.backend_success, answer.result.backend_message) == (False, "cancelled")
    assert [run.phase for run in bench.events(run_id_of(handle))] == [STARTED, FINISHED]
    bench.function = done
    assert bench.run().result.backend_success


def test_call_and_segment_are_passed_on(bench: Bench) -> None:
    seen = []
    bench.function = lambda _, run: seen.append(run) or BackendResult(success=True)
    run_id = bench.run(call_id="call-7", segment=3).result.run_id
    assert [(run.run_id, run.call_id, run.segment) for run in seen] == [(run_id, "call-7", 3)]
    assert {(run.call_id, run.segment) for run in bench.events(run_id)} == {("call-7", 3)}


def test_goal_without_call_and_segment_is_the_first_of_its_own_call(bench: Bench) -> None:
    run_id = bench.run().result.run_id
    assert {(run.call_id, run.segment) for run in bench.events(run_id)} == {(run_id, 1)}


def test_feedback_arrives_in_order(bench: Bench) -> None:
    heard: list[tuple[str, float]] = []

    def grip(_: Grip, run: RunHandle) -> BackendResult:
        run.feedback("approach", 0.25)
        run.feedback("close", 1)
        # Feedback that comes after the result is dropped by the client.
        assert until(lambda: len(heard) == 2)
        return BackendResult(success=True)

    def on_feedback(message: Any) -> None:
        heard.append((message.feedback.stage, message.feedback.progress))

    bench.function = grip
    handle = bench.send(on_feedback=on_feedback)
    assert ended(handle).status == GoalStatus.STATUS_SUCCEEDED
    assert heard == [("approach", 0.25), ("close", 1.0)]


@pytest.fixture
def waiting_tool() -> Iterator[Callable[[float], tuple[ActionClient, list[float]]]]:
    """Makes a tool that waits for an evaluator, and the times at which its function ran."""
    with spinning("patient_arm") as arm, spinning("patient_planner") as planner:
        servers = []

        def make(wait_s: float) -> tuple[ActionClient, list[float]]:
            ran: list[float] = []

            def function(*given: Any) -> BackendResult:
                ran.append(time.monotonic())
                return done(*given)

            servers.append(ToolServer(arm, "wait", Grip, function, evaluator_wait_s=wait_s))
            client = ActionClient(planner, action.ExecuteTool, "tools/wait")
            assert client.wait_for_server(10.0)
            return client, ran

        yield make
        for server in servers:
            server.destroy()


GOAL = action.ExecuteTool.Goal(arguments='{"target": "red_block"}')


def test_run_starts_once_an_evaluator_listens(waiting_tool: Any) -> None:
    client, ran = waiting_tool(60.0)
    handle = send(client, GOAL)
    time.sleep(0.3)  # nothing is to happen: there is no event to wait for
    assert not ran
    with spinning("_evaluator") as evaluator:
        evaluator.create_subscription(msg.ToolRun, "runs", lambda _: None, EVENTS)
        assert ended(handle).status == GoalStatus.STATUS_SUCCEEDED
    assert len(ran) == 1


def test_without_an_evaluator_the_tool_runs_after_its_wait(waiting_tool: Any) -> None:
    client, ran = waiting_tool(0.4)
    begun = time.monotonic()
    assert ended(send(client, GOAL)).status == GoalStatus.STATUS_SUCCEEDED
    assert ran[0] - begun >= 0.4
