# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""HarnessClient against gateways of every kind, and in every thread."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as Waiting
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy
from conftest import spinning, spun, until
from raw_tool import Gate
from rclpy.action import ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future

from harness_ros import action, msg
from harness_ros.contract import ExitCode, HarnessError, Status
from harness_ros.ros import action_servers
from harness_ros.ros.client import HarnessClient, HarnessUnavailable, NotJson, ToolOutcome

TARGET = {"target": "red_block"}


def result(exit_code: int = ExitCode.FAILURE, status: int = Status.FAILURE, **fields: Any) -> Any:
    verdict = msg.Verdict(tool_name="pick", arguments="{}", segment=1, status=int(status), **fields)
    return action.RunTool.Result(exit_code=int(exit_code), verdict=verdict)


class ScriptedGateway:
    """The action `run_tool`; what a goal comes to is made by the test."""

    def __init__(self, node: Node) -> None:
        self.execute: Callable[[ServerGoalHandle], Any] = self.succeeds
        self.goals: list[Any] = []
        ActionServer(
            node,
            action.RunTool,
            "run_tool",
            execute_callback=self._execute,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )

    @staticmethod
    def succeeds(goal: ServerGoalHandle) -> Any:
        goal.succeed()
        return result(ExitCode.SUCCESS, Status.SUCCESS)

    def _execute(self, goal: ServerGoalHandle) -> Any:
        self.goals.append(goal.request)
        return self.execute(goal)


@contextmanager
def gateway_of(name: str, namespace: str = "/harness") -> Iterator[ScriptedGateway]:
    def make(context: Context) -> Node:
        return Node(name, namespace=namespace, context=context)

    with spun(make, MultiThreadedExecutor) as node:
        yield ScriptedGateway(node)


@pytest.fixture(scope="module")
def made_gateway() -> Iterator[ScriptedGateway]:
    with gateway_of("tool_gateway") as made:
        yield made


@pytest.fixture
def gateway(made_gateway: ScriptedGateway) -> ScriptedGateway:
    made_gateway.execute = made_gateway.succeeds
    made_gateway.goals.clear()
    return made_gateway


@pytest.fixture(scope="module")
def client() -> Iterator[HarnessClient]:
    with HarnessClient() as made:
        yield made


@pytest.fixture
def own_client() -> Iterator[HarnessClient]:
    """A client that the test may spoil."""
    made = HarnessClient(node_name="own_client")
    yield made
    made.close()


def call(client: HarnessClient, **options: Any) -> ToolOutcome:
    return client.run_tool("pick", TARGET, **options)


def raises(goal: ServerGoalHandle) -> Any:
    raise RuntimeError("the gateway is broken")


def raises_after_succeed(goal: ServerGoalHandle) -> Any:
    goal.succeed()
    raise RuntimeError("the gateway is broken")


def succeeds_with(*fields: Any) -> Callable[[ServerGoalHandle], Any]:
    def execute(goal: ServerGoalHandle) -> Any:
        goal.succeed()
        return result(*fields)

    return execute


def aborts_with_success(goal: ServerGoalHandle) -> Any:
    goal.abort()
    return result(ExitCode.SUCCESS, Status.SUCCESS)


@pytest.mark.parametrize(
    "execute",
    [
        raises,
        raises_after_succeed,
        succeeds_with(ExitCode.SUCCESS, Status.FAILURE),
        succeeds_with(ExitCode.FAILURE, Status.SUCCESS),
        succeeds_with(ExitCode.CANCELLED, Status.SUCCESS),
        succeeds_with(9, Status.FAILURE),
        succeeds_with(ExitCode.FAILURE, 9),
        aborts_with_success,
    ],
    ids=[
        "raises",
        "raises_after_succeed",
        "no_success",
        "no_failure",
        "cancelled_success",
        "no_exit_code",
        "no_status",
        "aborted_success",
    ],
)
def test_result_that_contradicts_itself_is_an_error_and_no_success(
    gateway: ScriptedGateway, client: HarnessClient, execute: Any
) -> None:
    gateway.execute = execute
    with pytest.raises(HarnessUnavailable, match=r"contradicts itself|cannot be read"):
        call(client)
    gateway.execute = gateway.succeeds
    assert call(client).succeeded


@pytest.mark.parametrize("exit_code", [ExitCode.FAILURE, ExitCode.UNJUDGED, ExitCode.CANCELLED])
def test_exit_code_of_the_gateway_is_that_of_the_outcome(
    gateway: ScriptedGateway, client: HarnessClient, exit_code: ExitCode
) -> None:
    def execute(goal: ServerGoalHandle) -> Any:
        goal.abort()
        return result(exit_code, failure_reason="so it is")

    gateway.execute = execute
    outcome = call(client)
    assert outcome.exit_code is exit_code
    assert outcome.verdict.failure_reason == "so it is"


