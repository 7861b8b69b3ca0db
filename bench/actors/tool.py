# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A physical tool that does nothing, beside cameras that never stop."""

from __future__ import annotations

import sys
import threading
import time

import rclpy
from pydantic import BaseModel
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Image

from bench.actors.speech import say
from bench.frames import Frame
from bench.world import SMALL, TOOL, topic
from harness_ros.ros.deployment import NAMESPACE
from harness_ros.ros.spinning import run_node
from harness_ros.ros.tool_server import BackendResult, ToolServer


class NoArguments(BaseModel):
    """The tool takes none."""


def tool(camera: str, rate_hz: float) -> Node:
    """The node: an action server, and a thread that publishes small frames."""
    node = rclpy.create_node("bench_tool", namespace=NAMESPACE)
    publisher = node.create_publisher(Image, topic(camera), qos_profile_sensor_data)
    frame = Frame(SMALL)

    def publish() -> None:
        while rclpy.ok():
            publisher.publish(frame.stamped())
            time.sleep(1 / rate_hz)

    ToolServer(node, TOOL, NoArguments, lambda *_: BackendResult(success=True))
    threading.Thread(target=publish, daemon=True).start()
    say(ready=True)
    return node


if __name__ == "__main__":
    sys.exit(run_node(lambda: tool(sys.argv[1], float(sys.argv[2]))))
