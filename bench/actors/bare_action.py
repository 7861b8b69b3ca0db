# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An action server that does nothing: what one more action costs whoever it is that adds it."""

from __future__ import annotations

import sys
from typing import Any

import rclpy
from rclpy.action import ActionServer
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from bench.actors.speech import say
from harness_ros import action
from harness_ros.ros.spinning import run_node


def bare_action() -> Node:
    """The node that serves /bench/nothing."""
    node = rclpy.create_node("bare_action", namespace="/bench")

    def execute(goal: Any) -> Any:
        goal.succeed()
        return action.ExecuteTool.Result()

    node.server = ActionServer(
        node,
        action.ExecuteTool,
        "nothing",
        execute_callback=execute,
        callback_group=ReentrantCallbackGroup(),
    )
    say(ready=True)
    return node


if __name__ == "__main__":
    sys.exit(run_node(bare_action))
