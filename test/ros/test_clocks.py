# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An evaluator in simulated time: without /clock, and with one that goes back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import evidence
import pytest
from conftest import spinning, until
from diagnostic_msgs.msg import DiagnosticStatus
from evidence import DiagnosticsListener, EvidenceRobot, S
from processes import Nodes
from rosgraph_msgs.msg import Clock

from harness_ros import msg
from harness_ros.contract import Kind
from harness_ros.ros.conversion import to_time

CONFIG = Path(__file__).parent / "evidence.yaml"


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    simulated = {"evaluator": {"use_sim_time": "true"}}
    made = Nodes(tmp_path_factory.mktemp("clocks"), CONFIG, simulated)
    yield made
    made.stop_all()


@pytest.fixture(scope="module")
def diagnostics() -> Iterator[DiagnosticsListener]:
    with spinning("diagnostics_listener") as node:
        yield DiagnosticsListener(node)


@pytest.fixture(scope="module")
def robot(nodes: Nodes) -> Iterator[EvidenceRobot]:
    for executable in ("evaluator", "judge_deterministic"):
        nodes.start(executable)
    with spinning("evidence_robot") as node:
        yield EvidenceRobot(node)


def test_simulated_time_without_a_clock_is_told_and_hangs_nothing(
    robot: EvidenceRobot, diagnostics: DiagnosticsListener
) -> None:
    robot.gives("plain", evidence.image)
    # The stamps of run and frames decide, and they are there.
    assert robot.runs("look", lasting_s=2.0).status == msg.Verdict.SUCCESS
    robot.stops()
    verdict = robot.runs("look")
    assert verdict.kind == Kind.OBSERVATION_UNAVAILABLE.value
    assert "use_sim_time is true and no /clock has come" in verdict.failure_reason
    own = "/harness/_evaluator: node"
    assert until(lambda: "no /clock has come" in diagnostics.statuses[own].message, 15.0)
    assert diagnostics.statuses[own].level == DiagnosticStatus.ERROR


def test_jump_of_the_clock_is_told(robot: EvidenceRobot) -> None:
    clock = robot.node.create_publisher(Clock, "/clock", 10)
    assert until(lambda: clock.get_subscription_count() > 0)
    for tenth in range(20):
        clock.publish(Clock(clock=to_time(100 * S + tenth * S // 10)))
        time.sleep(0.02)
    run = robot.starts("look")
    time.sleep(0.5)
    clock.publish(Clock(clock=to_time(50 * S)))
    time.sleep(0.2)
    robot.ends(run)
    assert "the clock jumped by -51.9" in robot.verdict(run).failure_reason
    robot.node.destroy_publisher(clock)
