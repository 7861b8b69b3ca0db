# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The evaluator under load, with a slow judge, with a full disk, and what it tells of itself."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import evidence
import pytest
from conftest import spinning, until
from diagnostic_msgs.msg import DiagnosticStatus
from evidence import DiagnosticsListener, EvidenceRobot
from processes import Nodes
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node

from harness_ros import msg, srv
from harness_ros.contract import Kind
from harness_ros.ledger import Ledger

CONFIG = Path(__file__).parent / "evidence.yaml"
ERROR = DiagnosticStatus.ERROR


class SlowJudge:
    """Serves `_evaluate/slow`; answers success once it is let go."""

    def __init__(self, node: Node) -> None:
        self.go = threading.Event()
        self.asked = threading.Semaphore(0)
        node.create_service(
            srv.Evaluate,
            "_evaluate/slow",
            self._on_evaluate,
            callback_group=ReentrantCallbackGroup(),
        )

    def _on_evaluate(self, _: Any, response: Any) -> Any:
        self.asked.release()
        assert self.go.wait(30.0)
        response.status, response.judge = msg.Verdict.SUCCESS, "slow"
        return response


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    made = Nodes(tmp_path_factory.mktemp("evaluator"), CONFIG)
    yield made
    made.stop_all()


@pytest.fixture(scope="module")
def slow_judge() -> Iterator[SlowJudge]:
    with spinning("_judge_slow", partial(MultiThreadedExecutor, num_threads=8)) as node:
        yield SlowJudge(node)


@pytest.fixture(scope="module")
def diagnostics() -> Iterator[DiagnosticsListener]:
    with spinning("diagnostics_listener") as node:
        yield DiagnosticsListener(node)


@pytest.fixture(scope="module")
def robot(
    nodes: Nodes, slow_judge: SlowJudge, diagnostics: DiagnosticsListener
) -> Iterator[EvidenceRobot]:
    for executable in ("evaluator", "judge_deterministic"):
        nodes.start(executable)
    with spinning("evidence_robot") as node:
        made = EvidenceRobot(node)
        made.gives("plain", evidence.image)
        verdict = made.runs("look", lasting_s=2.0)
        assert verdict.status == msg.Verdict.SUCCESS, (verdict, nodes.running["evaluator"].text())
        yield made


def test_slow_judge_holds_up_no_other_run(robot: EvidenceRobot, slow_judge: SlowJudge) -> None:
    slow_judge.go.clear()
    slow = [robot.starts("look_slowly") for _ in range(3)]
    time.sleep(0.2)
    for run in slow:
        robot.ends(run)
    for _ in slow:
        assert slow_judge.asked.acquire(timeout=10.0)
    quick = [robot.runs("look", lasting_s=0.1) for _ in range(5)]
    assert {verdict.status for verdict in quick} == {msg.Verdict.SUCCESS}
    assert not any(robot.listener.verdicts_of(run.run_id) for run in slow)
    slow_judge.go.set()
    assert {robot.verdict(run).judge for run in slow} == {"slow"}


def test_many_runs_of_many_tools_at_once_get_one_verdict_each(
    robot: EvidenceRobot, slow_judge: SlowJudge
) -> None:
    slow_judge.go.set()
    robot.gives("second", evidence.image)
    robot.gives("wrench", lambda: evidence.wrench(7.0))
    robot.gives("scan", lambda: evidence.scan(front=1.0, rear=0.3))
    robot.gives("range", lambda: evidence.distance(2.0))
    tools = ("look", "look_twice", "look_slowly", "press", "drive")
    runs = [robot.starts(tool) for tool in tools * 12]
    time.sleep(1.0)
    for run in runs:
        robot.ends(run)
    verdicts = [robot.verdict(run, timeout_s=30.0) for run in runs]
    assert {(v.tool_name, v.status) for v in verdicts} == {
        (tool, msg.Verdict.SUCCESS) for tool in tools
    }


def test_end_that_tells_of_another_run_is_no_success(robot: EvidenceRobot) -> None:
    run = robot.starts("look")
    time.sleep(0.1)
    run.started_at.sec -= 5
    robot.ends(run)
    verdict = robot.verdict(run)
    assert (verdict.status, verdict.kind) == (msg.Verdict.FAILURE, "invalid_run")
    assert "contradict each other: started_at_ns" in verdict.failure_reason


def test_run_that_ended_before_it_began_is_no_success(robot: EvidenceRobot) -> None:
    run = robot.starts("look")
    robot.behind_ns = 2_000_000_000
    try:
        robot.ends(run)
    finally:
        robot.behind_ns = 0
    verdict = robot.verdict(run)
    assert (verdict.status, verdict.kind) == (msg.Verdict.FAILURE, "invalid_run")
    assert "ns before it began" in verdict.failure_reason


