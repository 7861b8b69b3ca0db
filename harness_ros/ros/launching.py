# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the launch files share: their arguments, a NodeSpec as a launch action, and RViz."""

from __future__ import annotations

from collections.abc import Callable

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch.actions import DeclareLaunchArgument, ExecuteProcess, LogInfo, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from harness_ros.ros.deployment import (
    ALL_JUDGES,
    NAMESPACE,
    PROFILE_VARIABLE,
    NodeSpec,
    default_ledger,
    fastdds_profile,
    share_folder,
)
from launch import Action, LaunchContext, LaunchDescription

Arguments = Callable[[str], str]
"""The value of a launch argument by its name."""


def common_arguments(
    config: str, use_sim_time: bool, ledger: str | None = None
) -> list[DeclareLaunchArgument]:
    """The launch arguments of every launch file.

    Args:
        config: default path of eval.yaml.
        use_sim_time: default.
        ledger: default path; the one that all evaluations of this user share, where it is None.
    """
    flag = ["true", "false"]
    return [
        DeclareLaunchArgument(
            "config",
            default_value=config,
            description="Path of the eval.yaml: tools, post-conditions, cameras, judges, scene.",
        ),
        DeclareLaunchArgument(
            "ledger",
            default_value=ledger or str(default_ledger()),
            description="Path of the SQLite file of runs, observations and verdicts.",
        ),
        DeclareLaunchArgument(
            "namespace",
            default_value=NAMESPACE,
            description="Namespace of all nodes, topics, services and actions.",
        ),
        DeclareLaunchArgument(
            "use_sim_time",
            default_value=str(use_sim_time).lower(),
            choices=flag,
            description="Whether the nodes take their time from /clock.",
        ),
        DeclareLaunchArgument(
            "judge",
            default_value=ALL_JUDGES,
            description="Judges to run: keys under `judges` in that file, separated by commas; "
            "`all`: each that a tool asks.",
        ),
        DeclareLaunchArgument(
            "log_level",
            default_value="info",
            choices=["debug", "info", "warn", "error", "fatal"],
            description="Least severity that the nodes log.",
        ),
        DeclareLaunchArgument(
            "shm_profile",
            default_value="true",
            choices=flag,
            description="Whether the nodes use the Fast DDS profiles of this package: a 128 MiB "
            "shared-memory segment for those that send images, and quick discovery. Camera drivers "
            "need config/fastdds_shm.xml too, or frames above 512 KiB are lost.",
        ),
        DeclareLaunchArgument(
            "rviz",
            default_value="false",
            choices=flag,
            description="Whether RViz is started with config/harness_ros.rviz: the scene graph and "
            "the cameras of the tabletop. It needs the package rviz2.",
        ),
    ]


def describe(
    arguments: list[DeclareLaunchArgument],
    nodes: Callable[[Arguments], list[NodeSpec]],
    beside: Callable[[Arguments], list[Action]] = lambda _: [],
) -> LaunchDescription:
    """A launch description of nodes that depend on the values of the arguments.

    Args:
        beside: what else is started.
    """

    def actions(context: LaunchContext) -> list[Action]:
        def value(name: str) -> str:
            return str(LaunchConfiguration(name).perform(context))

        viewer = [_rviz(value)] if value("rviz") == "true" else []
        return [*(_action(spec, value) for spec in nodes(value)), *beside(value), *viewer]

    return LaunchDescription([*arguments, OpaqueFunction(function=actions)])


def bag_player(value: Arguments) -> list[Action]:
    """`ros2 bag play` with /clock; what was said of its runs then goes by another name."""
    if not value("bag"):
        return []
    namespace = "/" + value("namespace").strip("/")
    recorded = f"{namespace.rstrip('/')}/verdicts:={namespace.rstrip('/')}/recorded_verdicts"
    loop = ["--loop"] if value("loop") == "true" else []
    command = ["ros2", "bag", "play", value("bag"), "--clock", "100", "--rate", value("rate")]
    # The evaluator must be there when the first run begins.
    wait = ["--delay", "3.0"]
    return [ExecuteProcess(cmd=[*command, *wait, *loop, "--remap", recorded], output="screen")]


def _rviz(value: Arguments) -> Node | LogInfo:
    """RViz with the configuration of this package, its topics moved to the namespace in use."""
    try:
        get_package_prefix("rviz2")
    except PackageNotFoundError:
        return LogInfo(msg="rviz:=true, but the package rviz2 is not installed: no RViz")
    path = share_folder() / "config" / "harness_ros.rviz"
    displays = yaml.safe_load(path.read_text())["Visualization Manager"]["Displays"]
    topics = [display["Topic"]["Value"] for display in displays if "Topic" in display]
    namespace = "/" + value("namespace").strip("/")
    moved = [(topic, topic.replace(NAMESPACE, namespace.rstrip("/"), 1)) for topic in topics]
    return Node(
        package="rviz2",
        executable="rviz2",
        name="rviz",
        arguments=["-d", str(path)],
        remappings=moved if namespace != NAMESPACE else [],
        parameters=[{"use_sim_time": value("use_sim_time") == "true"}],
        output="screen",
    )


def _action(spec: NodeSpec, value: Arguments) -> Node:
    # Typed, so that a text stays a text whatever YAML would read in it (launch_ros#384).
    parameters = {
        name: ParameterValue(item, value_type=type(item)) for name, item in spec.parameters.items()
    }
    profile = {PROFILE_VARIABLE: str(fastdds_profile(spec.executable))}
    return Node(
        package="harness_ros",
        executable=spec.executable,
        name=spec.name or None,
        namespace=value("namespace"),
        parameters=[parameters, {"use_sim_time": value("use_sim_time") == "true"}],
        arguments=["--ros-args", "--log-level", value("log_level")],
        additional_env=profile if value("shm_profile") == "true" else {},
        output="screen",
    )
