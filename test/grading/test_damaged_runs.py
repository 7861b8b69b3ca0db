# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs whose messages make no sense: each has its row, none is a success, each problem is named."""

import json
import math

import numpy as np
import pytest
import yaml
from action_status import goals
from fuzzing import DEFINITIONS, Fuzz, write_frames
from recordings import SECOND, TYPES, Recorder, header, make, stamp


@pytest.fixture(scope="module")
def fuzz(tmp_path_factory):
    return Fuzz(tmp_path_factory.mktemp("gradings"))


@pytest.fixture
def recorder(tmp_path):
    return Recorder(tmp_path / "bag")


def evidence(recorder, end_s, width=0.05):
    """What a success is judged by, from the end of a run on."""
    for step in range(6):
        write_frames(recorder, end_s + 0.05 + step / 10, 120)
        recorder.joints(end_s + 0.06 + step / 10, width)


def only(graded):
    (row,) = graded.rows
    return row.status.name, row.kind.value, row.failure_reason


# Stamps


def test_a_run_that_ended_before_it_began_is_no_success(fuzz, recorder):
    recorder.run("one", 10.0)
    recorder.run("one", 10.0, 9.0, log_s=12.0)
    evidence(recorder, 12.0)
    assert only(fuzz.grade(recorder.close())) == (
        "FAILURE",
        "invalid_run",
        "it ended 1000000000 ns before it began",
    )


def test_a_run_without_a_stamp_of_its_end_is_no_success(fuzz, recorder):
    recorder.run("one", 0.0, log_s=1.0)
    recorder.run("one", 0.0, 0.0, phase=1, log_s=2.0)
    for step in range(10):
        write_frames(recorder, 0.05 + step / 10, 120)
        recorder.joints(0.06 + step / 10, 0.05)
    status, kind, reason = only(fuzz.grade(recorder.close()))
    assert (status, kind) == ("FAILURE", "invalid_run")
    assert "ended_at is 0" in reason


@pytest.mark.parametrize(("sec", "nanosec"), [(-5, 0), (12, 4_000_000_000), (12, SECOND)])
def test_a_stamp_that_is_none_is_no_success_and_is_named(fuzz, recorder, sec, nanosec):
    recorder.run("one", 10.0)
    ended = make("builtin_interfaces/msg/Time", sec=sec, nanosec=nanosec)
    recorder.run("one", 10.0, 12.0, ended_at=ended)
    evidence(recorder, 12.0)
    graded = fuzz.grade(recorder.close())
    status, kind, reason = only(graded)
    assert (status, kind) == ("FAILURE", "invalid_run")
    assert f"ended_at is {sec} s and {nanosec} ns" in reason
    assert f"/harness/runs: {reason}" in graded.problems


def test_frames_that_are_not_stamped_are_no_evidence(fuzz, recorder):
    recorder.run("one", 10.0)
    recorder.run("one", 10.0, 12.0)
    unstamped = make(
        TYPES["image"],
        **{"header": header(0), "height": 6, "width": 8, "encoding": "rgb8"},
        **{"is_bigendian": 0, "step": 24, "data": np.full(144, 120, np.uint8)},
    )
    for step in range(6):
        recorder.write("/harness/camera/image_raw", unstamped, 12.05 + step / 10)
        recorder.joints(12.05 + step / 10, 0.05)
    status, kind, reason = only(fuzz.grade(recorder.close()))
    assert (status, kind) == ("FAILURE", "observation_unavailable")
    assert "front" in reason


# One id, several runs


def test_a_second_run_of_the_same_id_is_named_and_the_first_counts(fuzz, recorder):
    for begin_s, width in ((10.0, 0.01), (20.0, 0.05)):
        recorder.run("one", begin_s)
        recorder.run("one", begin_s, begin_s + 2.0)
        evidence(recorder, begin_s + 2.0, width)
    graded = fuzz.grade(recorder.close())
    assert only(graded)[:2] == ("FAILURE", "")
    assert len(graded.problems) == 2
    assert "started_at_ns 20000000000 after 10000000000" in graded.problems[1]
    assert all("/harness/runs: the messages of run one contradict" in x for x in graded.problems)


