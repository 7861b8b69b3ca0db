# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A service of type VerifyTurn that answers at once with a score: what the middleware takes."""

from __future__ import annotations

import sys
from typing import Any

import rclpy
from rclpy.node import Node

from bench.actors.speech import say
from harness_ros import srv
from harness_ros.ros.qos import REQUESTS
from harness_ros.ros.spinning import events_executor, run_node


def bare_turn() -> Node:
    """The node that serves /bench/turn."""
    node = rclpy.create_node("bare_turn", namespace="/bench")

    def answer(_: Any, response: Any) -> Any:
        response.has_score, response.score = True, 1.0
        return response

    node.create_service(srv.VerifyTurn, "turn", answer, qos_profile=REQUESTS)
    say(ready=True)
    return node


if __name__ == "__main__":
    sys.exit(run_node(bare_turn, events_executor))
