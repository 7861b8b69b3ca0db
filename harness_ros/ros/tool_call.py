# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One tool call to its verdict: goal, result, verdict, and again while the verdict is `process`.

What the outcome of a call says:

1. The run id of a segment is its goal id. Once a tool has taken the goal there is a run, and the
   verdict that the ledger holds of that run is the verdict of the call, whatever became of the
   tool's result.
2. A success verdict is exit code 0, also where the call was cancelled: the world is as wanted, and
   the scene graph says so too.
3. Else the exit code is 3 where cancelling took effect: the tool ended cancelled, or no (further)
   segment was started. The verdict that comes with it is that of the last segment and says how the
   world was left.
4. Else it is the exit code of the verdict: a cancel that came too late changes nothing.
5. Without a verdict the call is a failure with the kind and the reason that the gateway knows.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from harness_ros import srv
from harness_ros.config import ArgumentError, EvaluationConfig
from harness_ros.contract import Arguments, ExitCode, HarnessError, Kind, Record, Status, Verdict
from harness_ros.ros import conversion
from harness_ros.ros.asking import NoVerdict, UnknownRun, ask_verdict
from harness_ros.ros.goals import Stopped
from harness_ros.ros.qos import REQUESTS
from harness_ros.ros.tool_segment import NotTaken, SegmentEnd, ToolClient

VERDICT_GRACE_S = 5.0
"""Beyond the deadlines of capture and judge, until which a verdict must be there."""
NAME_LENGTH = 120
"""Characters of an unknown tool's name that are repeated."""


@dataclass(frozen=True)
class Progress:
    """Feedback of a call."""

    segment: int
    last_status: Status
    stage: str
    progress: float
    """0 to 1."""


class CallOutcome(Record):
    """How a call ended."""

    exit_code: ExitCode
    verdict: Verdict
    run_ids: tuple[str, ...] = ()
    """Of every segment that a tool has taken."""
    backend_success: bool = False
    backend_message: str = ""


