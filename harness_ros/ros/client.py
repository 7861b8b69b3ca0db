# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""harness_ros for planners, in plain calls.

with HarnessClient() as harness:
outcome = harness.run_tool("pick", {"target": "red_block"})
if outcome.exit_code is not ExitCode.SUCCESS:
print(outcome.verdict.failure_reason)
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import rclpy
from rclpy.action import ActionClient
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node

from harness_ros import action, srv
from harness_ros.contract import Arguments, ExitCode, HarnessError, Record, Verdict
from harness_ros.ros import conversion
from harness_ros.ros.asking import NoVerdict, ask_verdict
from harness_ros.ros.threads import ExecutorStopped, done_event, in_executor, wait


class HarnessUnavailable(HarnessError):
    """A node of harness_ros is not there, or did not answer in time."""


class ToolOutcome(Record):
    """How a tool call ended; the verdict is what counts."""

    exit_code: ExitCode
    verdict: Verdict
    run_ids: tuple[str, ...]
    segments: int
    backend_success: bool
    """What the tool's backend believed: for comparison, not for decisions."""
    backend_message: str

    @property
    def succeeded(self) -> bool:
        """Whether the post-condition was seen to hold."""
        return self.exit_code is ExitCode.SUCCESS


class SceneBrief(Record):
    """The scene graph as an agent reads it."""

    text: str
    graph: dict[str, Any]
    revision: int


class HarnessClient:
    """Calls tools and reads verdicts and the scene; has a node and a thread of its own.

    Calls block and may be made from any thread. It uses its own rclpy context, so it neither needs
    nor disturbs the caller's `rclpy.init()`.

    Args:
        namespace: of the harness nodes.
        server_timeout_s: seconds to wait for a node of harness_ros to be there.
        node_name: of the node on the graph.
    """

    def __init__(
        self,
        namespace: str = "/harness",
        server_timeout_s: float = 10.0,
        node_name: str = "harness_client",
    ) -> None:
        self._server_timeout_s = server_timeout_s
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self._node = Node(node_name, namespace=namespace, context=self._context)
        self._run_tool = ActionClient(self._node, action.RunTool, "run_tool")
        self._get_verdict = self._node.create_client(srv.GetVerdict, "get_verdict")
        self._get_brief = self._node.create_client(srv.GetSceneBrief, "scene/brief")
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin, name=node_name, daemon=True)
        self._thread.start()

    def __enter__(self) -> HarnessClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def node(self) -> Node:
        """The client's node, for looking at the graph."""
        return self._node

    def ready(self) -> bool:
        """Whether gateway, evaluator and scene graph are there now."""
        return bool(
            self._run_tool.server_is_ready()
            and self._get_verdict.service_is_ready()
            and self._get_brief.service_is_ready()
        )

    def close(self) -> None:
        """Ends the node; calls that still wait end with HarnessUnavailable."""
        self._executor.shutdown(timeout_sec=1.0)
        self._thread.join(timeout=2.0)
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def run_tool(
        self,
        tool_name: str,
        arguments: Arguments,
        timeout_s: float | None = None,
        on_progress: Callable[[int, str, float], None] | None = None,
    ) -> ToolOutcome:
        """Runs a tool to its verdict, segments included.

        Args:
            tool_name: key under `tools` in eval.yaml.
            arguments: what the tool takes; must be JSON.
            timeout_s: seconds after which the call is cancelled; None leaves it to the gateway,
                whose every wait has a deadline of its own.
            on_progress: called with (segment, stage, progress 0 to 1).

        Returns:
            The outcome; an unjudged or cancelled call is an outcome too.

        Raises:
            HarnessUnavailable: there is no gateway, or it did not answer.
        """
        self._need(self._run_tool.wait_for_server(self._server_timeout_s), "action run_tool")
        goal = action.RunTool.Goal(tool_name=tool_name, arguments=json.dumps(arguments))

        def on_feedback(message: Any) -> None:
            if on_progress is not None:
                feedback = message.feedback
                on_progress(feedback.segment, feedback.stage, feedback.progress)

        sent = in_executor(
            self._node, lambda: self._run_tool.send_goal_async(goal, feedback_callback=on_feedback)
        )
        self._need(wait(sent, self._server_timeout_s), "answer of run_tool to a goal")
        handle = sent.result()
        self._need(handle.accepted, "accepted goal of run_tool")
        result = in_executor(self._node, handle.get_result_async)
        try:
            finished = self._wait(result, timeout_s)
        except KeyboardInterrupt:
            # Ctrl-C stays Ctrl-C, also when the goal can no longer be cancelled.
            with suppress(ExecutorStopped):
                in_executor(self._node, handle.cancel_goal_async, timeout_s=1.0)
            raise
        if not finished:
            in_executor(self._node, handle.cancel_goal_async)
            self._need(self._wait(result, 30.0), "result of run_tool after it was cancelled")
        answer = result.result().result
        return ToolOutcome(
            exit_code=ExitCode(answer.exit_code),
            verdict=conversion.verdict_from_message(answer.verdict),
            run_ids=tuple(answer.run_ids),
            segments=answer.segments,
            backend_success=answer.backend_success,
            backend_message=answer.backend_message,
        )

    def get_verdict(self, run_id: str, timeout_s: float = 10.0) -> Verdict | None:
        """The verdict of a run; None when there is none within the time, or no such run.

        Raises:
            HarnessUnavailable: there is no evaluator.
        """
        there = self._get_verdict.wait_for_service(self._server_timeout_s)
        self._need(there, f"service {self._get_verdict.srv_name}")
        try:
            return ask_verdict(self._get_verdict, run_id, timeout_s, run_exists=False)
        except NoVerdict:
            return None

    def scene_brief(self) -> SceneBrief:
        """The scene as far as verdicts have confirmed it.

        Raises:
            HarnessUnavailable: there is no scene graph, or it did not answer.
        """
        answer = self._ask(self._get_brief, srv.GetSceneBrief.Request(), self._server_timeout_s)
        return SceneBrief(
            text=answer.brief, graph=json.loads(answer.graph), revision=answer.revision
        )

    def _ask(self, client: Any, request: Any, timeout_s: float) -> Any:
        name = f"service {client.srv_name}"
        self._need(client.wait_for_service(self._server_timeout_s), name)
        future = client.call_async(request)
        if not wait(future, timeout_s):
            client.remove_pending_request(future)
            raise HarnessUnavailable(f"{name} did not answer within {timeout_s:g} s")
        return future.result()

    def _wait(self, future: Any, timeout_s: float | None) -> bool:
        """Waits in short steps, so that Ctrl-C is heard and a vanished gateway is noticed."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        finished = done_event(future)
        last_seen = time.monotonic()
        while not finished.wait(0.2):
            if not self._thread.is_alive():
                raise HarnessUnavailable("the client was closed while a call waited")
            if self._run_tool.server_is_ready():
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > self._server_timeout_s:
                raise HarnessUnavailable(
                    f"the gateway was gone for {self._server_timeout_s:g} s while a call waited"
                )
            if deadline is not None and time.monotonic() > deadline:
                return False
        return True

    def _need(self, there: bool, what: str) -> None:
        if not there:
            raise HarnessUnavailable(
                f"no {what} in namespace {self._node.get_namespace()} "
                f"within {self._server_timeout_s:g} s: is harness_ros running?"
            )

    def _spin(self) -> None:
        with suppress(ExternalShutdownException):
            self._executor.spin()