def test_verdict_that_cannot_be_written_is_kept_and_written_once_it_can(
    robot: EvidenceRobot, nodes: Nodes, diagnostics: DiagnosticsListener
) -> None:
    runs = "/harness/_evaluator: runs"
    with closing(sqlite3.connect(nodes.ledger, timeout=20.0)) as database:
        database.execute(
            "CREATE TRIGGER full BEFORE INSERT ON verdict"
            " BEGIN SELECT raise(ABORT, 'the disk is full'); END"
        )
        database.commit()
        run = robot.starts("look")
        time.sleep(0.2)
        robot.ends(run)
        assert until(lambda: diagnostics.values(runs).get("verdicts not written yet") == "1")
        assert diagnostics.statuses[runs].level == ERROR
        # Nobody hears of a verdict that a crash could take away.
        assert robot.listener.verdicts_of(run.run_id) == []
        database.execute("DROP TRIGGER full")
        database.commit()
    assert robot.verdict(run).status == msg.Verdict.SUCCESS
    assert until(lambda: diagnostics.values(runs).get("verdicts not written yet") == "0")
    assert "the disk is full" in nodes.running["evaluator"].text()


def test_failing_callback_is_the_verdict_of_its_run_and_an_error_in_the_diagnostics(
    robot: EvidenceRobot, nodes: Nodes, diagnostics: DiagnosticsListener
) -> None:
    with closing(sqlite3.connect(nodes.ledger, timeout=20.0)) as database:
        database.execute(
            "CREATE TRIGGER odd BEFORE UPDATE OF ended_at_ns ON run"
            " BEGIN SELECT raise(ABORT, 'odd'); END"
        )
        database.commit()
        verdict = robot.runs("look")
        database.execute("DROP TRIGGER odd")
        database.commit()
    assert verdict.kind == Kind.INTERRUPTED.value
    assert "the evaluator failed" in verdict.failure_reason
    assert f"run {verdict.run_id}" in nodes.running["evaluator"].text()
    own = "/harness/_evaluator: node"
    assert until(lambda: verdict.run_id in diagnostics.statuses[own].message)
    assert diagnostics.statuses[own].level == ERROR
    assert robot.runs("look").status == msg.Verdict.SUCCESS


def test_diagnostics_come_once_a_second_from_each_node(
    robot: EvidenceRobot, diagnostics: DiagnosticsListener
) -> None:
    for node in ("/harness/_evaluator", "/harness/_judge_deterministic"):
        seen = len(diagnostics.arrivals.get(node, []))
        assert until(lambda node=node, seen=seen: len(diagnostics.arrivals[node]) >= seen + 4)
        arrivals = diagnostics.arrivals[node][-4:]
        assert 2.5 <= arrivals[-1] - arrivals[0] <= 3.5


def test_diagnostics_tell_of_cameras_judges_runs_and_verdicts(
    robot: EvidenceRobot, diagnostics: DiagnosticsListener
) -> None:
    run = robot.starts("look")
    camera = "/harness/_evaluator: source plain"
    assert until(lambda: diagnostics.values(camera).get("armed") == "True")
    assert until(lambda: float(diagnostics.values(camera)["rate (Hz)"] or 0) > 15.0)
    values = diagnostics.values(camera)
    assert values["topic"] == "/evidence/plain"
    assert abs(float(values["offset of stamps (s)"])) < 0.5
    assert abs(float(values["age (s)"])) < 2.0
    assert int(values["lost"]) == 0
    assert diagnostics.values("/harness/_evaluator: runs")["runs open"] == "1"
    robot.ends(run)
    robot.verdict(run)
    assert until(lambda: diagnostics.values(camera)["armed"] == "False")
    judge = diagnostics.values("/harness/_evaluator: judge deterministic")
    assert int(judge["answered"]) >= 1
    assert 0.0 < float(judge["latency median (s)"]) < 2.0
    runs = diagnostics.values("/harness/_evaluator: runs")
    assert int(runs["verdicts.success"]) >= 1
    assert int(runs["kind.interrupted"]) >= 1
    assert int(diagnostics.values("/harness/_judge_deterministic: judge")["asked"]) >= 1


def test_run_that_goes_on_while_the_evaluator_is_killed_and_started_is_judged(
    robot: EvidenceRobot, nodes: Nodes, diagnostics: DiagnosticsListener
) -> None:
    run = robot.starts("look")
    assert until(lambda: robot.node.count_subscribers("/evidence/plain") > 0)
    nodes.kill("evaluator")
    diagnostics.statuses.clear()
    nodes.start("evaluator")
    camera = "/harness/_evaluator: source plain"
    assert until(lambda: int(diagnostics.values(camera).get("received", 0)) > 0, 30.0)
    robot.ends(run)
    assert robot.verdict(run).status == msg.Verdict.SUCCESS


def test_run_whose_judge_was_still_at_work_when_the_evaluator_was_killed_is_judged(
    robot: EvidenceRobot, nodes: Nodes, slow_judge: SlowJudge
) -> None:
    slow_judge.go.clear()
    run = robot.starts("look_slowly")
    time.sleep(0.3)
    robot.ends(run)
    assert slow_judge.asked.acquire(timeout=10.0)

    def kept() -> bool:
        with Ledger(nodes.ledger) as ledger:
            return ledger.observation(run.run_id) is not None

    assert until(kept)
    nodes.kill("evaluator")
    robot.stops()
    nodes.start("evaluator")
    assert slow_judge.asked.acquire(timeout=30.0)
    slow_judge.go.set()
    assert robot.verdict(run, timeout_s=20.0).status == msg.Verdict.SUCCESS
