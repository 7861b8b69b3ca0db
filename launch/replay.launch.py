# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The nodes that judge, in simulated time, against `ros2 bag play`, with a ledger of their own."""

from launch.actions import DeclareLaunchArgument

from harness_ros.ros.deployment import fresh_ledger, replay_nodes, share_folder
from harness_ros.ros.launching import bag_player, common_arguments, describe
from launch import LaunchDescription

REPLAY_ARGUMENTS = [
    DeclareLaunchArgument(
        "bag",
        default_value="",
        description="Folder or file of the bag to play; empty plays none and waits for yours.",
    ),
    DeclareLaunchArgument(
        "rate",
        default_value="1.0",
        description="Recorded seconds a second, as for `ros2 bag play`.",
    ),
    DeclareLaunchArgument(
        "loop",
        default_value="false",
        choices=["true", "false"],
        description="Whether the bag begins anew when it ends; its runs are judged once.",
    ),
]


def generate_launch_description() -> LaunchDescription:
    config = share_folder() / "config" / "eval.yaml"
    return describe(
        [
            *common_arguments(str(config), use_sim_time=True, ledger=str(fresh_ledger())),
            *REPLAY_ARGUMENTS,
        ],
        lambda value: replay_nodes(value("config"), value("ledger"), value("judge")),
        bag_player,
    )
