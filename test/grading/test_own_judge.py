# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs graded by a judge of one's own: as by any other, in any number of processes."""

import json
import os
import subprocess
import sys

import pytest
import yaml

from harness_ros.grading.results import read_results

START = "import sys; from harness_ros.cli import main; sys.exit(main())"
JUDGE = """
import os
from harness_ros.contract import Judgement, Status, Usage

class MyJudge:
    def __init__(self, share):
        self.share = share

    def judge(self, request):
        run_id = request.observation.run_id
        if os.environ.get("DOWN") and run_id.endswith("3"):
            return Judgement(status=Status.FAILURE, error="the endpoint is down")
        usage = Usage(calls=1, input_tokens=len(run_id), cost=0.1)
        return Judgement(
            status=Status.SUCCESS, evidence=(run_id,), confidence=self.share, usage=usage
        )
"""


@pytest.fixture
def grade(tmp_path, config_path):
    """grade(bag, options, out=name, down=..., judge=...) -> what has ended, and the results."""
    (tmp_path / "own_graded_judge.py").write_text(JUDGE)

    def run(bag, *options, out="out", down=False, judge="own_graded_judge:MyJudge", **more):
        config = yaml.safe_load(config_path.read_text())
        settings = {"judge": judge, "options": {"share": 0.75}, **more}
        config["judges"] = {name: settings for name in config["judges"]}
        path = tmp_path / "own.yaml"
        path.write_text(yaml.safe_dump(config))
        paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        fixed = ["grade", bag, "--config", path, "--out", tmp_path / out, *options]
        return subprocess.run(
            [sys.executable, "-c", START, *map(str, fixed)],
            env={**os.environ, "PYTHONPATH": paths, "DOWN": "1" if down else ""},
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


def test_any_number_of_workers_gives_the_same_bytes_with_confidence_and_usage(
    tmp_path, record, grade
):
    bag = record("bag", runs=10)
    for workers in (1, 2):
        grade(bag, "--workers", workers, out=f"out{workers}")
    for name in ("results.jsonl", "summary.json", "report.html"):
        assert (tmp_path / "out1" / name).read_bytes() == (tmp_path / "out2" / name).read_bytes()
    rows = list(read_results(tmp_path / "out1" / "results.jsonl"))
    assert [row.confidence for row in rows] == [0.75] * 10
    assert all(row.evidence == (row.run_id,) and row.usage.calls == 1 for row in rows)
    usage = json.loads((tmp_path / "out1" / "summary.json").read_text())["overall"]["usage"]
    assert (usage["calls"], usage["cost"]) == (10, 1.0)


def test_resume_asks_again_where_the_judge_was_not_there_and_nowhere_else(tmp_path, record, grade):
    bag = record("bag", runs=5)
    grade(bag, down=True)
    results = tmp_path / "out" / "results.jsonl"
    kinds = {row.run_id: row.kind.value for row in read_results(results)}
    assert kinds == {**dict.fromkeys(kinds, ""), "bag-3": "judge_unavailable"}
    grade(bag, "--resume")
    again = {row.run_id: row.kind.value for row in read_results(results)}
    assert again == dict.fromkeys(kinds, "")
    grade(bag, out="at_once")
    assert results.read_bytes() == (tmp_path / "at_once" / "results.jsonl").read_bytes()


def test_below_its_threshold_a_judge_says_nothing_of_any_run(tmp_path, record, grade):
    grade(record("bag", runs=3), abstain={"confidence": 0.9})
    for row in read_results(tmp_path / "out" / "results.jsonl"):
        assert row.kind.value == "inconclusive"
        assert row.failure_reason == (
            "cannot tell: success with confidence 0.75, at least 0.9 is wanted"
        )


def test_a_judge_that_cannot_be_imported_is_told_before_any_work(tmp_path, record, grade):
    ended = grade(record("bag", runs=3), judge="no_such_package.judges:MyJudge")
    assert ended.returncode == 2
    assert "module 'no_such_package.judges' cannot be imported" in " ".join(ended.stderr.split())
    assert not (tmp_path / "out").exists()
