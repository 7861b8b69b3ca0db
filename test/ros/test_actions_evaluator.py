# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The gateway where the evaluator is not there, does not answer, or answers nonsense.

The gateway and the tool are real; the evaluator says what the test wants.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from conftest import spinning, spun
from planner import Planner, config_with
from raw_tool import RawTool
from rclpy.action.server import GoalEvent, ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter

from harness_ros import action, msg, srv
from harness_ros.contract import ExitCode, Kind
from harness_ros.ros import asking, tool_call
from harness_ros.ros.nodes.tool_gateway import ToolGateway

BOUND_S = 0.2 + 0.2 + 0.6
"""Capture, judge and grace: until then the gateway waits for a verdict."""
Answer = Callable[[Any], dict[str, Any]]


class ScriptedEvaluator:
    """The service `get_verdict`; each answer is made by the test."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.ended = threading.Event()
        self.answer: Answer = lambda _: {}
        self.delay_s: Callable[[], float] = lambda: 0.0
        self.asked: list[str] = []

    def start(self) -> None:
        self._node.create_service(
            srv.GetVerdict, "get_verdict", self._on_ask, callback_group=ReentrantCallbackGroup()
        )

    def _on_ask(self, request: Any, response: Any) -> Any:
        self.asked.append(request.run_id)
        self.ended.wait(self.delay_s())
        for name, value in self.answer(request).items():
            setattr(response, name, value)
        return response


def success(request: Any, **fields: Any) -> dict[str, Any]:
    fields = {"run_id": request.run_id, "tool_name": "foreign", "arguments": "{}", **fields}
    return {"found": True, "verdict": msg.Verdict(status=msg.Verdict.SUCCESS, **fields)}


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planner]:
    config = config_with(
        tmp_path_factory.mktemp("evaluator"),
        {"foreign": {}},
        capture={"settle_s": 0.0, "timeout_s": 0.2},
        judges={"deterministic": {"type": "deterministic", "timeout_s": 0.2}},
    )
    with (
        spun(
            lambda context: ToolGateway(
                context=context,
                namespace="/harness",
                parameter_overrides=[Parameter("config", value=str(config))],
            )
        ),
        spinning("planner") as node,
    ):
        yield Planner(node)


@pytest.fixture
def evaluator(foreign: RawTool, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedEvaluator]:
    def execute(goal: Any) -> Any:
        goal.succeed()
        return foreign.result(goal)

    def executor(**options: Any) -> MultiThreadedExecutor:
        return MultiThreadedExecutor(num_threads=8, **options)

    foreign.execute = execute
    monkeypatch.setattr(tool_call, "VERDICT_GRACE_S", 0.6)
    monkeypatch.setattr(asking, "ANSWER_GRACE_S", 0.2)
    with spinning("_evaluator", executor) as node:
        made = ScriptedEvaluator(node)
        yield made
        made.ended.set()


def unjudged(planner: Planner, kind: Kind = Kind.INTERRUPTED) -> str:
    """Calls the tool; why there is no verdict."""
    begun = time.monotonic()
    result = planner.run("foreign").result
    assert (result.exit_code, result.verdict.kind) == (ExitCode.UNJUDGED, kind.value), result
    assert result.backend_success
    assert len(result.run_ids) == 1
    assert time.monotonic() - begun < BOUND_S + 2.0
    return str(result.verdict.failure_reason)


def test_evaluator_that_is_not_there_is_told_in_time(
    planner: Planner, evaluator: ScriptedEvaluator
) -> None:
    assert unjudged(planner) == "no verdict within 1 s: get_verdict did not answer"


def test_evaluator_that_never_answers_is_told_in_time(
    planner: Planner, evaluator: ScriptedEvaluator
) -> None:
    evaluator.answer, evaluator.delay_s = success, lambda: 60.0
    evaluator.start()
    assert unjudged(planner) == "no verdict within 1 s: get_verdict did not answer"


def test_verdict_that_comes_late_is_waited_for(
    planner: Planner, evaluator: ScriptedEvaluator
) -> None:
    evaluator.answer, evaluator.delay_s = success, lambda: 0.5
    evaluator.start()
    assert planner.run("foreign").result.exit_code == ExitCode.SUCCESS


def test_evaluator_that_comes_while_it_is_asked_is_heard(
    planner: Planner, evaluator: ScriptedEvaluator
) -> None:
    evaluator.answer = success
    handle = planner.start("foreign")
    time.sleep(0.3)  # the gateway looks for the evaluator
    evaluator.start()
    result = handle.get_result()
    assert result.result.exit_code == ExitCode.SUCCESS


def test_what_an_evaluator_took_with_it_is_asked_again(
    planner: Planner, evaluator: ScriptedEvaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "ATTEMPT_S", 0.3)
    monkeypatch.setattr(tool_call, "VERDICT_GRACE_S", 10.0)
    evaluator.answer = success
    evaluator.delay_s = lambda: 60.0 if len(evaluator.asked) == 1 else 0.0
    evaluator.start()
    assert planner.run("foreign").result.exit_code == ExitCode.SUCCESS
    assert len(evaluator.asked) > 1


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"run_id": "f" * 32}, f"the evaluator answered for '{'f' * 32}'"),
        ({"run_id": ""}, "the evaluator answered for ''"),
        ({"status": 9}, "cannot be read"),
        ({"kind": "wonderful"}, "cannot be read"),
        ({"arguments": "{"}, "cannot be read"),
    ],
    ids=["other_run", "no_run", "status", "kind", "arguments"],
)
def test_answer_that_is_no_verdict_of_this_run_is_no_success(
    planner: Planner, evaluator: ScriptedEvaluator, fields: dict[str, Any], words: str
) -> None:
    def nonsense(request: Any) -> dict[str, Any]:
        answer = success(request)
        for name, value in fields.items():
            setattr(answer["verdict"], name, value)
        return answer

    evaluator.answer = nonsense
    evaluator.start()
    assert words in unjudged(planner)


def test_run_that_stays_open_is_told_with_what_it_waits_for(
    planner: Planner, evaluator: ScriptedEvaluator
) -> None:
    evaluator.answer = lambda _: {"open": True, "reason": "waiting for the judge"}
    evaluator.start()
    assert unjudged(planner) == "no verdict within 1 s: waiting for the judge"


def test_evaluator_that_knows_nothing_is_asked_now_and_then(
    planner: Planner, evaluator: ScriptedEvaluator
) -> None:
    evaluator.answer = lambda _: {"reason": "unknown to me"}
    evaluator.start()
    reason = unjudged(planner, Kind.MISSING_RUN_ID)
    assert "never said so on `runs`; unknown to me" in reason
    assert 2 <= len(evaluator.asked) <= 20


@pytest.mark.parametrize(
    ("moment", "status", "exit_code"),
    [
        (GoalEvent.EXECUTE, GoalStatus.STATUS_CANCELED, ExitCode.CANCELLED),
        (GoalEvent.SUCCEED, GoalStatus.STATUS_SUCCEEDED, ExitCode.SUCCESS),
    ],
    ids=["begins", "ends"],
)
def test_cancel_that_comes_just_as_a_call_begins_or_ends_takes_no_result_away(
    planner: Planner,
    evaluator: ScriptedEvaluator,
    monkeypatch: pytest.MonkeyPatch,
    moment: GoalEvent,
    status: int,
    exit_code: ExitCode,
) -> None:
    update = ServerGoalHandle._update_state
    raced = []

    def cancelled_in_between(goal: ServerGoalHandle, event: GoalEvent) -> None:
        if isinstance(goal.request, action.RunTool.Goal) and event == moment:
            raced.append(goal)
            update(goal, GoalEvent.CANCEL_GOAL)
        update(goal, event)

    monkeypatch.setattr(ServerGoalHandle, "_update_state", cancelled_in_between)
    evaluator.answer = success
    evaluator.start()
    answer = planner.run("foreign")
    assert (answer.status, answer.result.exit_code) == (status, exit_code)
    assert len(raced) == 1
