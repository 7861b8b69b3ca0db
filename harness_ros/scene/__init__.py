# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The scene graph: what the robot's world looks like, changed by success verdicts alone.

`effects` says what a success changes, `graph` is the value that changes, `brief` tells it to an
agent, and `store` folds the ledger's verdicts into it.
"""

from harness_ros.scene.change import Outcome, SceneChange
from harness_ros.scene.effects import RELATIONS, Effects
from harness_ros.scene.graph import Relation, SceneError, SceneGraph

# Not `store`: it needs the configuration, which needs `effects` of this package.
__all__ = [
    "Effects",
    "Outcome",
    "RELATIONS",
    "Relation",
    "SceneChange",
    "SceneError",
    "SceneGraph",
]
