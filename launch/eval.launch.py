# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Everything but tools and cameras: evaluator, judge, scene graph, tool gateway."""

from harness_ros.ros.deployment import evaluation_nodes, share_folder
from harness_ros.ros.launching import common_arguments, describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    config = share_folder() / "config" / "eval.yaml"
    return describe(
        common_arguments(str(config), use_sim_time=False),
        lambda value: evaluation_nodes(value("config"), value("ledger"), value("judge")),
    )
