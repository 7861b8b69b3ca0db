# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which nodes make up a deployment, with which parameters: for launch files and the demo alike."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness_ros.contract import HarnessError

ParameterValue = str | int | float | bool

NAMESPACE = "/harness"
PROFILE_VARIABLE = "FASTRTPS_DEFAULT_PROFILES_FILE"
SEND_IMAGES = frozenset({"evaluator", "scene_graph", "tabletop"})


class NotInstalledError(HarnessError):
    """harness_ros is not built into a ROS 2 workspace that is sourced here."""


class DeploymentError(HarnessError):
    """Nodes that are wanted and cannot be; the text says what there is."""


def share_folder() -> Path:
    """share/harness_ros of this installation: launch files and configurations.

    Raises:
        NotInstalledError: harness_ros is in no prefix of AMENT_PREFIX_PATH.
    """
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        folder = Path(prefix) / "share" / "harness_ros"
        if prefix and (folder / "package.xml").is_file():
            return folder
    raise NotInstalledError(
        "harness_ros is in no prefix of AMENT_PREFIX_PATH: source your workspace, "
        "or scripts/env.sh of the repository"
    )


def executable_path(executable: str) -> Path:
    """The file that `ros2 run harness_ros <executable>` starts."""
    return share_folder().parents[1] / "lib" / "harness_ros" / executable


def fastdds_profile(executable: str) -> Path:
    """The Fast DDS profile of a node: nodes that send images get a segment that these fit into."""
    name = "fastdds_shm.xml" if executable in SEND_IMAGES else "fastdds.xml"
    return share_folder() / "config" / name


def default_ledger() -> Path:
    """Where runs and verdicts are kept unless a parameter says otherwise."""
    return Path.home() / ".ros" / "harness_ros" / "ledger.sqlite"


def default_rules() -> Path:
    """Where learned rules are kept unless a parameter says otherwise."""
    return default_ledger().with_name("rules.sqlite")


@dataclass(frozen=True)
class NodeSpec:
    """One node as a process of its own."""

    executable: str
    parameters: Mapping[str, ParameterValue]
    name: str = ""
    """Where it is not the one that the executable gives its node."""


ALL_JUDGES = "all"
"""Instead of names: each judge that a tool asks."""
AUTO = "auto"
"""Instead of true or false: as the configuration says."""


def judge_nodes(config: str, judges: str) -> list[NodeSpec]:
    """A node for each judge.

    Args:
        config: path of eval.yaml.
        judges: keys under `judges` there, separated by commas; `all`: each that a tool asks.

    Raises:
        ConfigError: the file cannot be used.
        DeploymentError: a key is not in it.
    """
    from harness_ros.config import load

    loaded = load(config)
    if judges.strip() == ALL_JUDGES:
        keys = [tool.judge for tool in loaded.tools.values()]
    else:
        keys = [name.strip() for name in judges.split(",") if name.strip()]
    unknown = [key for key in keys if key not in loaded.judges]
    if unknown:
        raise DeploymentError(
            f"judge '{unknown[0]}' is not under `judges` in {config}: {sorted(loaded.judges)}, "
            f"or {ALL_JUDGES}"
        )
    return [
        NodeSpec("judge_deterministic", {"judge": key}, f"_judge_{key}")
        if loaded.judges[key].type == "deterministic"
        else NodeSpec("judge_model", {"config": config, "judge": key}, f"_judge_{key}")
        for key in dict.fromkeys(keys)
    ]


def evaluation_nodes(config: str, ledger: str, judges: str = ALL_JUDGES) -> list[NodeSpec]:
    """Everything but tools and cameras.

    Args:
        config: path of eval.yaml.
        ledger: path of the ledger file.
        judges: see `judge_nodes`.
    """
    return [
        NodeSpec("evaluator", {"config": config, "ledger": ledger}),
        *judge_nodes(config, judges),
        NodeSpec("scene_graph", {"config": config, "ledger": ledger}),
        NodeSpec("tool_gateway", {"config": config}),
    ]


def sidecar_nodes(config: str, ledger: str, rules: str, wanted: str = AUTO) -> list[NodeSpec]:
    """The sidecar, or nothing.

    Args:
        config: path of eval.yaml.
        ledger: path of the ledger file.
        rules: path of the file of learned rules.
        wanted: `true`, `false`, or `auto`: where the file has a section `sidecar`.

    Raises:
        ConfigError: the file cannot be used.
        DeploymentError: the sidecar is wanted and the file has no section of that name.
    """
    from harness_ros.config import load

    if wanted == "false":
        return []
    if load(config).sidecar is None:
        if wanted == AUTO:
            return []
        raise DeploymentError(f"{config}: the sidecar is wanted, and section 'sidecar' is missing")
    return [NodeSpec("sidecar", {"config": config, "ledger": ledger, "rules": rules})]


def replay_nodes(config: str, ledger: str, judges: str = ALL_JUDGES) -> list[NodeSpec]:
    """What judges recorded runs while a bag is played: nothing that could call a tool."""
    nodes = evaluation_nodes(config, ledger, judges)
    return [node for node in nodes if node.executable != "tool_gateway"]


def fresh_ledger() -> Path:
    """A ledger that nothing has been written to, in a temporary folder."""
    return Path(tempfile.mkdtemp(prefix="harness_ros_replay_")) / "ledger.sqlite"


def tabletop_nodes(
    config: str, seed: int, speed: float, truth: str = "", bag: str = ""
) -> list[NodeSpec]:
    """The simulated tabletop, and the recorder where a bag is wanted.

    Args:
        seed: chooses where the blocks lie and which calls fail.
        speed: simulated seconds a second at most.
        truth: file for what really happened; empty keeps nothing.
        bag: folder of the bag to record; empty records nothing.
    """
    recorder = [NodeSpec("recorder", {"config": config, "out": bag})] if bag else []
    tabletop = NodeSpec("tabletop", {"seed": seed, "speed": speed, "truth": truth})
    return [*recorder, tabletop]
