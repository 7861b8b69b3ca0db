# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The section `sidecar` of eval.yaml."""

import copy

import pytest
import yaml

from harness_ros.config import ConfigError, load
from harness_ros.sidecar.turns import turn_verifier

EVAL = {
    "version": 1,
    "signals": {
        "width": {
            "topic": "/gripper",
            "type": "sensor_msgs/msg/JointState",
            "field": "position[0]",
            "unit": "m",
        }
    },
    "judges": {"deterministic": {}},
    "tools": {
        "pick": {
            "post_condition": "The gripper holds it.",
            "judge": "deterministic",
            "signals": ["width"],
            "criterion": {"success": {"signal": {"name": "width", "min": 0.01}}},
        }
    },
}


@pytest.fixture
def loaded(tmp_path):
    def loaded(**sections):
        path = tmp_path / "eval.yaml"
        path.write_text(yaml.safe_dump({**copy.deepcopy(EVAL), **sections}))
        return load(path)

    return loaded


def test_without_the_section_there_is_no_sidecar(loaded):
    assert loaded().sidecar is None


def test_an_empty_section_asks_for_physical_outcomes(loaded, tmp_path):
    sidecar = loaded(sidecar={}).sidecar
    result = turn_verifier(sidecar, {"ledger": tmp_path / "none"}).verify_now(
        "session-1", 0, {"run_ids": ["a"]}
    )
    assert not result.has_score
    assert str(tmp_path / "none") in result.reason


def test_paths_are_relative_to_the_file(loaded, tmp_path):
    sidecar = loaded(
        sidecar={
            "integrity": {"folder": "work", "counts": {"ran": {"at": "ran", "min": 1}}},
            "http": {"port": 0, "token_file": "secret/token"},
        }
    ).sidecar
    assert sidecar.integrity.folder == tmp_path / "work"
    assert sidecar.integrity.counts["ran"].min == 1
    assert sidecar.http.token_file == tmp_path / "secret" / "token"


def test_the_section_changes_no_verdict(loaded):
    assert loaded(sidecar={"window": 7}).criteria_hash == loaded().criteria_hash


@pytest.mark.parametrize(
    ("sidecar", "said"),
    [
        ({"verifier": "no_function"}, r"sidecar\.verifier: .*'no_function'"),
        ({"outcome_threshold": 1.5}, r"sidecar\.outcome_threshold: .*1\.5"),
        ({"verifier_timeout_s": 0}, r"sidecar\.verifier_timeout_s"),
        ({"speed": 3}, r"sidecar\.speed: unknown key, allowed are .*'verifier'"),
        ({"http": {"port": 80}}, r"sidecar\.http\.token_file: Field required"),
        ({"http": {"port": 70000, "token_file": "t"}}, r"sidecar\.http\.port"),
        ({"integrity": {"counts": {"ran": {"at": "a"}}}}, "`min` or `max` is wanted"),
        ({"integrity": {"counts": {"ran": {"at": "a", "min": 2, "max": 1}}}}, "more than max"),
        ({"integrity": {"files": {"t": {"files": "a", "sha256": "x"}}}}, r"files\.t\.sha256"),
    ],
)
def test_what_cannot_be_used_is_said_with_its_key(loaded, sidecar, said):
    with pytest.raises(ConfigError, match=said):
        loaded(sidecar=sidecar)
