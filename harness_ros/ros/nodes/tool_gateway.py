# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The gateway: one action, `run_tool`, that runs any configured tool to its verdict."""

from __future__ import annotations

from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from harness_ros import action
from harness_ros.ros import conversion
from harness_ros.ros.parameters import declare, declare_config
from harness_ros.ros.spinning import run_node
from harness_ros.ros.threads import in_thread
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
        self._caller = ToolCaller(self, config, server_timeout_s, cancel_timeout_s)
        self._server = ActionServer(
            self,
            action.RunTool,
            "run_tool",
            execute_callback=self._execute,
            goal_callback=lambda _: GoalResponse.ACCEPT,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )

    def destroy_node(self) -> None:
        """Ends the action server."""
        self._server.destroy()
        super().destroy_node()

    async def _execute(self, goal: ServerGoalHandle) -> Any:
        request = goal.request

        def tell(progress: Progress) -> None:
            if goal.is_active:
                goal.publish_feedback(
                    action.RunTool.Feedback(
                        segment=progress.segment,
                        last_status=int(progress.last_status),
                        stage=progress.stage,
                        progress=progress.progress,
                    )
                )

        def call() -> CallOutcome:
            return self._caller.call(
                request.tool_name, request.arguments, tell, lambda: bool(goal.is_cancel_requested)
            )

        outcome = await in_thread(self, call, f"call-{request.tool_name}")
        if goal.is_cancel_requested:
            goal.canceled()
        elif outcome.reached_tool:
            goal.succeed()
        else:
            goal.abort()
        return action.RunTool.Result(
            exit_code=int(outcome.exit_code),
            verdict=conversion.verdict_to_message(outcome.verdict),
            run_ids=list(outcome.run_ids),
            segments=len(outcome.run_ids),
            backend_success=outcome.backend_success,
            backend_message=outcome.backend_message,
        )


def main() -> int:
    """Runs the gateway."""
    return run_node(ToolGateway)