def test_gateway_that_leaves_while_a_call_waits_is_told() -> None:
    gate = Gate()

    def execute(goal: ServerGoalHandle) -> Any:
        gate.pass_through()
        return result()

    with HarnessClient("/alone", server_timeout_s=2.0) as client, ThreadPoolExecutor(1) as caller:
        with gateway_of("leaving_gateway", "/alone") as gateway:
            gateway.execute = execute
            waiting = caller.submit(call, client)
            assert gate.reached.wait(10.0)
        gate.open.set()
        with pytest.raises(HarnessUnavailable, match=r"was gone for 2 s while goal"):
            waiting.result(10.0)


def test_absent_gateway_is_named() -> None:
    with HarnessClient("/nowhere", server_timeout_s=0.3) as client:
        with pytest.raises(HarnessUnavailable, match=r"server /nowhere/run_tool within 0\.3 s"):
            call(client)
        with pytest.raises(HarnessUnavailable, match=r"no service scene/brief within 0\.3 s"):
            client.scene_brief()
        with pytest.raises(HarnessUnavailable, match=r"no service get_verdict within 0\.3 s"):
            client.get_verdict("f" * 32)


def test_names_that_no_message_can_hold_do_not_turn_into_other_names(
    gateway: ScriptedGateway, client: HarnessClient
) -> None:
    client.run_tool("pick\0place", {"target": "a\0b\ud800"})
    client.run_tool("pick\ud800", {})
    assert [goal.tool_name for goal in gateway.goals] == ["pick\\0place", "pick\\ud800"]
    assert gateway.goals[0].arguments == '{"target": "a\\u0000b\\ud800"}'


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, np.float32(1.0), object()])
def test_arguments_that_are_no_json_are_an_error_that_names_them(
    gateway: ScriptedGateway, client: HarnessClient, value: Any
) -> None:
    with pytest.raises(NotJson, match=r"arguments of tool 'pick' are no JSON: .*serializable"):
        client.run_tool("pick", {"target": value})
    circle: dict[str, Any] = {}
    circle["target"] = circle
    with pytest.raises(NotJson, match="Circular"):
        client.run_tool("pick", circle)
    assert not gateway.goals


def progressing(goal: ServerGoalHandle) -> Any:
    """Gives feedback until it is cancelled, or for half a second."""
    end = time.monotonic() + 0.5
    while not goal.is_cancel_requested and time.monotonic() < end:
        goal.publish_feedback(action.RunTool.Feedback(segment=1, stage="lift", progress=0.5))
        time.sleep(0.02)
    if goal.is_cancel_requested:
        goal.canceled()
        return result(ExitCode.CANCELLED)
    return ScriptedGateway.succeeds(goal)


def test_progress_is_told_in_the_thread_of_the_call_which_may_call_again(
    gateway: ScriptedGateway, client: HarnessClient
) -> None:
    heard = []

    def on_progress(segment: int, stage: str, progress: float) -> None:
        inner = client.run_tool("other", {}) if not heard else None
        heard.append((threading.current_thread(), (segment, stage, progress), inner))

    def execute(goal: ServerGoalHandle) -> Any:
        return progressing(goal) if goal.request.tool_name == "pick" else gateway.succeeds(goal)

    gateway.execute = execute
    assert call(client, on_progress=on_progress).succeeded
    assert {thread for thread, _, _ in heard} == {threading.current_thread()}
    assert {told for _, told, _ in heard} == {(1, "lift", 0.5)}
    assert heard[0][2].succeeded


def test_error_in_on_progress_cancels_the_call_and_is_raised(
    gateway: ScriptedGateway, client: HarnessClient
) -> None:
    ended = threading.Event()

    def execute(goal: ServerGoalHandle) -> Any:
        answer = progressing(goal)
        if answer.exit_code == ExitCode.CANCELLED:
            ended.set()
        return answer

    def on_progress(*_: Any) -> None:
        raise ZeroDivisionError

    gateway.execute = execute
    with pytest.raises(ZeroDivisionError):
        call(client, on_progress=on_progress)
    assert ended.wait(10.0)
    gateway.execute = gateway.succeeds
    assert call(client).succeeded


def test_call_in_a_callback_of_another_node_works(
    gateway: ScriptedGateway, client: HarnessClient
) -> None:
    outcomes = []
    with spinning("behaviour_tree") as node:
        timer = node.create_timer(0.01, lambda: (timer.cancel(), outcomes.append(call(client))))
        assert until(lambda: outcomes)
    assert outcomes[0].succeeded


