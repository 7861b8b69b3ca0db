# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The scene graph as a node.

A message on `verdicts` is only a doorbell: what counts is what the evaluator wrote to the ledger,
so that a forged message changes nothing and a missed one is caught up with.
"""

from __future__ import annotations

from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from harness_ros import msg, srv
from harness_ros.ledger import Ledger
from harness_ros.ros.parameters import declare_config, declare_ledger
from harness_ros.ros.qos import EVENTS
from harness_ros.ros.spinning import run_node
from harness_ros.scene.brief import brief, to_json
from harness_ros.scene.change import Outcome
from harness_ros.scene.store import SceneStore

LATEST = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
CATCH_UP_S = 1.0


class SceneGraphNode(Node):
    """Node `scene_graph`: applies the effects of successes, once each, and tells what it knows."""

    def __init__(self, **options: Any) -> None:
        super().__init__("scene_graph", **options)
        self._ledger = Ledger(declare_ledger(self))
        self._store = SceneStore(self._ledger, declare_config(self))
        if self._store.warning:
            self.get_logger().warning(self._store.warning)
        self._graph = self.create_publisher(String, "scene/graph", LATEST)
        self._published = -1
        self.create_subscription(msg.Verdict, "verdicts", self._on_verdict, EVENTS)
        self.create_service(srv.GetSceneBrief, "scene/brief", self._on_brief)
        self.create_timer(CATCH_UP_S, self._catch_up, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._catch_up()

    def destroy_node(self) -> None:
        """Closes the ledger."""
        self._ledger.close()
        super().destroy_node()

    def _on_verdict(self, _: msg.Verdict) -> None:
        self._catch_up()

    def _catch_up(self) -> None:
        for change in self._store.catch_up():
            where = f"run {change.run_id[:8]} {change.tool_name}"
            if change.outcome is Outcome.REJECTED:
                self.get_logger().error(f"{where}: changes nothing in the scene: {change.reason}")
            elif change.outcome is Outcome.APPLIED:
                self.get_logger().info(f"{where}: scene now {list(change.effects.add)}")
        graph = self._store.graph
        if graph.revision != self._published:
            self._published = graph.revision
            self._graph.publish(String(data=to_json(graph)))

    def _on_brief(self, _: Any, response: Any) -> Any:
        # A planner asks right after its verdict: what it was told must be in here.
        self._catch_up()
        graph = self._store.graph
        response.brief = brief(graph)
        response.graph = to_json(graph)
        response.revision = graph.revision
        return response


def main() -> int:
    """Runs the scene graph."""
    return run_node(SceneGraphNode)