@pytest.mark.parametrize("changes", [{"tool_name": "place"}, {"started_at": stamp(11 * SECOND)}])
def test_an_end_that_tells_of_another_run_is_no_success(fuzz, recorder, changes):
    recorder.run("one", 10.0)
    recorder.run("one", 10.0, 12.0, **changes)
    evidence(recorder, 12.0)
    graded = fuzz.grade(recorder.close())
    status, kind, reason = only(graded)
    assert (status, kind) == ("FAILURE", "invalid_run")
    assert "the messages of run one contradict each other" in reason
    assert f"/harness/runs: {reason}; the first counts" in graded.problems


def test_an_end_before_a_start_that_contradicts_it_is_no_success(fuzz, recorder):
    recorder.run("one", 10.0, 12.0)
    evidence(recorder, 12.0)
    recorder.run("one", 30.0)
    assert only(fuzz.grade(recorder.close()))[:2] == ("FAILURE", "invalid_run")


def test_messages_that_are_there_twice_are_no_problem(fuzz, recorder):
    for _ in range(2):
        recorder.run("one", 10.0)
    for _ in range(2):
        recorder.run("one", 10.0, 12.0)
    evidence(recorder, 12.0)
    graded = fuzz.grade(recorder.close())
    assert only(graded)[0] == "SUCCESS"
    assert graded.problems == []


def test_a_start_without_an_end_and_an_end_without_a_start_are_told(fuzz, recorder):
    recorder.run("first", 10.0)
    recorder.run("second", 10.0, 12.0)
    evidence(recorder, 12.0)
    graded = fuzz.grade(recorder.close())
    assert graded.outcomes() == {"first": ("FAILURE", "interrupted"), "second": ("SUCCESS", "")}
    (problem,) = graded.problems
    assert problem == "/harness/runs: run second: its start is not in the bag before its end"


# Text


@pytest.mark.parametrize("arguments", ["{", "[1]", '{"target": NaN}', '{"target": "\\ud800"}'])
def test_a_run_with_arguments_that_are_none_has_its_row(fuzz, recorder, arguments):
    recorder.run("one", 10.0, arguments=arguments)
    recorder.run("one", 10.0, 12.0, arguments=arguments)
    evidence(recorder, 12.0)
    graded = fuzz.grade(recorder.close())
    status, kind, reason = only(graded)
    assert (status, kind) == ("FAILURE", "invalid_run")
    assert reason.startswith("arguments are")
    assert f"/harness/runs: {reason}" in graded.problems


def test_a_run_without_an_id_and_a_name_that_is_no_text_are_named(fuzz, recorder):
    recorder.run("", 10.0, 12.0)
    recorder.run("whole", 20.0)
    recorder.run("whole", 20.0, 22.0)
    evidence(recorder, 22.0)
    path = recorder.close()
    (file,) = path.glob("*.mcap")
    data = file.read_bytes()
    at = data.rindex(b"\6\0\0\0whole\0") + 4
    file.write_bytes(data[:at] + b"\xff\xfe" + data[at + 2 :])
    graded = fuzz.grade(path)
    assert graded.outcomes() == {"whole": ("FAILURE", "interrupted")}
    assert "has no run_id" in graded.problems[1]
    assert "are no harness_ros/msg/ToolRun" in graded.problems[0]


def test_any_text_is_an_id_and_leaves_the_folder_of_results_alone(fuzz, recorder):
    ids = ["../../out", "<b>\u2028\x00\x1b[31m", "x" * 70_000]
    for number, run_id in enumerate(ids):
        recorder.run(run_id, 10.0 + 5 * number)
        recorder.run(run_id, 10.0 + 5 * number, 12.0 + 5 * number)
        evidence(recorder, 12.0 + 5 * number)
    graded = fuzz.grade(recorder.close())
    assert graded.outcomes() == {run_id: ("SUCCESS", "") for run_id in ids}


