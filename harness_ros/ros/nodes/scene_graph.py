# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The scene graph as a node."""

from harness_ros.ros.scene.node import SceneGraphNode
from harness_ros.ros.spinning import run_node


def main() -> int:
    """Runs the scene graph."""
    return run_node(SceneGraphNode)
