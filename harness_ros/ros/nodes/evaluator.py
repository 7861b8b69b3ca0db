# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The evaluator as a node."""

from harness_ros.capture.memory import keep_freed_memory
from harness_ros.ros.evaluator.node import Evaluator
from harness_ros.ros.spinning import events_executor, run_node


def main() -> int:
    """Runs the evaluator."""
    keep_freed_memory()
    return run_node(Evaluator, events_executor)
