# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`harness-ros label`: what it takes, that it goes on, and what it says at the end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from graded_folder import ask, graded_folder, rows_of, serving
from recordings import CONFIG, Recorder

from harness_ros.contract import HarnessError, Kind, Observation, Run, Status, Verdict, View
from harness_ros.grading.labels import read_labels
from harness_ros.labelling.command import LabelOptions, served
from harness_ros.labelling.summary import Tally, lines
from harness_ros.ledger import Ledger

MAIN = "import sys; from harness_ros.cli import main; sys.exit(main())"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return graded_folder(tmp_path / "graded", rows_of("SFSiF"))


@pytest.fixture
def config_path(tmp_path: Path) -> Path:
    path = tmp_path / "eval.yaml"
    path.write_text(yaml.safe_dump(CONFIG))
    return path


@contextmanager
def running(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command as a process of its own, and the address that it prints."""
    command = [sys.executable, "-c", MAIN, "label", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as it:
        try:
            assert it.stdout is not None
            for line in it.stdout:
                if found := re.search(r"http://\S+", line):
                    yield it, found[0]
                    return
            raise AssertionError(it.stderr.read() if it.stderr else "")
        finally:
            it.kill()


def said(index: int, label: str | None, url: str) -> None:
    assert ask(url, f"runs/{index}/label", {"label": label, "note": ""}).status == 200


def test_killed_it_has_lost_nothing_and_goes_on(folder: Path) -> None:
    with running(folder, "--by", "Ann") as (process, url):
        for index, label in enumerate(["success", "failure", "unknown"]):
            said(index, label, url)
        process.send_signal(signal.SIGKILL)
        process.wait(20)
    labels = read_labels(folder / "labels.jsonl").values()
    assert [label.success for label in labels] == [True, False, None]
    assert [label.cannot_tell for label in labels] == [False, False, True]
    with running(folder) as (_, url):
        said(3, "success", url)
    assert len(read_labels(folder / "labels.jsonl")) == 4


def test_ctrl_c_ends_with_a_summary(folder: Path) -> None:
    with running(folder, "--by", "Ann") as (process, url):
        said(0, "success", url)
        said(1, "failure", url)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "Traceback" not in err
    first, failures, successes, path = out.splitlines()
    assert first == "2 of 5 runs labelled by Ann: 1 success, 1 failure, 0 cannot tell"
    assert "false-success rate of at most 95.0% " in failures
    assert "59 for 5%, 149 for 2%, 299 for 1%" in failures
    assert "false-failure" in successes
    assert path == str(folder / "labels.jsonl")


@pytest.mark.parametrize(
    ("failures", "bound", "more"),
    [(59, "5.0%", "149 for 2%, 299 for 1%"), (149, "2.0%", "299 for 1%"), (299, "1.0%", "")],
)
def test_so_many_failures_exclude_so_much(failures: int, bound: str, more: str) -> None:
    tally = Tally("Ann", {str(number): "failure" for number in range(failures)})
    line = next(line for line in lines(tally) if "false-success" in line)
    assert f"at most {bound} (95% confidence)" in line
    assert line.endswith(f"it takes {more}" if more else "confidence)")


def test_a_second_pass_shows_what_was_labelled_in_another_order(folder: Path) -> None:
    with serving(folder) as server:
        labelled = [run.run_id for run in server.session.runs][:4]
        for index, label in enumerate(["success", "failure", "success", "unknown"]):
            said(index, label, server.url)
    before = (folder / "labels.jsonl").read_bytes()
    with serving(folder, again=True) as server:
        runs = [run.run_id for run in server.session.runs]
        assert sorted(runs) == sorted(labelled)
        assert runs != labelled
        assert b'"label": null' in ask(server.url).body
        assert list(lines(server.session.tally()))[1] == "labelled twice: no run yet"
        for run_id, label in zip(
            labelled, ["success", "failure", "failure", "unknown"], strict=True
        ):
            said(runs.index(run_id), label, server.url)
        told = list(lines(server.session.tally()))
    # By chance: (2·1 + 1·2 + 1·1)/16; (3/4 - 5/16)/(1 - 5/16) = 7/11.
    assert told[1] == "labelled twice: 3 of 4 the same, Cohen's kappa 0.64"
    assert (folder / "labels.jsonl").read_bytes() == before
    assert len(read_labels(folder / "labels.again.jsonl")) == 4


def test_a_second_pass_needs_a_first(folder: Path) -> None:
    with (
        pytest.raises(HarnessError, match="label the runs once first"),
        serving(folder, again=True),
    ):
        raise AssertionError


def test_runs_that_nobody_saw_are_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [*rows_of("SF"), *rows_of("oc", "unseen-", observed_at_ns=0)]
    folder = graded_folder(tmp_path / "graded", rows)
    with serving(folder, sample=10) as server:
        assert sorted(run.run_id for run in server.session.runs) == ["r0", "r1"]
    told = capsys.readouterr()
    assert "2 runs without an Observation are left out" in told.err
    assert "2 of 2 runs to label, order and choice by seed 0" in told.out


def test_runs_of_a_bag_are_labelled_with_its_frames(tmp_path: Path, config_path: Path) -> None:
    recorder = Recorder(tmp_path / "bag")
    for number in range(3):
        recorder.a_run(f"bag-{number}", begin_s=10.0 + 5 * number)
    recorder.run("endless", 40.0)
    labels = tmp_path / "labels.jsonl"
    bag = recorder.close()
    with serving(bag, config=config_path, labels=labels) as server:
        assert len(server.session.runs) == 3
        run = ask(server.url, "runs/1").fields
        assert run["postCondition"] == "The gripper holds cup."
        assert run["pictures"] == [{"name": "front", "width": 8, "height": 6}]
        assert run["measured"][:2] == ["width 0.05 m", "force 8 N"]
        assert ask(server.url, "runs/1/0.jpg").body.startswith(b"\xff\xd8")
        said(1, "success", server.url)
        name = server.session.runs[1].run_id
    assert read_labels(labels)[name].success is True


def test_a_grading_is_labelled_with_full_frames_where_its_bags_are_there(
    tmp_path: Path, config_path: Path
) -> None:
    rows = []
    for name in ("one", "two"):
        recorder = Recorder(tmp_path / name)
        recorder.a_run(f"run of {name}")
        rows += rows_of("S", run_id=f"run of {name}", bag=str(recorder.close()))
    folder = graded_folder(tmp_path / "graded", rows, pictures=False)
    with serving(folder, config=config_path) as server:
        for index in (0, 1, 0):
            run = ask(server.url, f"runs/{index}").fields
            assert run["postCondition"] == "The cup is held."
            assert run["pictures"] == [{"name": "front", "width": 8, "height": 6}]
    assert (folder / "labels.jsonl").is_file()


def test_runs_that_a_bag_does_not_know_are_labelled_with_the_kept_pictures(
    tmp_path: Path, config_path: Path
) -> None:
    recorder = Recorder(tmp_path / "bag")
    recorder.frame(10.0)
    rows = rows_of("S", run_id="from a file of runs", bag=str(recorder.close()))
    folder = graded_folder(tmp_path / "graded", rows)
    with serving(folder, config=config_path) as server:
        pictures = ask(server.url, "runs/0").fields["pictures"]
        assert [picture["name"] for picture in pictures] == ["top", "wrist"]
        assert ask(server.url, "runs/0/0.jpg").body.startswith(b"\xff\xd8")


def test_runs_of_a_ledger_are_labelled_with_what_was_judged(
    tmp_path: Path, config_path: Path
) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        for number in range(2):
            record_run(ledger, f"kept-{number}")
    with serving(path, config=config_path, labels=tmp_path / "l.jsonl") as server:
        assert len(server.session.runs) == 2
        run = ask(server.url, "runs/0").fields
        assert run["pictures"] == [{"name": "front", "width": 8, "height": 6}]
        assert run["measured"] == ["as it was seen"]


def record_run(ledger: Ledger, run_id: str) -> None:
    run = Run(
        run_id=run_id,
        call_id=run_id,
        segment=1,
        tool_name="pick",
        arguments={"target": "cup"},
        started_at_ns=1,
        ended_at_ns=2,
    )
    view = View(
        name="front",
        stamp_ns=3,
        frame_id="",
        height=6,
        width=8,
        encoding="mono8",
        step=8,
        is_bigendian=False,
        data=bytes(48),
        topic="/front",
    )
    ledger.record_run(run)
    ledger.record_observation(
        Observation(run_id=run_id, captured_at_ns=3, views=(view,), summary="as it was seen"), 10
    )
    ledger.record_verdict(
        Verdict(
            run_id=run_id,
            call_id=run_id,
            tool_name="pick",
            arguments={"target": "cup"},
            segment=1,
            status=Status.SUCCESS,
            kind=Kind.JUDGED,
        )
    )


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"runs": "gone"}, "gone: no such file"),
        ({"runs": "bag"}, "--labels is wanted"),
        ({"runs": "bag", "labels": "l.jsonl"}, "no results.jsonl.*--config is wanted"),
        ({"runs": "graded", "config": "eval.yaml"}, "evening: no such bag; .*read from its bags"),
        ({"runs": "nothing"}, "none of its 1 runs has an Observation"),
    ],
)
def test_what_does_not_go_together_is_said(
    tmp_path: Path, folder: Path, config_path: Path, options: dict[str, str], part: str
) -> None:
    (tmp_path / "bag").mkdir()
    graded_folder(tmp_path / "nothing", rows_of("o", observed_at_ns=0))
    given = {name: tmp_path / value for name, value in options.items()}
    if options["runs"] == "gone":
        given["labels"] = tmp_path / "l.jsonl"
    with pytest.raises(HarnessError, match=part), served(LabelOptions(**given)):  # type: ignore[arg-type]
        raise AssertionError


def test_two_thousand_runs_are_there_at_once_and_each_label_too(tmp_path: Path) -> None:
    rows = rows_of("SF" * 1000)
    folder = graded_folder(tmp_path / "graded", rows[:1], pictures=True)
    graded_folder(folder, rows, pictures=False)
    with serving(folder) as server:
        assert len(ask(server.url).body) < 500_000
        for index in range(0, 2000, 10):
            said(index, "success", server.url)
    assert len(read_labels(folder / "labels.jsonl")) == 200


def test_the_browser_is_opened_only_when_asked(folder: Path, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    browser = tmp_path / "browser.sh"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part && mv {opened}.part {opened}\n')
    browser.chmod(0o755)
    for option, wanted in (("--seed=1", False), ("--open", True)):
        environment = {**os.environ, "BROWSER": str(browser)}
        command = [sys.executable, "-c", MAIN, "label", str(folder), option]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        ) as process:
            try:
                assert process.stdout is not None
                line = next(line for line in process.stdout if "http://" in line)
                assert ask(line.split()[0]).status == 200
            finally:
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=20)
        assert opened.exists() is wanted
    assert opened.read_text().strip().startswith("http://127.0.0.1:")
