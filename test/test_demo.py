# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`harness-ros demo` as a newcomer runs it: every node a process, real physics, a real bag."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rosbags.highlevel import AnyReader

from harness_ros.bag.reading import Bag
from harness_ros.config import load
from harness_ros.grading.grade import grade, judges_of
from harness_ros.ledger import Ledger
from harness_ros.ros.deployment import PROFILE_VARIABLE, share_folder

COMMAND = ["harness-ros", "demo"]


def environment(domain: str) -> dict[str, str]:
    """That of a newcomer's shell, on a domain of its own."""
    ours = {key: value for key, value in os.environ.items() if key != PROFILE_VARIABLE}
    return {**ours, "ROS_DOMAIN_ID": domain, "COLUMNS": "160"}


def processes_of(domain: str) -> list[str]:
    """Command lines of nodes on a domain."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            variables = (folder / "environ").read_bytes()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if f"ROS_DOMAIN_ID={domain}".encode() in variables.split(b"\0"):
            found.append(command)
    return [command for command in found if "lib/harness_ros/" in command]


@pytest.fixture(scope="module")
def domain() -> str:
    return str(100 + os.getpid() % 100)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, domain: str) -> Path:
    out = tmp_path_factory.mktemp("demo") / "out"
    done = subprocess.run(
        [*COMMAND, "--seed", "0", "--out", str(out)],
        env=environment(domain),
        capture_output=True,
        text=True,
        timeout=400,
    )
    logs = "\n".join(path.read_text()[-2000:] for path in (out / "logs").glob("*.log"))
    assert done.returncode == 0, (done.stdout, done.stderr, logs)
    assert "agrees with the physics in 14 of 14" in " ".join(done.stdout.split())
    return out


@pytest.mark.timeout(500)
def test_every_verdict_agrees_with_the_physics(demo: Path) -> None:
    summary: dict[str, Any] = json.loads((demo / "summary.json").read_text())
    assert summary["calls"] >= 12
    assert summary["agree"] == summary["calls"]
    assert summary["false_success"] == 0
    assert summary["backend_success"] - summary["true_success"] >= 4
    assert summary["judged_success"] == summary["true_success"]
    assert summary["runs"] == summary["verdicts"] >= summary["calls"]


def test_scene_changes_once_for_each_success(demo: Path) -> None:
    summary = json.loads((demo / "summary.json").read_text())
    assert summary["scene_updates"] == summary["judged_success"]


def test_each_judged_run_left_pictures(demo: Path) -> None:
    calls = [json.loads(line) for line in (demo / "calls.jsonl").read_text().splitlines()]
    assert (demo / "overview.png").read_bytes().startswith(b"\x89PNG")
    for call in calls:
        for segment in range(1, len(call["run_ids"]) + 1):
            pattern = f"{call['number']:02d}_{call['tool']}_{segment}_*.png"
            assert len(list((demo / "observations").glob(pattern))) == 2, pattern


def test_bag_holds_what_happened_with_its_definitions(demo: Path) -> None:
    summary = json.loads((demo / "summary.json").read_text())
    with AnyReader([demo / "bag"]) as bag:
        counts = {item.topic: item.msgcount for item in bag.connections}
        runs = [
            bag.deserialize(data, item.msgtype)
            for item, _, data in bag.messages(
                [item for item in bag.connections if item.topic == "/harness/runs"]
            )
        ]
        verdicts = [
            bag.deserialize(data, item.msgtype)
            for item, _, data in bag.messages(
                [item for item in bag.connections if item.topic == "/harness/verdicts"]
            )
        ]
    assert set(counts) == {
        "/harness/runs",
        "/harness/verdicts",
        "/harness/tabletop/front/image_raw",
        "/harness/tabletop/top/image_raw",
        "/harness/tabletop/wrist/image_raw/compressed",
        "/harness/tabletop/gripper/state",
    }
    assert min(counts.values()) > 0
    assert Counter(run.phase for run in runs) == {0: summary["runs"], 1: summary["runs"]}
    assert {run.run_id for run in runs} == {verdict.run_id for verdict in verdicts}
    assert len(verdicts) == summary["verdicts"]


def test_grading_the_recorded_bag_gives_the_verdicts_of_the_robot(demo: Path) -> None:
    config = load(share_folder() / "config" / "tabletop.yaml")
    judges = judges_of(config)
    with Ledger(demo / "ledger.sqlite") as ledger, Bag(demo / "bag") as bag:
        live = {verdict.run_id: verdict for _, verdict in ledger.verdicts_after(0)}
        rows = [grade(bag, "demo", recorded, config, judges).row for recorded in bag.runs()]
        summaries = {run_id: ledger.observation(run_id, with_views=False) for run_id in live}
    assert len(rows) == len(live) >= 14
    for row in rows:
        verdict, seen = live[row.run_id], summaries[row.run_id]
        assert (row.status, row.kind) == (verdict.status, verdict.kind)
        assert row.failure_reason == verdict.failure_reason
        assert row.evidence == verdict.evidence
        assert row.observed_at_ns == verdict.observed_at_ns
        assert row.criteria_hash == verdict.criteria_hash
        assert row.agrees_with_recorded
        assert seen is not None
        assert row.observation_summary == seen.summary


def test_demo_leaves_no_process(demo: Path, domain: str) -> None:
    assert processes_of(domain) == []


def heed_sigint() -> None:
    """What a background job inherits is to ignore SIGINT; a person's terminal gives the default."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_interrupted_demo_leaves_no_process(tmp_path: Path) -> None:
    domain = str(20 + os.getpid() % 50)
    out = tmp_path / "out"
    said = tmp_path / "said"
    with said.open("wb") as output:
        demo = subprocess.Popen(
            [*COMMAND, "--out", str(out)],
            env=environment(domain),
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=heed_sigint,
        )
    deadline = time.monotonic() + 60.0
    while not (out / "truth.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert len(processes_of(domain)) == 6
    # As from a keyboard: the whole group hears it.
    os.killpg(demo.pid, signal.SIGINT)
    assert demo.wait(30) == 130, said.read_text()
    assert processes_of(domain) == []


def test_killed_demo_leaves_no_process(tmp_path: Path) -> None:
    domain = str(20 + os.getpid() % 50)
    out = tmp_path / "out"
    demo = subprocess.Popen(
        [*COMMAND, "--out", str(out)],
        env=environment(domain),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60.0
    while len(processes_of(domain)) < 6 and time.monotonic() < deadline:
        time.sleep(0.05)
    demo.kill()
    demo.wait()
    deadline = time.monotonic() + 20.0
    while processes_of(domain) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_of(domain) == []


def test_demo_does_not_replace_a_folder_that_is_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    done = subprocess.run([*COMMAND, "--out", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 2
    assert str(tmp_path) in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "thesis.tex").read_text() == "years of work"
