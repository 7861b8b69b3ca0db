# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulated tabletop with everything that judges it; calls come through `run_tool`."""

from launch.actions import DeclareLaunchArgument

from harness_ros.ros.deployment import evaluation_nodes, share_folder, tabletop_nodes
from harness_ros.ros.launching import common_arguments, describe
from launch import LaunchDescription

DEMO_ARGUMENTS = [
    DeclareLaunchArgument(
        "seed",
        default_value="0",
        description="Whole number that chooses where the blocks lie and which calls fail.",
    ),
    DeclareLaunchArgument(
        "speed", default_value="1.0", description="Simulated seconds a second at most."
    ),
    DeclareLaunchArgument(
        "truth",
        default_value="",
        description="File for what really happened, a JSON line a run; empty keeps nothing.",
    ),
    DeclareLaunchArgument(
        "bag",
        default_value="",
        description="Folder of the bag to record; it must not exist. Empty records nothing.",
    ),
]


def generate_launch_description() -> LaunchDescription:
    config = share_folder() / "config" / "tabletop.yaml"
    return describe(
        [*common_arguments(str(config), use_sim_time=True), *DEMO_ARGUMENTS],
        lambda value: [
            *evaluation_nodes(value("config"), value("ledger"), value("judge")),
            *tabletop_nodes(
                value("config"),
                int(value("seed")),
                float(value("speed")),
                value("truth"),
                value("bag"),
            ),
        ],
    )
