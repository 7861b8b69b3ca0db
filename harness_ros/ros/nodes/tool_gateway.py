# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The gateway: one action, `run_tool`, that runs any configured tool to its verdict.

Every goal is accepted and ends in a result. Its status says the same as the exit code, for planners
that look at nothing else: SUCCEEDED for exit code 0 alone, CANCELED for 3, ABORTED for 1 and 2 (and
for 3 where somebody else than the planner cancelled the tool).
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from rclpy.action.server import RCLError, ServerGoalHandle
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node

from harness_ros import action, msg
from harness_ros.contract import ExitCode, Kind
from harness_ros.ros import conversion
from harness_ros.ros.diagnostics import Diagnostics, Level, Report
from harness_ros.ros.goal_server import GoalServer
from harness_ros.ros.parameters import declare, declare_config
from harness_ros.ros.spinning import events_executor, run_node
from harness_ros.ros.tool_call import CallOutcome, Progress, ToolCaller


class ToolGateway(Node):
    """Node `tool_gateway`."""

    def __init__(self, **options: Any) -> None:
        super().__init__("tool_gateway", **options)
        config = declare_config(self)
        server_timeout_s = declare(
            self,
            "server_timeout_s",
            5.0,
            "seconds to wait for a tool's action server to be there and to answer a goal",
            (0.0, 3600.0),
        )
        cancel_timeout_s = declare(
            self,
            "cancel_timeout_s",
            10.0,
            "seconds that a tool may take to end after it was asked to cancel",
            (0.0, 3600.0),
        )
        self._diagnostics = Diagnostics(self, self._reports)
        self._open: Counter[str] = Counter()
        self._ended: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._caller = ToolCaller(self, config, server_timeout_s, cancel_timeout_s)
        self._server = GoalServer(self, action.RunTool, "run_tool", self._call, self._end)

    def destroy_node(self) -> None:
        """Ends the action server."""
        self._server.destroy()
        super().destroy_node()

    def _reports(self) -> Iterator[Report]:
        with self._lock:
            open_calls = Counter(self._open)
        values = {
            "calls open": open_calls.total(),
            **{f"open {name}": number for name, number in sorted(open_calls.items())},
            **{f"ended {name}": number for name, number in sorted(self._ended.items())},
        }
        yield Report("calls", Level.OK, f"{open_calls.total()} open", values)

    def _call(self, goal: ServerGoalHandle) -> tuple[ExitCode, Any]:
        """Calls the tool; the exit code and the result of the action."""
        tool_name = goal.request.tool_name
        with self._lock:
            self._open[tool_name] += 1

        def tell(progress: Progress) -> None:
            # Feedback that cannot be sent is no reason to end a call.
            with suppress(RCLError, InvalidHandle):
                goal.publish_feedback(
                    action.RunTool.Feedback(
                        segment=progress.segment,
                        last_status=int(progress.last_status),
                        stage=progress.stage,
                        progress=progress.progress,
                    )
                )

        try:
            outcome = self._caller.call(
                tool_name, goal.request.arguments, tell, lambda: bool(goal.is_cancel_requested)
            )
            return outcome.exit_code, _result(outcome)
        except Exception as error:
            # rclpy would send an empty result, and an empty result has exit code 0.
            self._diagnostics.failed(f"call of {tool_name!r}", error)
            return ExitCode.UNJUDGED, _failed(tool_name, error)
        finally:
            with self._lock:
                # Without its zeros: a planner may name any tool, and each would stay for ever.
                self._open = +(self._open - Counter([tool_name]))

    def _end(self, goal: ServerGoalHandle, ended: tuple[ExitCode, Any]) -> Any:
        """Ends the goal with what its call came to."""
        exit_code, result = ended
        self._ended[exit_code.name.lower()] += 1
        if exit_code is ExitCode.SUCCESS:
            goal.succeed()
        elif exit_code is ExitCode.CANCELLED and goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
        return result


def _result(outcome: CallOutcome) -> Any:
    return action.RunTool.Result(
        exit_code=int(outcome.exit_code),
        verdict=conversion.verdict_to_message(outcome.verdict),
        run_ids=list(outcome.run_ids),
        segments=len(outcome.run_ids),
        backend_success=outcome.backend_success,
        backend_message=outcome.backend_message,
    )


def _failed(tool_name: str, error: Exception) -> Any:
    return action.RunTool.Result(
        exit_code=int(ExitCode.UNJUDGED),
        verdict=msg.Verdict(
            tool_name=tool_name,
            arguments="{}",
            segment=1,
            status=msg.Verdict.FAILURE,
            failure_reason=conversion.encodable(f"the gateway failed: {error!r}"),
            kind=Kind.INTERRUPTED.value,
        ),
    )


def main() -> int:
    """Runs the gateway."""
    return run_node(ToolGateway, events_executor)
