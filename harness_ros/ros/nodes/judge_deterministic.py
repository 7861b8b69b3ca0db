# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The deterministic judge as a node."""

from harness_ros.capture.memory import keep_freed_memory
from harness_ros.judges import DeterministicJudge
from harness_ros.ros.judge_node import JudgeNode
from harness_ros.ros.spinning import events_executor, run_node


def main() -> int:
    """Runs the deterministic judge."""
    keep_freed_memory()
    return run_node(lambda: JudgeNode(DeterministicJudge()), events_executor)
