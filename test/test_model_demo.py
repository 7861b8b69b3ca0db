# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`harness-ros demo --judge model`: recorded frames and answers, offline, and honest about both."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

sys.path.append(str(Path(__file__).parents[1] / "scripts"))
sys.path.append(str(Path(__file__).parent / "bag"))

import record_model_demo as recording
from record_model_demo import FOLDER, JUDGE, LIVE, MARK, ROOT, SERVER, Message
from recordings import SECOND, TYPES, Recorder, header, make

from harness_ros import evaluation
from harness_ros.bag.reading import Bag
from harness_ros.bag.storage import Storage
from harness_ros.capture.images import decode
from harness_ros.config import load
from harness_ros.contract import ExitCode, Kind
from harness_ros.grading.grade import observation_of
from harness_ros.grading.results import read_results
from harness_ros.judges.model.question import ask_about
from harness_ros.judges.model.settings import ModelSettings
from harness_ros.sim.demo.folder import DemoError
from harness_ros.sim.demo.recorded import (
    BAG,
    CALLS,
    CASSETTE,
    CONFIG,
    NO_MODEL,
    read_calls,
    run_recorded_demo,
)

AGAIN = "what a model is asked has changed: run scripts/record_model_demo.py again"
PLAYED = read_calls(FOLDER / CALLS)

OFFLINE = """
import sys
from importlib.machinery import PathFinder

MISSING = {"rclpy", "message_filters", "mujoco", "openai", "httpx"}

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        missing = name.split(".")[0] in MISSING
        return None if missing else super().find_spec(name, path, target)

def no_network(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        raise OSError(f"no network in this test: {event} {arguments}")

sys.meta_path = [Without if finder is PathFinder else finder for finder in sys.meta_path]
sys.addaudithook(no_network)
from harness_ros.cli import main

sys.exit(main())
"""


