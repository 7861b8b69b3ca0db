# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which nodes launch files and demo start for the judges of an eval.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from conftest import CONFIG

from harness_ros.config import ConfigError
from harness_ros.contract import HarnessError
from harness_ros.ros.deployment import (
    NodeSpec,
    evaluation_nodes,
    executable_path,
    judge_nodes,
    replay_nodes,
    share_folder,
    sidecar_nodes,
)


@pytest.fixture
def config(tmp_path: Path) -> str:
    """`pick` asks a panel, `push` a rule; a third judge is asked by nobody."""
    written = yaml.safe_load(CONFIG.read_text())
    written["judges"] = {
        "rule": {},
        "idle": {"judge": "my_package.judges:MyJudge"},
        "eye": {"type": "model", "model": "some-model"},
        "both": {"type": "panel", "members": ["rule", "eye"], "timeout_s": 60},
    }
    written["tools"]["pick"]["judge"] = "both"
    written["tools"]["push"]["judge"] = "rule"
    path = tmp_path / "eval.yaml"
    path.write_text(yaml.safe_dump(written))
    return str(path)


def test_each_judge_that_a_tool_asks_is_one_node_and_members_of_panels_are_none(
    config: str,
) -> None:
    panel = NodeSpec("judge_model", {"config": config, "judge": "both"}, "_judge_both")
    rule = NodeSpec("judge_deterministic", {"judge": "rule"}, "_judge_rule")
    assert judge_nodes(config, "all") == [panel, rule]
    assert evaluation_nodes(config, "ledger")[1:3] == [panel, rule]
    assert [node.executable for node in replay_nodes(config, "ledger")] == [
        *("evaluator", "judge_model", "judge_deterministic", "scene_graph"),
    ]


def test_judges_are_chosen_by_their_keys(config: str) -> None:
    chosen = judge_nodes(config, "eye, rule,eye")
    assert [node.name for node in chosen] == ["_judge_eye", "_judge_rule"]
    assert judge_nodes(config, "") == []
    with pytest.raises(HarnessError, match=r"'ear' is not under `judges` in .*\['both', 'eye'"):
        judge_nodes(config, "rule,ear")


def test_the_sidecar_is_started_where_it_is_configured_unless_it_is_not_wanted(
    config: str, tmp_path: Path
) -> None:
    given = ("ledger", "rules")
    assert sidecar_nodes(config, *given) == []
    assert sidecar_nodes(config, *given, wanted="false") == []
    with pytest.raises(HarnessError, match="section 'sidecar' is missing"):
        sidecar_nodes(config, *given, wanted="true")
    configured = tmp_path / "with_sidecar.yaml"
    configured.write_text(Path(config).read_text() + "sidecar: {}\n")
    (node,) = sidecar_nodes(str(configured), *given)
    parameters = {"config": str(configured), "ledger": "ledger", "rules": "rules"}
    assert node == NodeSpec("sidecar", parameters)
    assert sidecar_nodes(str(configured), *given, wanted="true") == [node]
    assert sidecar_nodes(str(configured), *given, wanted="false") == []


def test_a_file_that_is_wrong_starts_nothing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        judge_nodes(str(tmp_path / "eval.yaml"), "all")


@pytest.mark.parametrize("name", ["eval.yaml", "tabletop.yaml"])
def test_the_judges_of_the_shipped_files_are_nodes_that_are_installed(name: str) -> None:
    for node in judge_nodes(str(share_folder() / "config" / name), "all"):
        assert executable_path(node.executable).is_file()
