# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tools as others might write them: a plain action server that does what the test says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from events import until
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from harness_ros import action, msg
from harness_ros.ros.qos import EVENTS

STARTED, FINISHED = msg.ToolRun.STARTED, msg.ToolRun.FINISHED


def run_id_of(goal: Any) -> str:
    """The run id that belongs to a goal, of the server or of the client."""
    return bytes(goal.goal_id.uuid).hex()


class RawTool:
    """The action server `tools/<name>`; its node needs an executor of several threads."""

    def __init__(self, node: Node, name: str) -> None:
        self._node = node
        self.name = name
        self.goals: list[str] = []
        """Run ids of the goals that were executed."""
        self._started: dict[str, Any] = {}
        """What was said of when each run started."""
        self.reset()
        self._runs = node.create_publisher(msg.ToolRun, "runs", EVENTS)
        ActionServer(
            node,
            action.ExecuteTool,
            f"tools/{name}",
            execute_callback=self._execute,
            goal_callback=lambda _: self.decide(),
            cancel_callback=lambda _: self.on_cancel(),
            callback_group=ReentrantCallbackGroup(),
        )

    def reset(self) -> None:
        """Accepts everything, announces its run, succeeds."""
        self.decide: Callable[[], GoalResponse] = lambda: GoalResponse.ACCEPT
        self.on_cancel: Callable[[], CancelResponse] = lambda: CancelResponse.ACCEPT
        self.execute: Callable[[ServerGoalHandle], Any] = self.succeeds
        self.goals.clear()

    def succeeds(self, goal: ServerGoalHandle) -> Any:
        self.announce(goal)
        goal.succeed()
        return self.result(goal)

    def announce(self, goal: ServerGoalHandle, phases: Sequence[int] = (STARTED, FINISHED)) -> str:
        """Says that the run started and ended; its run_id."""
        assert until(self._evaluator_listens)
        now = self._node.get_clock().now().to_msg()
        for phase in phases:
            run = msg.ToolRun(phase=phase, run_id=run_id_of(goal), segment=1, tool_name=self.name)
            run.arguments = goal.request.arguments
            run.started_at = self._started.setdefault(run_id_of(goal), now)
            if phase == FINISHED:
                run.ended_at = self._node.get_clock().now().to_msg()
            self._runs.publish(run)
        return run_id_of(goal)

    @staticmethod
    def result(goal: ServerGoalHandle, **fields: Any) -> Any:
        """A result as it should be, but for the fields that are given."""
        fields = {"run_id": run_id_of(goal), "backend_success": True, **fields}
        return action.ExecuteTool.Result(**fields)

    def _execute(self, goal: ServerGoalHandle) -> Any:
        self.goals.append(run_id_of(goal))
        return self.execute(goal)

    def _evaluator_listens(self) -> bool:
        return any(
            info.node_name == "_evaluator"
            for info in self._node.get_subscriptions_info_by_topic(self._runs.topic_name)
        )


class Gate:
    """Holds callbacks of an action server up until the test opens it."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.open = threading.Event()

    def pass_through(self) -> None:
        self.reached.set()
        assert self.open.wait(60.0), "nobody opened the gate"