def test_call_in_a_callback_of_the_clients_own_node_is_an_error_and_no_deadlock(
    gateway: ScriptedGateway, own_client: HarnessClient
) -> None:
    errors: list[HarnessError] = []
    calls = [
        lambda: call(own_client),
        lambda: own_client.get_verdict("f" * 32),
        own_client.scene_brief,
        own_client.ready,
    ]

    def callback() -> None:
        timer.cancel()
        for each in calls:
            try:
                each()
            except HarnessError as error:
                errors.append(error)

    timer = own_client.node.create_timer(0.01, callback)
    assert until(lambda: len(errors) == len(calls), 3.0)
    assert all("would wait for itself" in str(error) for error in errors)
    assert call(own_client).succeeded


def test_node_that_somebody_spins_away_is_an_error_and_no_deadlock(
    gateway: ScriptedGateway, own_client: HarnessClient
) -> None:
    done: Future = Future()
    done.set_result(None)
    other = SingleThreadedExecutor(context=own_client.node.context)
    rclpy.spin_until_future_complete(own_client.node, done, executor=other)
    with pytest.raises(HarnessUnavailable, match="own_client was taken from its executor"):
        call(own_client)


def test_closed_client_says_so(gateway: ScriptedGateway) -> None:
    client = HarnessClient()
    assert call(client).succeeded
    client.close()
    client.close()
    for each in (
        lambda: call(client),
        lambda: client.get_verdict("f" * 32),
        client.scene_brief,
        client.ready,
    ):
        with pytest.raises(HarnessUnavailable, match="harness_client was closed"):
            each()


def test_program_that_never_closes_its_client_ends_well(
    gateway: ScriptedGateway, tmp_path: Path
) -> None:
    program = (
        "from harness_ros.ros.client import HarnessClient\n"
        "client = HarnessClient()\n"
        "outcome = client.run_tool('pick', {})\n"
        "print(outcome.exit_code.name)\n"
    )
    # Elsewhere: in this folder are the sources, without the interfaces that are made of them.
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=tmp_path
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "SUCCESS\n", "")


def test_call_that_waits_while_its_client_is_closed_ends(
    gateway: ScriptedGateway, own_client: HarnessClient
) -> None:
    gate = Gate()

    def execute(goal: ServerGoalHandle) -> Any:
        gate.pass_through()
        return gateway.succeeds(goal)

    gateway.execute = execute
    with ThreadPoolExecutor(1) as caller:
        waiting = caller.submit(call, own_client)
        assert gate.reached.wait(10.0)
        own_client.close()
        with pytest.raises(HarnessUnavailable, match="was closed"):
            waiting.result(5.0)
        gate.open.set()


def test_two_clients_of_one_name_and_many_threads_get_their_own_results(
    gateway: ScriptedGateway, client: HarnessClient
) -> None:
    def execute(goal: ServerGoalHandle) -> Any:
        goal.abort()
        return result(failure_reason=goal.request.arguments)

    gateway.execute = execute
    with HarnessClient() as twin, ThreadPoolExecutor(8) as callers:
        numbers = list(range(80))
        outcomes = list(
            callers.map(
                lambda number: (client, twin)[number % 2].run_tool("pick", {"n": number}), numbers
            )
        )
    assert [outcome.verdict.failure_reason for outcome in outcomes] == [
        f'{{"n": {number}}}' for number in numbers
    ]


def test_two_gateways_are_an_error_that_names_both_nodes(gateway: ScriptedGateway) -> None:
    both = "/harness/second_gateway and /harness/tool_gateway"
    with HarnessClient(server_timeout_s=0.5) as client:
        with gateway_of("second_gateway") as second:
            assert until(lambda: client.node.count_publishers("run_tool/_action/status") == 2)
            with pytest.raises(HarnessUnavailable, match=both):
                call(client)
        assert not second.goals
        assert not gateway.goals


def test_successor_of_the_same_name_is_waited_for(
    gateway: ScriptedGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(action_servers, "FORGOTTEN_S", 20.0)
    with HarnessClient(server_timeout_s=0.5) as client, ThreadPoolExecutor(1) as caller:
        with gateway_of("tool_gateway"):
            assert until(lambda: client.node.count_publishers("run_tool/_action/status") == 2)
            waiting = caller.submit(call, client)
            with pytest.raises(Waiting):
                waiting.result(1.5)
        assert waiting.result(10.0).succeeded
    assert len(gateway.goals) == 1


def test_two_servers_in_nodes_of_one_name_are_an_error_after_all(
    gateway: ScriptedGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(action_servers, "FORGOTTEN_S", 1.0)
    with HarnessClient(server_timeout_s=0.5) as client, gateway_of("tool_gateway"):
        assert until(lambda: client.node.count_publishers("run_tool/_action/status") == 2)
        with pytest.raises(HarnessUnavailable, match=r"tool_gateway and /harness/tool_gateway"):
            call(client)
    assert not gateway.goals
