# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A planner that is a plain client of `run_tool`, and configurations with tools of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from conftest import CONFIG, Listener, ended
from rclpy.action import ActionClient
from rclpy.node import Node

from harness_ros import action, msg
from harness_ros.ros.action_servers import Servers
from harness_ros.ros.qos import REQUESTS
from harness_ros.ros.threads import in_executor, wait

RED = '{"target": "red_block"}'


def config_with(folder: Path, tools: Mapping[str, Mapping[str, Any]], **sections: Any) -> Path:
    """eval.yaml of the tests with more tools, each like `pick` but for the keys that are given."""
    config = yaml.safe_load(CONFIG.read_text()) | sections
    config["tools"] |= {name: config["tools"]["pick"] | dict(keys) for name, keys in tools.items()}
    path = folder / "eval.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


class Planner:
    """Sees the state of the goal as well, and all that is said on `runs` and `verdicts`."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.client = ActionClient(
            node, action.RunTool, "run_tool", goal_service_qos_profile=REQUESTS
        )
        self.listener = Listener(node)
        self._gateways = Servers(node, self.client, "/harness/run_tool")

    def start(
        self,
        tool: str,
        arguments: str = RED,
        on_feedback: Callable[[Any], None] | None = None,
        **options: Any,
    ) -> Any:
        """The handle of an accepted goal."""
        # A gateway that has not found this client yet takes a goal, and says so to nobody.
        self._gateways.await_one(20.0, lambda: False)
        goal = action.RunTool.Goal(tool_name=tool, arguments=arguments)
        sent = in_executor(
            self.node,
            lambda: self.client.send_goal_async(goal, feedback_callback=on_feedback, **options),
        )
        assert wait(sent, 10.0), "no answer to a goal"
        assert sent.result().accepted
        return sent.result()

    def run(self, tool: str, arguments: str = RED, **options: Any) -> Any:
        """Status and result."""
        return ended(self.start(tool, arguments, **options), 60.0)

    def runs_of(self, tool: str) -> list[msg.ToolRun]:
        return [run for run in self.listener.runs if run.tool_name == tool]
