# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Everything but tools and cameras: evaluator, judges, scene graph, tool gateway, sidecar."""

from launch.actions import DeclareLaunchArgument

from harness_ros.ros.deployment import (
    AUTO,
    default_rules,
    evaluation_nodes,
    share_folder,
    sidecar_nodes,
)
from harness_ros.ros.launching import common_arguments, describe
from launch import LaunchDescription

SIDECAR_ARGUMENTS = [
    DeclareLaunchArgument(
        "sidecar",
        default_value=AUTO,
        choices=["auto", "true", "false"],
        description="Whether the sidecar of a text agent is started; `auto`: where the file has a "
        "section `sidecar`.",
    ),
    DeclareLaunchArgument(
        "rules",
        default_value=str(default_rules()),
        description="Path of the SQLite file of learned rules, which the sidecar keeps.",
    ),
]


def generate_launch_description() -> LaunchDescription:
    config = share_folder() / "config" / "eval.yaml"
    return describe(
        [*common_arguments(str(config), use_sim_time=False), *SIDECAR_ARGUMENTS],
        lambda value: [
            *evaluation_nodes(value("config"), value("ledger"), value("judge")),
            *sidecar_nodes(value("config"), value("ledger"), value("rules"), value("sidecar")),
        ],
    )
