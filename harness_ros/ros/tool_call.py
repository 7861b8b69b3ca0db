# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One tool call to its verdict: goal, result, verdict, and again while the verdict is `process`."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from harness_ros import action, srv
from harness_ros.config import ArgumentError, EvaluationConfig
from harness_ros.contract import Arguments, ExitCode, HarnessError, Kind, Record, Status, Verdict
from harness_ros.ros import conversion
from harness_ros.ros.asking import NoVerdict, ask_verdict
from harness_ros.ros.threads import done_event, in_executor, wait

POLL_S = 0.05
VERDICT_GRACE_S = 5.0
"""Beyond the deadlines of capture and judge, until which a verdict must be there."""


@dataclass(frozen=True)
class Progress:
    """Feedback of a call."""

    segment: int
    last_status: Status
    stage: str
    progress: float


class CallOutcome(Record):
    """How a call ended."""

    exit_code: ExitCode
    verdict: Verdict
    run_ids: tuple[str, ...] = ()
    backend_success: bool = False
    backend_message: str = ""
    reached_tool: bool = True
    """False when no tool took the call."""


class CallError(HarnessError):
    """A segment that gave no verdict."""

    def __init__(self, kind: Kind, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


@dataclass
class _Call:
    tool_name: str
    arguments: Arguments
    text: str
    call_id: str
    cancelled: Callable[[], bool]
    tell: Callable[[Progress], None]
    run_ids: list[str] = field(default_factory=list)
    verdict: Verdict | None = None
    backend: Any = None


class ToolCaller:
    """Calls configured tools; each call blocks the thread it is made in, and no other."""

    def __init__(
        self,
        node: Node,
        config: EvaluationConfig,
        server_timeout_s: float,
        cancel_timeout_s: float,
    ) -> None:
        self._node = node
        self._config = config
        self._server_timeout_s = server_timeout_s
        self._cancel_timeout_s = cancel_timeout_s
        group = ReentrantCallbackGroup()
        self._tools = {
            name: ActionClient(
                node, action.ExecuteTool, tool.action or f"tools/{name}", callback_group=group
            )
            for name, tool in config.tools.items()
        }
        self._verdicts = node.create_client(srv.GetVerdict, "get_verdict", callback_group=group)

    def call(
        self,
        tool_name: str,
        arguments: str,
        tell: Callable[[Progress], None],
        cancelled: Callable[[], bool],
    ) -> CallOutcome:
        """Runs a tool to its verdict.

        Args:
            tool_name: key under `tools` in eval.yaml.
            arguments: JSON object.
            tell: is given the progress.
            cancelled: whether the call is to be cancelled; asked again and again.

        Returns:
            The outcome, always: what goes wrong is a failure with its kind and reason.
        """
        call = _Call(tool_name, {}, arguments, uuid.uuid4().hex, cancelled, tell)
        try:
            call.arguments = conversion.parse_arguments(arguments)
            self._config.checked_arguments(tool_name, call.arguments)
            for segment in range(1, self._config.tools[tool_name].segments + 1):
                if cancelled():
                    raise CallError(Kind.CANCELLED, f"cancelled before segment {segment}")
                call.verdict = self._segment(call, segment)
                if call.verdict.status is not Status.PROCESS:
                    break
            if cancelled() and call.verdict is not None and call.verdict.status is Status.PROCESS:
                raise CallError(Kind.CANCELLED, "cancelled")
        except CallError as error:
            return self._outcome(call, error.kind, str(error))
        except (ArgumentError, conversion.ConversionError) as error:
            return self._outcome(call, Kind.INVALID_RUN, str(error))
        except Exception as error:
            self._node.get_logger().error(f"call {call.call_id} of '{tool_name}': {error!r}")
            return self._outcome(call, Kind.INTERRUPTED, f"the gateway failed: {error!r}")
        return self._outcome(call)

    def _outcome(self, call: _Call, kind: Kind | None = None, reason: str = "") -> CallOutcome:
        verdict = call.verdict
        if kind is not None and not (kind is Kind.CANCELLED and verdict is not None):
            verdict = Verdict(
                run_id=call.run_ids[-1] if call.run_ids else "",
                call_id=call.call_id,
                tool_name=call.tool_name,
                arguments=call.arguments,
                segment=max(1, len(call.run_ids)),
                status=Status.FAILURE,
                failure_reason=reason,
                kind=kind,
                criteria_hash=self._config.criteria_hash,
                given_at_ns=int(self._node.get_clock().now().nanoseconds),
            )
        if verdict is None:
            raise AssertionError("a call without a verdict and without a reason")
        return CallOutcome(
            exit_code=ExitCode.CANCELLED if kind is Kind.CANCELLED else verdict.exit_code,
            verdict=verdict,
            run_ids=tuple(call.run_ids),
            backend_success=bool(call.backend and call.backend.backend_success),
            backend_message=call.backend.backend_message if call.backend else "",
            reached_tool=bool(call.run_ids),
        )

    def _segment(self, call: _Call, segment: int) -> Verdict:
        """Runs one segment.

        Raises:
            CallError: there is no verdict of it.
        """
        status, call.backend = self._execute(call, segment)
        if not call.backend.run_id:
            raise CallError(
                Kind.MISSING_RUN_ID, f"tool '{call.tool_name}' ended ({status}) without a run_id"
            )
        call.run_ids.append(call.backend.run_id)
        verdict = self._verdict(call, call.backend.run_id)
        if status == GoalStatus.STATUS_CANCELED and verdict.status is not Status.SUCCESS:
            call.verdict = verdict
            raise CallError(Kind.CANCELLED, f"cancelled in segment {segment}")
        return verdict

    def _execute(self, call: _Call, segment: int) -> tuple[int, Any]:
        client = self._tools[call.tool_name]
        if not client.wait_for_server(timeout_sec=self._server_timeout_s):
            raise CallError(
                Kind.MISSING_RUN_ID,
                f"no action server {client._action_name} within {self._server_timeout_s:g} s",
            )
        last = call.verdict.status if call.verdict else Status.PROCESS

        def on_feedback(message: Any) -> None:
            feedback = message.feedback
            call.tell(Progress(segment, last, feedback.stage, feedback.progress))

        goal = action.ExecuteTool.Goal(
            arguments=call.text or "{}", call_id=call.call_id, segment=segment
        )
        sent = in_executor(
            self._node, lambda: client.send_goal_async(goal, feedback_callback=on_feedback)
        )
        if not wait(sent, self._server_timeout_s):
            sent.add_done_callback(_cancel_if_accepted)
            raise CallError(
                Kind.MISSING_RUN_ID,
                f"tool '{call.tool_name}' did not answer a goal in {self._server_timeout_s:g} s",
            )
        accepted = sent.result()
        if not accepted.accepted:
            raise CallError(
                Kind.MISSING_RUN_ID,
                f"tool '{call.tool_name}' rejected the goal: it is busy, or takes other arguments "
                "(its log says which)",
            )
        return self._result(call, accepted)

    def _result(self, call: _Call, goal: Any) -> tuple[int, Any]:
        """Waits for the end of a segment; cancels it when that is asked for or time is up."""
        timeout_s = self._config.tools[call.tool_name].timeout_s
        deadline = time.monotonic() + timeout_s
        result = in_executor(self._node, goal.get_result_async)
        asked_to_cancel = False
        finished = done_event(result)
        while not finished.wait(POLL_S):
            late = time.monotonic() > deadline
            if not asked_to_cancel and (late or call.cancelled()):
                asked_to_cancel = True
                deadline = time.monotonic() + self._cancel_timeout_s
                in_executor(self._node, goal.cancel_goal_async)
            elif late:
                raise CallError(
                    Kind.MISSING_RUN_ID,
                    f"tool '{call.tool_name}' gave no result within {timeout_s:g} s, nor "
                    f"{self._cancel_timeout_s:g} s after it was asked to cancel",
                )
        answer = result.result()
        run_id = bytes(goal.goal_id.uuid).hex()
        if answer.result.run_id not in ("", run_id):
            # An earlier run may have such a verdict: it says nothing of this one.
            raise CallError(
                Kind.MISSING_RUN_ID,
                f"tool '{call.tool_name}' names its run {answer.result.run_id!r}; "
                f"the goal id, {run_id}, is wanted",
            )
        return answer.status, answer.result

    def _verdict(self, call: _Call, run_id: str) -> Verdict:
        tool = self._config.tools[call.tool_name]
        timeout_s = (
            self._config.settle_ns(call.tool_name) / 1e9
            + self._config.capture.timeout_s
            + self._config.judges[tool.judge].timeout_s
            + VERDICT_GRACE_S
        )
        try:
            return ask_verdict(self._verdicts, run_id, timeout_s, run_exists=True)
        except NoVerdict as error:
            raise CallError(Kind.JUDGE_UNAVAILABLE, str(error)) from None


def _cancel_if_accepted(sent: Any) -> None:
    """A goal accepted after its caller gave up must not move the robot any further."""
    goal = sent.result()
    if goal is not None and goal.accepted:
        goal.cancel_goal_async()