def offline(out: Path) -> subprocess.CompletedProcess[str]:
    """The demo where there is no ROS, no physics, no client, no key and no network."""
    environment = {key: text for key, text in os.environ.items() if "API_KEY" not in key}
    return subprocess.run(
        [sys.executable, "-c", OFFLINE, "demo", "--judge", "model", "--out", str(out)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        cwd=out.parent,
    )


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("model_demo") / "out"


@pytest.fixture(scope="module")
def done(out: Path) -> subprocess.CompletedProcess[str]:
    return offline(out)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the recording that a test may change."""
    return Path(shutil.copytree(FOLDER, tmp_path / "recording"))


def keys(folder: Path) -> dict[str, str]:
    """The key of what is asked about each run, by run_id."""
    config = load(folder / CONFIG)
    settings = config.judges[JUDGE]
    assert isinstance(settings, ModelSettings)
    found = {}
    with Bag(folder / BAG) as bag:
        for recorded in bag.runs():
            seen = observation_of(bag, recorded, config)
            request = evaluation.request(config, recorded.run, seen)
            found[recorded.run.run_id] = ask_about(request, settings).key
    return found


# The recording


def test_every_question_has_an_answer_and_every_answer_a_question() -> None:
    wanted = {f"{key}-1.json" for key in keys(FOLDER).values()}
    assert {path.name for path in (FOLDER / CASSETTE).iterdir()} == wanted, AGAIN


def test_the_recording_is_small() -> None:
    files = [path for path in FOLDER.rglob("*") if path.is_file()]
    assert {path.parent.name for path in files} == {FOLDER.name, CASSETTE}
    assert sum(path.stat().st_size for path in files) < 1_500_000


@pytest.mark.parametrize("path", sorted((FOLDER / CASSETTE).iterdir()), ids=lambda path: path.name)
def test_each_answer_says_that_the_test_server_wrote_it(path: Path) -> None:
    assert "test_server" in path.parent.name
    assert recording.told(path.read_text(encoding="utf-8")) == ""


ANSWER = {"evidence": ["the cube lies in the tray"], "failure_reason": "", "status": "success"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"recorded_from": "api.openai.com"}, "api.openai.com"),
        ({"reply": {"model": SERVER, "text": json.dumps(ANSWER)}}, "not marked"),
        ({"reply": {"model": "gpt", "text": json.dumps({**ANSWER, "evidence": [MARK]})}}, "gpt"),
        ({"key": "/home/somebody/bag"}, "path"),
    ],
)
def test_an_answer_that_does_not_is_found(changes: dict[str, Any], words: str) -> None:
    fine = {
        "recorded_from": "127.0.0.1:4711",
        "reply": {"model": SERVER, "text": json.dumps({**ANSWER, "evidence": [f"{MARK}so"]})},
    }
    assert recording.told(json.dumps(fine)) == ""
    assert words in recording.told(json.dumps({**fine, **changes}))


def test_the_calls_name_nothing_of_the_machine() -> None:
    assert "/" not in (FOLDER / CALLS).read_text(encoding="utf-8")


def test_the_tools_are_those_of_the_live_demo() -> None:
    live, shown = (yaml.safe_load(path.read_text()) for path in (LIVE, FOLDER / CONFIG))
    names = ("description", "arguments", "post_condition", "cameras", "signals", "segments")
    assert shown["tools"].keys() == live["tools"].keys()
    for name, tool in shown["tools"].items():
        assert tool["judge"] == JUDGE
        assert {key: tool.get(key) for key in names} == {
            key: live["tools"][name].get(key) for key in names
        }
    of_push = [config["tools"]["push"]["criterion"]["process"] for config in (shown, live)]
    assert of_push[0] == of_push[1]
    assert (shown["capture"], shown["signals"]) == (live["capture"], live["signals"])


# The demo


def test_the_demo_works_offline(done: subprocess.CompletedProcess[str]) -> None:
    assert (done.returncode, done.stderr) == (0, ""), f"{done.stdout}{done.stderr}\n({AGAIN}?)"


def test_first_and_last_line_say_who_wrote_the_answers(
    done: subprocess.CompletedProcess[str],
) -> None:
    lines = done.stdout.splitlines()
    assert lines[0] == lines[-1] == NO_MODEL
    for words in ("test server", "not by a model", "physics"):
        assert words in NO_MODEL


def test_each_call_is_shown_with_belief_verdict_and_truth(
    done: subprocess.CompletedProcess[str],
) -> None:
    shown = [line for line in done.stdout.splitlines() if ": backend " in line]
    assert len(shown) == len(PLAYED) == 14
    assert {call.true_success for call in PLAYED} == {True, False}
    for call, line in zip(PLAYED, shown, strict=True):
        assert line.split()[:2] == [str(call.number), call.tool]
        assert f"backend {'success' if call.backend_success else 'failure'}," in line
        assert f"verdict {'success' if call.true_success else 'failure'}," in line
        assert f"truth {'holds' if call.true_success else 'does not hold'} ({MARK}" in line


def test_every_verdict_is_as_recorded_and_as_the_physics_says(
    done: subprocess.CompletedProcess[str], out: Path
) -> None:
    rows = {row.run_id: row for row in read_results(out / "results.jsonl")}
    answers = recording.scripted(PLAYED)
    assert rows.keys() == answers.keys()
    for run_id, answer in answers.items():
        row = rows[run_id]
        assert (row.status.name.lower(), row.kind) == (answer["status"], Kind.JUDGED)
        assert list(row.evidence) == answer["evidence"]
        assert row.failure_reason == answer["failure_reason"]
        assert row.judge == JUDGE
    for call in PLAYED:
        last = rows[call.run_ids[-1]]
        assert (last.exit_code is ExitCode.SUCCESS) == call.true_success


def test_the_report_says_who_wrote_the_answers(
    done: subprocess.CompletedProcess[str], out: Path
) -> None:
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "not of a model" in page
    assert "uncalibrated" in page


def test_two_runs_give_the_same_bytes(
    done: subprocess.CompletedProcess[str], out: Path, tmp_path: Path
) -> None:
    assert offline(tmp_path / "again").returncode == 0
    for name in ("results.jsonl", "summary.json", "report.html"):
        assert (tmp_path / "again" / name).read_bytes() == (out / name).read_bytes()


SEGMENT = PLAYED[0].run_ids[0]
FAILURE = next(call.run_ids[-1] for call in PLAYED if not call.true_success)


@pytest.mark.parametrize("run_id", [SEGMENT, FAILURE], ids=["segment", "failure"])
def test_another_frame_has_no_answer_and_none_is_guessed(
    copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], run_id: str
) -> None:
    assert len(PLAYED[0].run_ids) > 1
    change_a_byte(copy / BAG, run_id)
    before, after = keys(FOLDER), keys(copy)
    assert [item for item in after if after[item] != before[item]] == [run_id]
    assert run_recorded_demo(tmp_path / "out", copy) == 1
    rows = {row.run_id: row for row in read_results(tmp_path / "out" / "results.jsonl")}
    row = rows.pop(run_id)
    assert (row.exit_code, row.kind) == (ExitCode.UNJUDGED, Kind.JUDGE_UNAVAILABLE)
    assert "no answer is recorded" in row.failure_reason
    assert after[run_id] in row.failure_reason
    assert {item.kind for item in rows.values()} == {Kind.JUDGED}
    printed = capsys.readouterr().out
    assert printed.count("verdict judge_unavailable") == 1
    assert "agree with the physics in 13 of 14" in " ".join(printed.split())


def change_a_byte(path: Path, run_id: str) -> None:
    """Another byte in the first frame after a run; it decodes to the same pixels."""
    with Bag(path) as bag:
        finished_ns = {item.run.run_id: item.finished_ns for item in bag.runs()}[run_id]
    storage = Storage(path)
    messages = [
        Message(item.log_time_ns, item.topic, item.type, bytes(item.data))
        for item in storage.messages(list(storage.types))
    ]
    storage.close()
    place, frame = next(
        (number, item)
        for number, item in enumerate(messages)
        if item.type == recording.JPEG and item.log_time_ns >= (finished_ns or 0)
    )
    density = frame.data.index(b"JFIF\0") + 9
    data = frame.data[:density] + b"\x7f" + frame.data[density + 1 :]
    assert data != frame.data
    messages[place] = frame._replace(data=data)
    path.unlink()
    recording.write_bag(path, messages)


def test_calls_that_are_not_in_the_recording_are_named(copy: Path, tmp_path: Path) -> None:
    lines = (copy / CALLS).read_text(encoding="utf-8").splitlines(keepends=True)
    (copy / CALLS).write_text("".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(DemoError, match=PLAYED[-1].run_ids[-1]):
        run_recorded_demo(tmp_path / "out", copy)


def test_a_damaged_line_of_calls_is_named(copy: Path, tmp_path: Path) -> None:
    with (copy / CALLS).open("a", encoding="utf-8") as file:
        file.write('{"number": 15}\n')
    with pytest.raises(DemoError, match=r"calls\.jsonl, line 15: tool: Field required"):
        run_recorded_demo(tmp_path / "out", copy)
    assert not (tmp_path / "out").exists()


# The script


def test_the_script_writes_the_same_answers_again(copy: Path) -> None:
    before = answers_in(copy)
    shutil.rmtree(copy / CASSETTE)
    recording.record_answers(copy)
    assert answers_in(copy) == before == answers_in(FOLDER), AGAIN


def answers_in(folder: Path) -> dict[str, Any]:
    """The recorded answers by their files, without when and through which port."""
    found = {}
    for path in (folder / CASSETTE).iterdir():
        content = json.loads(path.read_text(encoding="utf-8"))
        del content["recorded_at"], content["recorded_from"]
        found[path.name] = content
    return found


def test_the_script_keeps_of_a_bag_what_was_seen_after_each_run(tmp_path: Path) -> None:
    demo_out = tmp_path / "demo_out"
    recorder = Recorder(demo_out / "bag")
    arguments = {"target": "red_block", "zone": "left_zone"}
    run = {"tool_name": "push", "arguments": json.dumps(arguments)}
    recorder.run("run-1", 10.0, **run)
    for step in range(30):
        if step == 20:
            recorder.run("run-1", 10.0, 12.0, **run)
        for camera in ("top", "front"):
            topic, at_s = f"/harness/tabletop/{camera}/image_raw", 10.05 + step / 10
            pixels = np.full(20 * 40 * 3, 5 * step, np.uint8)
            image = make(
                TYPES["image"],
                header=header(round(at_s * SECOND)),
                height=20,
                width=40,
                encoding="rgb8",
                is_bigendian=0,
                step=120,
                data=pixels,
            )
            recorder.write(topic, image, at_s)
    recorder.close()
    call = PLAYED[0].model_copy(update={"run_ids": ("run-1",), "arguments": arguments})
    line = {**call.model_dump(mode="json"), "verdict": "is left out"}
    (demo_out / CALLS).write_text(json.dumps(line) + "\n", encoding="utf-8")
    folder = tmp_path / "recording"
    folder.mkdir()
    recording.record_frames(demo_out, folder)
    assert read_calls(folder / CALLS) == [call]
    with Bag(demo_out / "bag") as whole, Bag(folder / BAG) as kept:
        before = observation_of(whole, whole.runs()[0], load(LIVE))
        after = observation_of(kept, kept.runs()[0], load(FOLDER / CONFIG))
        types = kept.storage.types
        messages = list(kept.storage.messages(list(types)))
    assert sorted(set(types.values())) == [TYPES["run"], recording.JPEG]
    assert len(messages) == 4
    assert after.summary == before.summary
    for was, now in zip(before.views, after.views, strict=True):
        assert (now.name, now.stamp_ns, now.frame_id) == (was.name, was.stamp_ns, was.frame_id)
        assert np.abs(decode(now).astype(int) - decode(was).astype(int)).max() <= 2


def test_what_the_test_server_answers_is_marked_and_claims_no_tokens() -> None:
    for answer in recording.scripted(PLAYED).values():
        assert all(line.startswith(MARK) for line in answer["evidence"])
        completion = json.loads(recording.response(answer).body)
        assert completion["model"] == SERVER
        assert "usage" not in completion


# The command


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["harness-ros", "demo", *map(str, arguments)], capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("option", [("--seed", "3"), ("--speed", "2"), ("--config", "eval.yaml")])
def test_options_of_the_live_demo_are_refused_with_the_recording(
    tmp_path: Path, option: tuple[str, str]
) -> None:
    done = command("--judge", "model", "--out", tmp_path / "out", *option)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"harness-ros: {option[0]} is for the live demo")
    assert not (tmp_path / "out").exists()


@pytest.mark.ros
def test_a_configuration_that_lacks_a_tool_of_the_tabletop_is_refused(tmp_path: Path) -> None:
    content = yaml.safe_load(LIVE.read_text(encoding="utf-8"))
    del content["tools"]["push"]
    config = tmp_path / "eval.yaml"
    config.write_text(yaml.safe_dump(content), encoding="utf-8")
    done = command("--config", config, "--out", tmp_path / "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"harness-ros: {config}: tools: push missing")
    assert not (tmp_path / "out").exists()


def test_make_passes_on_who_judges() -> None:
    said = subprocess.run(
        ["make", "-n", "demo", "JUDGE=model"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert "harness-ros demo --judge model" in said.stdout
    assert "--seed" not in said.stdout