def test_a_verdict_that_contradicts_an_earlier_one_or_is_none_is_named(fuzz, recorder):
    recorder.run("one", 10.0)
    recorder.run("one", 10.0, 12.0)
    evidence(recorder, 12.0)
    recorder.verdict("one", 12.7, status=2, failure_reason="it fell")
    recorder.verdict("one", 12.8)
    recorder.verdict("one", 12.9, status=77)
    graded = fuzz.grade(recorder.close())
    (row,) = graded.rows
    assert (row.status.name, row.recorded.status.name) == ("SUCCESS", "FAILURE")
    assert "verdict of run one: 77" in graded.problems[0]
    assert "verdict of run one: success after failure; the first counts" in graded.problems[1]


# Evidence


@pytest.mark.parametrize(
    "changes",
    [
        {"width": 0, "height": 0, "step": 0, "data": np.empty(0, np.uint8)},
        {"width": 0, "step": 0},
        {"step": 7},
        {"height": 4_000_000_000},
        {"encoding": ""},
        {"encoding": "colours"},
        {"data": np.zeros(143, np.uint8)},
    ],
)
def test_a_picture_that_is_none_is_no_evidence(fuzz, recorder, changes):
    recorder.run("one", 10.0)
    recorder.run("one", 10.0, 12.0)
    for step in range(6):
        at_s = 12.05 + step / 10
        write_frames(recorder, at_s, 120, **changes)
        recorder.joints(at_s, 0.05)
    status, kind, reason = only(fuzz.grade(recorder.close()))
    assert (status, kind) == ("FAILURE", "observation_unavailable")
    assert "front" in reason


@pytest.mark.parametrize("width", [math.nan, math.inf, -math.inf])
def test_a_signal_that_is_no_number_is_no_success(fuzz, recorder, width):
    recorder.run("one", 10.0)
    recorder.run("one", 10.0, 12.0)
    evidence(recorder, 12.0, width)
    assert only(fuzz.grade(recorder.close()))[:2] == ("FAILURE", "inconclusive")


def test_a_topic_of_another_type_is_named(fuzz, recorder):
    recorder.run("one", 10.0)
    recorder.run("one", 10.0, 12.0)
    evidence(recorder, 12.0)
    recorder.joints(12.1, 0.05, topic="/harness/odd")
    path = recorder.close()
    other = yaml.safe_load(fuzz.config.read_text())
    other["cameras"]["front"]["topic"] = "odd"
    config = path.parent / "other.yaml"
    config.write_text(yaml.safe_dump(other))
    status, kind, reason = only(fuzz.grade(path, "--config", config))
    assert (status, kind) == ("FAILURE", "observation_unavailable")
    assert "'front' (/harness/odd) is sensor_msgs/msg/JointState" in reason


# Files of runs, goals of actions


@pytest.fixture(scope="module")
def bare(fuzz):
    return fuzz.without_runs()


