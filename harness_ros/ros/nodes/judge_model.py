# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A judge of eval.yaml as a node: a model, a panel, a plug-in, or a deterministic one."""

from harness_ros.capture.memory import keep_freed_memory
from harness_ros.ros.configured_judge import ConfiguredJudge
from harness_ros.ros.spinning import events_executor, run_node


def main() -> int:
    """Runs the judge that the parameter `judge` names."""
    keep_freed_memory()
    return run_node(ConfiguredJudge, events_executor)
