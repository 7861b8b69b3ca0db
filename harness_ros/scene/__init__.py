# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The scene graph: what the robot's world looks like, as far as verdicts have confirmed it.

`effects` says what a success changes, `graph` is the value that changes by the `rules`, `brief`
tells it to an agent, and `store` folds the ledger's verdicts into it. What a perception node sees
counts where the configuration allows it (`perception`).
"""

from harness_ros.scene.change import Outcome, SceneChange
from harness_ros.scene.effects import RELATIONS, Effects
from harness_ros.scene.graph import SceneGraph
from harness_ros.scene.relation import ContainerState, Relation, SceneError, Source

# Not what needs the configuration, such as `store`: it needs modules of this package.
__all__ = [
    "ContainerState",
    "Effects",
    "Outcome",
    "RELATIONS",
    "Relation",
    "SceneChange",
    "SceneError",
    "SceneGraph",
    "Source",
]
