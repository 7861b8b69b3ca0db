# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A service of type Evaluate that answers at once with nothing.

`plain` leaves memory to the C library, as most nodes do; `kept` keeps what it freed.
"""

from __future__ import annotations

import sys

import rclpy
from rclpy.node import Node

from bench.actors.speech import say
from harness_ros import srv
from harness_ros.capture.memory import keep_freed_memory
from harness_ros.ros.spinning import run_node


def bare_judge(memory: str) -> Node:
    """The node that serves /bench/<memory>."""
    node = rclpy.create_node(f"bare_judge_{memory}", namespace="/bench")
    node.create_service(srv.Evaluate, memory, lambda _, response: response)
    say(ready=True)
    return node


if __name__ == "__main__":
    if sys.argv[1] == "kept":
        keep_freed_memory()
    sys.exit(run_node(lambda: bare_judge(sys.argv[1])))
