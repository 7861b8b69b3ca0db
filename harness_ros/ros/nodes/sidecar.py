# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The sidecar as a node."""

from harness_ros.ros.sidecar.node import Sidecar
from harness_ros.ros.spinning import events_executor, run_node


def main() -> int:
    """Runs the sidecar."""
    return run_node(Sidecar, events_executor)