@pytest.mark.parametrize(
    ("started", "ended"),
    [
        ("nan", "12"),
        ("10", "inf"),
        ("-1", "12"),
        ("10", "1e999"),
        ("10", "9" * 5000),
        ("10", "\u00b2"),
        ("10", "1960-01-01"),
        ("10", "9999-12-31"),
        ("10", ""),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_file_with_a_stamp_that_is_none_is_refused_with_its_line(
    fuzz, bare, tmp_path, started, ended, suffix
):
    path = tmp_path / f"runs.{suffix}"
    if suffix == "csv":
        path.write_text(f"run_id,tool,started,ended\none,pick,{started},{ended}\n")
    else:
        row = {"run_id": "one", "tool": "pick", "started": started, "ended": ended}
        path.write_text("\n" + json.dumps(row) + "\n")
    graded = fuzz.grade(bare, "--runs", path)
    assert (graded.code, graded.rows) == (2, [])
    assert f"{path}:2: {'started' if started != '10' else 'ended'} is '" in graded.said
    assert len(graded.said) < 400


@pytest.mark.parametrize("number", ["NaN", "-1", "1e999", "9" * 400, f"-{'9' * 400}", "[]", "null"])
def test_a_number_in_json_that_is_no_stamp_is_refused(fuzz, bare, tmp_path, number):
    path = tmp_path / "runs.jsonl"
    path.write_text(f'{{"run_id": "one", "tool": "pick", "started": {number}, "ended": 12}}\n')
    graded = fuzz.grade(bare, "--runs", path)
    assert (graded.code, graded.rows) == (2, [])
    assert f"{path}:1: " in graded.said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "column ['ended', 'run_id', 'started', 'tool'] is missing"),
        ("run_id,tool,started\n", "column ['ended'] is missing"),
        ("run_id,run_id,tool,started,ended\n", "column ['run_id'] is there twice"),
        ("run_id,tool,started,ended\na,pick,1,2,3\n", "more values than the 4 columns"),
        ("run_id,tool,started,ended\na,pick,1\n", "ended is None"),
        ("run_id,tool,started,ended\na,pick,1,2\na,pick,3,4\n", "run_id 'a' is there twice"),
        (f"run_id,tool,started,ended\n{'x' * 140_000},pick,1,2\n", "no CSV"),
    ],
)
def test_a_file_of_runs_that_is_no_table_is_refused(fuzz, bare, tmp_path, text, words):
    path = tmp_path / "runs.csv"
    path.write_text(text)
    graded = fuzz.grade(bare, "--runs", path)
    assert (graded.code, graded.rows) == (2, [])
    assert words in graded.said


def test_half_a_surrogate_pair_in_a_file_is_refused(fuzz, bare, tmp_path):
    for name, fields in (("runs", '"tool": "pick", "started": 10'), ("labels", '"label": "1"')):
        path = tmp_path / f"{name}.jsonl"
        path.write_text(f'{{"run_id": "\\ud800", {fields}}}\n')
        graded = fuzz.grade(bare, f"--{name}", path)
        assert (graded.code, graded.rows) == (2, [])
        assert str(path) in graded.said


def test_statuses_of_an_action_that_cannot_be_read_are_named(fuzz, tmp_path):
    recorder = Recorder(tmp_path / "bag")
    for step in range(40):
        at_s = 10 + step / 10
        if step in (5, 20):
            status = {1: 2 if step == 5 else 4}
            recorder.write("/arm/pick/_action/status", goals(status, 10.5), at_s)
        write_frames(recorder, at_s, 120)
        recorder.joints(at_s + 0.01, 0.05)
    path = recorder.close()
    tool = ("--tool", '/arm/pick=pick{"target": "cup"}')
    assert only(fuzz.grade(path, *tool))[0] == "SUCCESS"
    (file,) = path.glob("*.mcap")
    data = bytearray(file.read_bytes())
    # The list of the last status is said to be longer than the message.
    at = data.rindex((1).to_bytes(16, "big")) - 4
    assert data[at] == 1
    data[at] = 200
    file.write_bytes(data)
    graded = fuzz.grade(path, *tool)
    assert only(graded)[:2] == ("FAILURE", "interrupted")
    assert "/arm/pick/_action/status" in graded.problems[0]


# Definitions


def test_a_definition_in_another_order_is_not_used(fuzz):
    image = DEFINITIONS["sensor_msgs/msg/Image"]
    swapped = image.replace("height", "x").replace("width", "height").replace("x", "width")
    graded = fuzz.grade(
        fuzz.bag("zstd", definitions={**DEFINITIONS, "sensor_msgs/msg/Image": swapped})
    )
    assert {row.kind.value for row in graded.rows} == {"observation_unavailable"}
    said = "its definition of sensor_msgs/msg/Image is not that of this version"
    assert said in graded.problems[0]


def test_runs_whose_definition_lacks_a_field_are_not_guessed(fuzz):
    said = DEFINITIONS["harness_ros/msg/ToolRun"]
    lacking = "\n".join(line for line in said.splitlines() if "ended_at" not in line)
    graded = fuzz.grade(
        fuzz.bag("zstd", definitions={**DEFINITIONS, "harness_ros/msg/ToolRun": lacking})
    )
    assert (graded.code, graded.rows) == (2, [])
    assert "it has no field 'ended_at'" in graded.problems[0]
