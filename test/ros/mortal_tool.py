# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A process with the tool `mortal`, which works for an hour unless somebody kills it."""

from __future__ import annotations

import time

import rclpy
from processes import NAMESPACE
from rclpy.node import Node
from robot import Target

from harness_ros.ros.tool_server import BackendResult, RunHandle, ToolServer


def work(_: Target, __: RunHandle) -> BackendResult:
    time.sleep(3600.0)
    return BackendResult(success=True)


if __name__ == "__main__":
    rclpy.init()
    node = Node("mortal_arm", namespace=NAMESPACE)
    ToolServer(node, "mortal", Target, work)
    rclpy.spin(node)
