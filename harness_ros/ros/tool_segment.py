# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One segment of a tool call: from the goal to what the tool says of its end."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from harness_ros import action
from harness_ros.contract import HarnessError, Record
from harness_ros.ros.goals import ActionCaller, GoalError, Rejected, SentGoal, Stopped

POLL_S = 0.05
"""How often a call looks whether it was cancelled, and passes feedback on at most."""
MESSAGE_LENGTH = 4096
"""Characters of a tool's message that are passed on."""

STATUS_NAMES = {
    GoalStatus.STATUS_SUCCEEDED: "succeeded",
    GoalStatus.STATUS_CANCELED: "cancelled",
    GoalStatus.STATUS_ABORTED: "aborted",
}


class NotTaken(HarnessError):
    """No tool took the goal: there is no run."""


class SegmentEnd(Record):
    """How a segment ended, as far as its tool says so."""

    ended: bool = False
    """There is a result."""
    cancelled: bool = False
    """The tool says that it stopped because somebody asked it to."""
    backend_success: bool = False
    backend_message: str = ""
    problem: str = ""
    """What is wrong with the result; empty where there is one and it names its run."""


class ToolClient:
    """The action of one configured tool.

    Args:
        name: key under `tools` in eval.yaml.
        action_name: of the action.
        timeout_s: seconds until a segment is asked to cancel.
        server_timeout_s: seconds to wait for the server, and for its answer to a goal.
        cancel_timeout_s: seconds that it may take to end after it was asked to cancel.
    """

    def __init__(
        self,
        node: Node,
        name: str,
        action_name: str,
        timeout_s: float,
        server_timeout_s: float,
        cancel_timeout_s: float,
        callback_group: CallbackGroup,
    ) -> None:
        self._name = name
        self._timeout_s = timeout_s
        self._server_timeout_s = server_timeout_s
        self._cancel_timeout_s = cancel_timeout_s
        self._caller = ActionCaller(node, action.ExecuteTool, action_name, callback_group)
        self._running = 0
        self._lock = threading.Lock()

    def start(
        self, arguments: str, call_id: str, segment: int, cancelled: Callable[[], bool]
    ) -> SentGoal:
        """Sends the goal.

        Raises:
            NotTaken: there is no server, or more than one, or it does not take the goal.
            Stopped: cancelled before there was a server.
        """
        goal = action.ExecuteTool.Goal(arguments=arguments, call_id=call_id, segment=segment)
        try:
            self._caller.await_server(self._server_timeout_s, cancelled)
            return self._caller.send(goal, self._server_timeout_s)
        except Stopped:
            raise
        except Rejected:
            raise NotTaken(self._why_rejected()) from None
        except GoalError as error:
            raise NotTaken(f"tool '{self._name}': {error}") from None

    def finish(
        self, goal: SentGoal, cancelled: Callable[[], bool], tell: Callable[[str, float], None]
    ) -> SegmentEnd:
        """Waits for the end of a segment; cancels it when that is asked for or time is up.

        Args:
            cancelled: whether to cancel; asked again and again.
            tell: is given the stage and the progress (0 to 1), at most every `POLL_S`.
        """
        with self._lock:
            self._running += 1
        try:
            late = self._await(goal, cancelled, tell)
        except GoalError as error:
            problem = f"tool '{self._name}' gave no result: {error}"
            return SegmentEnd(backend_message=problem, problem=problem)
        finally:
            with self._lock:
                self._running -= 1
        status, result = goal.answer
        return SegmentEnd(
            ended=True,
            # What the gateway stopped because time was up is not what somebody cancelled.
            cancelled=status == GoalStatus.STATUS_CANCELED and (not late or cancelled()),
            backend_success=bool(result.backend_success),
            backend_message=result.backend_message[:MESSAGE_LENGTH],
            problem=self._problem(status, result.run_id, goal.goal_id),
        )

    def _await(
        self, goal: SentGoal, cancelled: Callable[[], bool], tell: Callable[[str, float], None]
    ) -> bool:
        """Returns once there is a result; whether time was up before.

        Raises:
            GoalError: there is none.
        """
        deadline = time.monotonic() + self._timeout_s
        asked_at: float | None = None
        late = False
        while not goal.wait(POLL_S):
            _pass_on(goal, tell)
            now = time.monotonic()
            if not late and now > deadline:
                late = True
                asked_at = now
                goal.cancel()
            elif asked_at is None and cancelled():
                asked_at = now
                goal.cancel()
            elif asked_at is not None and now > asked_at + self._cancel_timeout_s:
                if late:
                    raise GoalError(
                        f"not within {self._timeout_s:g} s, nor {self._cancel_timeout_s:g} s "
                        "after it was asked to cancel"
                    )
                if not goal.refuses_to_cancel:
                    raise GoalError(
                        f"not within {self._cancel_timeout_s:g} s after it was asked to cancel"
                    )
        _pass_on(goal, tell)
        return late

    def _why_rejected(self) -> str:
        with self._lock:
            busy = self._running > 0
        if busy:
            return (
                f"tool '{self._name}' rejected the goal: it is busy with another call and takes "
                "one at a time"
            )
        return (
            f"tool '{self._name}' rejected the goal: it is busy, or takes other arguments "
            "(its log says which)"
        )

    def _problem(self, status: int, run_id: str, goal_id: str) -> str:
        if run_id == goal_id:
            return ""
        ended = f"tool '{self._name}' ended ({STATUS_NAMES.get(status, status)})"
        if not run_id:
            return f"{ended} without a run_id; the goal id, {goal_id}, is wanted"
        # An earlier run may have such a verdict: it says nothing of this one.
        return f"{ended} and names its run {run_id[:120]!r}; the goal id, {goal_id}, is wanted"


def _pass_on(goal: SentGoal, tell: Callable[[str, float], None]) -> None:
    feedback: Any = goal.feedback()
    if feedback is not None:
        share = 0.0 if math.isnan(feedback.progress) else feedback.progress
        tell(feedback.stage, min(1.0, max(0.0, share)))