class CallError(HarnessError):
    """A call that came to no verdict."""

    def __init__(self, kind: Kind, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


@dataclass
class _Call:
    tool_name: str
    text: str
    call_id: str
    cancelled: Callable[[], bool]
    tell: Callable[[Progress], None]
    arguments: Arguments = field(default_factory=dict)
    run_ids: list[str] = field(default_factory=list)
    segment: int = 1
    run_id: str = ""
    """Of the present segment, once a tool has taken it."""
    verdict: Verdict | None = None
    """Of the last segment that has one."""
    end: SegmentEnd = field(default_factory=SegmentEnd)
    """Of the last segment that was started."""
    stopped: bool = False
    """Cancelling took effect."""


class ToolCaller:
    """Calls configured tools; each call blocks the thread it is made in, and no other.

    Args:
        node: in an executor of one thread (see `in_executor`).
        server_timeout_s: seconds to wait for a tool's server, and for its answer to a goal.
        cancel_timeout_s: seconds that a tool may take to end after it was asked to cancel.
    """

    def __init__(
        self,
        node: Node,
        config: EvaluationConfig,
        server_timeout_s: float,
        cancel_timeout_s: float,
    ) -> None:
        self._node = node
        self._config = config
        group = ReentrantCallbackGroup()
        self._tools = {
            name: ToolClient(
                node,
                name,
                tool.action or f"tools/{name}",
                tool.timeout_s,
                server_timeout_s,
                cancel_timeout_s,
                group,
            )
            for name, tool in config.tools.items()
        }
        self._verdicts = node.create_client(
            srv.GetVerdict, "get_verdict", qos_profile=REQUESTS, callback_group=group
        )

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
            tell: is given the progress, a few times a second at most.
            cancelled: whether the call is to be cancelled; asked again and again.

        Returns:
            The outcome, always: what goes wrong is a failure with its kind and reason.
        """
        call = _Call(tool_name, arguments or "{}", uuid.uuid4().hex, cancelled, tell)
        try:
            self._check(call)
            verdict = self._run(call)
        except CallError as error:
            verdict = self._unjudged(call, error.kind, str(error))
        except (ArgumentError, conversion.ConversionError) as error:
            verdict = self._unjudged(call, Kind.INVALID_RUN, str(error))
        except Exception as error:
            self._node.get_logger().error(f"call {call.call_id} of {tool_name!r}: {error!r}")
            verdict = self._unjudged(call, Kind.INTERRUPTED, f"the gateway failed: {error!r}")
        cancelled_first = call.stopped and verdict.status is not Status.SUCCESS
        return CallOutcome(
            exit_code=ExitCode.CANCELLED if cancelled_first else verdict.exit_code,
            verdict=verdict,
            run_ids=tuple(call.run_ids),
            backend_success=call.end.backend_success,
            backend_message=call.end.backend_message,
        )

    def _check(self, call: _Call) -> None:
        """Raises ArgumentError or ConversionError where the configuration does not allow a call."""
        if call.tool_name not in self._config.tools:
            raise ArgumentError(
                f"tool {call.tool_name[:NAME_LENGTH]!r} is not under `tools` in the "
                f"configuration: {sorted(self._config.tools)}"
            )
        call.arguments = conversion.parse_arguments(call.text, conversion.MAX_CHARACTERS)
        self._config.checked_arguments(call.tool_name, call.arguments)

    def _run(self, call: _Call) -> Verdict:
        """All segments; the verdict of the last one.

        Raises:
            CallError: there is none.
        """
        verdict = self._segment(call, 1)
        for segment in range(2, self._config.tools[call.tool_name].segments + 1):
            if call.cancelled():
                call.stopped = True
            if call.stopped or verdict.status is not Status.PROCESS:
                break
            call.verdict = verdict
            verdict = self._segment(call, segment)
        return verdict

    def _segment(self, call: _Call, segment: int) -> Verdict:
        tool = self._tools[call.tool_name]
        last_status = call.verdict.status if call.verdict else Status.PROCESS
        call.segment, call.run_id = segment, ""
        try:
            if call.cancelled():
                raise Stopped("cancelled")
            goal = tool.start(call.text, call.call_id, segment, call.cancelled)
        except Stopped:
            call.stopped = True
            raise CallError(Kind.CANCELLED, f"cancelled before segment {segment} began") from None
        except NotTaken as error:
            raise CallError(Kind.MISSING_RUN_ID, str(error)) from None
        call.run_id = goal.goal_id
        call.run_ids.append(goal.goal_id)
        call.end = tool.finish(
            goal,
            call.cancelled,
            lambda stage, share: call.tell(Progress(segment, last_status, stage, share)),
        )
        call.stopped = call.end.cancelled
        if call.end.problem:
            self._node.get_logger().error(f"run {goal.goal_id}: {call.end.problem}")
        return self._verdict(call)

    def _verdict(self, call: _Call) -> Verdict:
        """The verdict in the ledger, also of a run whose result is missing or wrong.

        Raises:
            CallError: there is none in time.
        """
        tool = self._config.tools[call.tool_name]
        timeout_s = (
            self._config.settle_ns(call.tool_name) / 1e9
            + self._config.capture.timeout_s
            + self._config.judges[tool.judge].timeout_s
            + VERDICT_GRACE_S
        )
        problem = f"{call.end.problem}; " if call.end.problem else ""
        try:
            return ask_verdict(
                self._verdicts,
                call.run_id,
                timeout_s,
                run_exists=not problem,
                run_ended=call.end.ended,
            )
        except UnknownRun as error:
            what = problem or f"tool '{call.tool_name}' ended and never said so on `runs`; "
            raise CallError(Kind.MISSING_RUN_ID, f"{what}{error}") from None
        except NoVerdict as error:
            raise CallError(Kind.INTERRUPTED, f"{problem}{error}") from None

    def _unjudged(self, call: _Call, kind: Kind, reason: str) -> Verdict:
        if kind is Kind.CANCELLED and call.verdict is not None:
            return call.verdict
        return Verdict(
            run_id=call.run_id,
            call_id=call.call_id,
            tool_name=call.tool_name[:NAME_LENGTH],
            arguments=call.arguments,
            segment=call.segment,
            status=Status.FAILURE,
            failure_reason=reason,
            kind=kind,
            criteria_hash=self._config.criteria_hash,
            given_at_ns=int(self._node.get_clock().now().nanoseconds),
        )
