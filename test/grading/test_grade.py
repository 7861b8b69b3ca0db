# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags to results.jsonl, summary.json and report.html, by the command that people use."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest
import yaml
from action_status import goals
from recordings import SECOND, Recorder

from harness_ros.grading.results import read_results
from harness_ros.grading.row import parse_line

START = "import sys; from harness_ros.cli import main; sys.exit(main())"
EXECUTABLE = [sys.executable, "-c", START]


@pytest.fixture
def grade(tmp_path, config_path):
    """grade(*bags, *options, out=name) -> the ended process; `out` has the results."""

    def run(*arguments, out="out", code=0):
        command = [*EXECUTABLE, "grade", *map(str, arguments), "--config", str(config_path)]
        done = subprocess.run(
            [*command, "--out", str(tmp_path / out)], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == code, done
        assert "Traceback" not in done.stderr
        return done

    return run


def rows(tmp_path, out="out"):
    return list(read_results(tmp_path / out / "results.jsonl"))


def outcomes(tmp_path, out="out"):
    return {row.run_id: (row.status.name, row.kind.value) for row in rows(tmp_path, out)}


def summary(tmp_path, out="out"):
    return json.loads((tmp_path / out / "summary.json").read_text())


# What is graded


def test_each_run_of_a_bag_gets_its_verdict_with_numbers(tmp_path, record, grade):
    bag = record()
    done = grade(bag)
    assert [row.run_id for row in rows(tmp_path)] == ["bag-0", "bag-1", "bag-2"]
    assert [row.status.name for row in rows(tmp_path)] == ["SUCCESS", "SUCCESS", "FAILURE"]
    first = rows(tmp_path)[0]
    assert first.evidence == ("width 0.05 m, at least 0.04",)
    assert first.post_condition == "The gripper holds cup."
    assert first.observed_at_ns == 12_160_000_000
    assert "3 runs, 3 calls: success 66.7% (2 of 3; 20.8% to 93.9%)" in done.stdout
    assert "recorded verdicts: 3 of 3 agree" in done.stdout
    assert "bag-0" in (tmp_path / "out" / "report.html").read_text()
    assert summary(tmp_path)["overall"]["runs"] == 3


def test_a_verdict_that_was_recorded_otherwise_is_a_disagreement(tmp_path, grade):
    recorder = Recorder(tmp_path / "bag")
    recorder.a_run("run-1", width=0.01)
    recorder.verdict("run-1", 12.4, evidence=["width 0.05 m"])
    done = grade(recorder.close())
    (row,) = rows(tmp_path)
    assert row.agrees_with_recorded is False
    assert row.recorded.status.name == "SUCCESS"
    assert row.recorded.evidence == ("width 0.05 m",)
    assert "recorded verdicts: 0 of 1 agree" in done.stdout


def test_runs_that_nobody_could_judge_are_beside_the_rate(tmp_path, grade):
    recorder = Recorder(tmp_path / "bag")
    recorder.a_run("seen", begin_s=10.0)
    recorder.run("unseen", 20.0)
    recorder.run("unseen", 20.0, 21.0)
    recorder.run("unended", 30.0)
    recorder.run("odd", 40.0, arguments='{"target": "moon"}')
    recorder.run("odd", 40.0, 41.0, arguments='{"target": "moon"}')
    recorder.run("other", 50.0, tool_name="dance")
    recorder.run("other", 50.0, 51.0, tool_name="dance")
    recorder.run("backwards", 60.0)
    recorder.run("backwards", 60.0, 59.0, log_s=61.0)
    done = grade(recorder.close())
    assert outcomes(tmp_path) == {
        "seen": ("SUCCESS", ""),
        "unseen": ("FAILURE", "observation_unavailable"),
        "unended": ("FAILURE", "interrupted"),
        "odd": ("FAILURE", "invalid_run"),
        "other": ("FAILURE", "invalid_run"),
        "backwards": ("FAILURE", "invalid_run"),
    }
    assert "success 100.0% (1 of 1;" in done.stdout
    assert "5 that nobody could judge" in done.stdout


def test_a_bag_that_cannot_be_opened_stops_no_other(tmp_path, record, grade):
    good = record()
    (tmp_path / "bad.mcap").write_bytes(b"no bag at all")
    done = grade(tmp_path / "bad.mcap", good, tmp_path / "missing")
    assert len(rows(tmp_path)) == 3
    problems = {problem["bag"]: problem for problem in summary(tmp_path)["problems"]}
    assert problems[str(tmp_path / "bad.mcap")]["fatal"]
    assert "no such file" in problems[str(tmp_path / "missing")]["problem"]
    assert "bad.mcap" in done.stderr


def test_nothing_that_can_be_graded_is_exit_code_2(tmp_path, grade):
    grade(tmp_path / "missing", code=2)
    assert (tmp_path / "out" / "report.html").exists()


def test_a_bag_that_is_named_twice_is_an_error(record, grade):
    bag = record()
    assert "given more than once" in grade(bag, bag, code=2).stderr


# Where runs come from


def write_csv(path, lines):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["run_id", "tool", "arguments", "started", "ended"])
        writer.writerows(lines)
    return path


