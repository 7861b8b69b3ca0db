# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What `harness-ros check` says of judges."""

import sys

import pytest
import yaml

from harness_ros.cli import main

CONFIG = {
    "version": 1,
    "cameras": {"top": {"topic": "top"}},
    "judges": {
        "rule": {},
        "eye": {
            "type": "model",
            "model": "some-model",
            "base_url": "http://user:secret@robot:8000/v1?key=secret",
            "cassette": {"mode": "replay", "folder": "answers"},
            "timeout_s": 5,
        },
        "both": {"type": "panel", "members": ["rule", "eye"], "rule": "any_failure"},
    },
    "tools": {
        "pick": {
            "post_condition": "The gripper holds it.",
            "judge": "both",
            "cameras": ["top"],
            "criterion": {"success": {"marker": {"view": "top", "id": 1}}},
        }
    },
}


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    """check(more judges) -> exit code, lines of standard output, standard error."""

    def run(**judges):
        path = tmp_path / "eval.yaml"
        path.write_text(yaml.safe_dump({**CONFIG, "judges": {**CONFIG["judges"], **judges}}))
        monkeypatch.setattr(sys, "argv", ["harness-ros", "check", str(path)])
        code = main()
        out, err = capsys.readouterr()
        return code, out.splitlines(), err

    return run


def test_each_judge_is_shown_with_what_it_is_and_what_is_known_of_its_errors(check):
    code, lines, _ = check()
    assert code == 0
    told = {line.split()[1]: line for line in lines if line.startswith("judge ")}
    assert told["rule"] == "judge rule (deterministic): no tool asks it"
    assert told["eye"] == (
        "judge eye (model some-model at robot:8000, cassette replay): no tool asks it"
    )
    assert told["both"].startswith(
        "judge both (panel of rule, eye by the rule any_failure): uncalibrated"
    )
    assert "secret" not in "\n".join(lines)


def test_a_plug_in_that_cannot_be_imported_is_named_with_the_cause(check):
    code, _, err = check(mine={"judge": "no_such_package.judges:MyJudge"})
    assert code == 2
    assert err == (
        "harness-ros: judges.mine.judge: 'no_such_package.judges:MyJudge': module "
        "'no_such_package.judges' cannot be imported: ModuleNotFoundError: No module named "
        "'no_such_package'\n"
    )