def test_runs_come_from_a_file_where_the_bag_has_none(tmp_path, grade):
    recorder = Recorder(tmp_path / "bag")
    for step in range(60):
        recorder.frame(10 + step / 10)
        recorder.joints(10.01 + step / 10, 0.05 if step < 30 else 0.0)
    bag = recorder.close()
    lines = [
        ["one", "pick", '{"target": "cup"}', 10.0, 11.0],
        ["two", "pick", '{"target": "cup"}', 13_000_000_000_000_000, 0],
    ]
    lines[1] = ["two", "pick", '{"target": "cup"}', "13.5", "1970-01-01T00:00:14Z"]
    grade(bag, "--runs", write_csv(tmp_path / "runs.csv", lines))
    assert outcomes(tmp_path) == {"one": ("SUCCESS", ""), "two": ("FAILURE", "")}
    jsonl = tmp_path / "runs.jsonl"
    one = {"run_id": "one", "tool": "pick", "arguments": {"target": "cup"}}
    jsonl.write_text(json.dumps({**one, "started": 10.0, "ended": 11.0}) + "\n")
    grade(bag, "--runs", jsonl, out="again")
    assert outcomes(tmp_path, "again") == {"one": ("SUCCESS", "")}


def test_a_file_of_runs_that_is_not_looked_at_is_told(tmp_path, record, grade):
    lines = [["one", "pick", '{"target": "cup"}', 10.0, 11.0]]
    done = grade(record("bag", runs=2), "--runs", write_csv(tmp_path / "runs.csv", lines))
    assert "--runs was not looked at" in " ".join(done.stderr.split())
    assert sorted(outcomes(tmp_path)) == ["bag-0", "bag-1"]
    done = grade(tmp_path / "bag", "--tool", "/arm/pick=pick", out="again")
    assert "--tool was not looked at" in " ".join(done.stderr.split())
    both = ["--runs", tmp_path / "runs.csv", "--tool", "/arm/pick=pick"]
    done = grade(tmp_path / "bag", *both, code=2)
    assert "only one of them" in done.stderr


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["one", "pick", "{", 10, 11], "no JSON"),
        (["one", "pick", "", "soon", 11], "started is 'soon'"),
        (["one", "pick", "", 11, 10], "is before started"),
        (["", "pick", "", 10, 11], "run_id is ''"),
    ],
)
def test_a_mistake_in_a_file_of_runs_is_named_with_its_line(tmp_path, grade, line, words):
    recorder = Recorder(tmp_path / "bag")
    recorder.frame(10.0)
    done = grade(recorder.close(), "--runs", write_csv(tmp_path / "runs.csv", [line]), code=2)
    assert words in done.stderr.replace("\n", " ")
    assert "runs.csv:2" in done.stderr.replace("\n", "")


def test_goals_of_an_action_are_runs(tmp_path, grade):
    recorder = Recorder(tmp_path / "bag")
    for step in range(60):
        at_s = 10 + step / 10
        if step == 5:
            recorder.write("/arm/pick/_action/status", goals({1: 2}, at_s), at_s)
        if step == 20:
            recorder.write("/arm/pick/_action/status", goals({1: 4}, 10.5), at_s)
        recorder.frame(at_s)
        recorder.joints(at_s + 0.01, 0.05)
    bag = recorder.close()
    grade(bag, "--tool", '/arm/pick=pick{"target": "cup"}')
    (row,) = rows(tmp_path)
    assert (row.run_id, row.status.name) == (f"{1:032x}", "SUCCESS")
    assert (row.started_at_ns, row.ended_at_ns) == (10.5 * SECOND, 12 * SECOND)
    done = grade(bag, "--tool", "/arm/push=pick", out="other", code=2)
    assert "/arm/pick/_action/status" in done.stderr.replace("\n", "")
    assert "ACTION=TOOL" in grade(bag, "--tool", "pick", out="third", code=2).stderr


# The same whoever does it


def test_results_are_the_same_bytes_whatever_the_number_of_workers(tmp_path, record, grade):
    bags = [record(f"bag{number}", runs=11) for number in range(3)]
    for workers in (1, 2, 3):
        grade(*bags, "--workers", workers, out=f"out{workers}")
    one, two, three = (
        (tmp_path / f"out{workers}" / "results.jsonl").read_bytes() for workers in (1, 2, 3)
    )
    assert one == two == three
    assert one.count(b"\n") == 33
    reports = {(tmp_path / f"out{workers}" / "report.html").read_bytes() for workers in (1, 2)}
    assert len(reports) == 1


def test_resume_grades_what_is_missing_and_gives_the_same_bytes(tmp_path, record, grade):
    bags = [record(f"bag{number}", runs=5) for number in range(2)]
    grade(*bags)
    results = tmp_path / "out" / "results.jsonl"
    whole = results.read_bytes()
    lines = whole.splitlines(keepends=True)
    # The second line was cut off by a crash, and of the others the first is not what a judge said.
    told = {**json.loads(lines[0]), "failure_reason": "kept"}
    results.write_text(json.dumps(told, sort_keys=True) + "\n" + lines[1].decode()[:40])
    grade(*bags, "--resume")
    again = results.read_bytes().splitlines(keepends=True)
    assert again[1:] == lines[1:]
    assert parse_line(again[0].decode()).failure_reason == "kept"
    assert not (tmp_path / "out" / "results.jsonl.before").exists()


def test_resume_grades_anew_what_other_criteria_judged(tmp_path, record, grade, config_path):
    bag = record()
    grade(bag)
    stricter = yaml.safe_load(config_path.read_text())
    stricter["tools"]["pick"]["criterion"]["success"]["signal"]["min"] = 0.06
    config_path.write_text(yaml.safe_dump(stricter))
    grade(bag, "--resume")
    assert {row.status.name for row in rows(tmp_path)} == {"FAILURE"}


def test_a_grading_that_is_stopped_loses_nothing(tmp_path, record, config_path):
    bags = [record(f"bag{number}", runs=30) for number in range(3)]
    out = tmp_path / "out"
    command = [*EXECUTABLE, "grade", *map(str, bags), "--config", str(config_path)]
    process = subprocess.Popen([*command, "--out", str(out)], stderr=subprocess.PIPE)
    results = out / "results.jsonl"
    deadline = time.monotonic() + 60
    while not results.exists() or results.read_bytes().count(b"\n") < 5:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = list(read_results(results))
    assert 5 <= len(before) < 90
    subprocess.run([*command, "--out", str(out), "--resume"], check=True, timeout=120)
    after = list(read_results(results))
    assert len(after) == 90
    assert after[: len(before)] == before


# What CI gets


def test_labels_give_error_rates(tmp_path, record, grade):
    bag = record(runs=6)
    labels = tmp_path / "labels.csv"
    labels.write_text("run_id,label\nbag-0,success\nbag-1,failure\nbag-2,failure\nbag-5,success\n")
    done = grade(bag, "--labels", labels)
    assert "false-success rate 50.0% (1 of 2;" in done.stdout
    assert "false-failure rate 50.0% (1 of 2;" in done.stdout
    assert (
        "label is 'maybe'"
        in grade(
            bag, "--labels", _file(tmp_path / "odd.csv", "run_id,label\nbag-0,maybe\n"), code=2
        ).stderr
    )


def test_a_rate_that_is_not_reached_is_exit_code_1_and_a_junit_file_tells_of_each_run(
    tmp_path, record, grade
):
    bag = record()
    junit = tmp_path / "ci" / "junit.xml"
    grade(bag, "--fail-under", "0.6", "--junit", junit)
    text = junit.read_text()
    assert text.count("<testcase") == 3
    assert text.count("<failure") == 1
    grade(bag, "--fail-under", "0.7", out="strict", code=1)


def test_clips_are_written_and_linked(tmp_path, record, grade):
    grade(record(runs=1), "--clips")
    (clip,) = (tmp_path / "out" / "views").rglob("*.webm")
    assert clip.stat().st_size > 500
    assert clip.read_bytes()[:4] == b"\x1a\x45\xdf\xa3"
    assert (
        clip.relative_to(tmp_path / "out").as_posix()
        in (tmp_path / "out" / "report.html").read_text()
    )


def _file(path, text):
    path.write_text(text)
    return path


def test_pictures_of_an_earlier_grading_are_not_shown_beside_a_run_that_has_none_now(
    tmp_path, record, grade, config_path
):
    bag = record(runs=1)
    grade(bag)
    assert list((tmp_path / "out" / "views").rglob("*.jpg"))
    blind = yaml.safe_load(config_path.read_text())
    blind["cameras"]["front"]["topic"] = "nowhere"
    config_path.write_text(yaml.safe_dump(blind))
    grade(bag)
    assert outcomes(tmp_path) == {"bag-0": ("FAILURE", "observation_unavailable")}
    assert not list((tmp_path / "out" / "views").rglob("*.jpg"))


def test_a_run_whose_pictures_cannot_be_written_keeps_its_verdict(tmp_path, record, grade):
    bag = record()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "views").write_text("a file where a folder should be")
    grade(bag)
    assert len(rows(tmp_path)) == 3
    said = [problem["problem"] for problem in summary(tmp_path)["problems"]]
    assert len(said) == 3
    assert "run bag-0: not all of its pictures" in said[0]
