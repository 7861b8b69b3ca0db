# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A bag played to live nodes in simulated time, beside the same bag graded offline."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from conftest import Listener, spinning, until
from processes import Nodes
from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from harness_ros.bag.reading import TOOL_RUN, VERDICT, Bag
from harness_ros.bag.storage import Storage
from harness_ros.config import load
from harness_ros.contract import Verdict
from harness_ros.grading.grade import grade, judges_of
from harness_ros.grading.row import GradedRun
from harness_ros.ledger import Ledger
from harness_ros.ros.conversion import to_time
from harness_ros.ros.qos import EVENTS
from harness_ros.ros.sources import message_class

sys.path.append(str(Path(__file__).parents[1] / "bag"))

from recordings import CONFIG, Recorder

RATE = 2.0
"""Recorded seconds a second."""


class Player:
    """Publishes what a bag holds, its verdicts left out, with /clock beside."""

    def __init__(self, node: Node, path: Path) -> None:
        self._storage = Storage(path)
        self._clock = node.create_publisher(Clock, "/clock", 10)
        self._publishers = {
            topic: node.create_publisher(
                message_class(type_name), topic, EVENTS if type_name == TOOL_RUN else 10
            )
            for topic, type_name in self._storage.types.items()
            if type_name != VERDICT
        }

    def is_heard(self) -> bool:
        """Whether somebody waits for runs and for the time."""
        runs = next(p for t, p in self._publishers.items() if self._storage.types[t] == TOOL_RUN)
        return runs.get_subscription_count() > 1 and self._clock.get_subscription_count() > 0

    def play(self) -> None:
        """From the beginning to the end."""
        began_ns, began = 0, time.monotonic()
        for message in self._storage.messages(list(self._publishers)):
            began_ns = began_ns or message.log_time_ns
            due = began + (message.log_time_ns - began_ns) / 1e9 / RATE
            time.sleep(max(0.0, due - time.monotonic()))
            self._clock.publish(Clock(clock=to_time(message.log_time_ns)))
            self._publishers[message.topic].publish(message.data)


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    recorder = Recorder(tmp_path_factory.mktemp("recorded") / "bag")
    recorder.a_run("held", begin_s=10.0, width=0.05)
    recorder.a_run("dropped", begin_s=14.0, width=0.01)
    return Path(recorder.close())


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("config") / "eval.yaml"
    path.write_text(yaml.safe_dump(CONFIG))
    return path


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory, config: Path) -> Iterator[Nodes]:
    simulated = {"evaluator": {"use_sim_time": "true"}}
    made = Nodes(tmp_path_factory.mktemp("replay"), config, simulated)
    yield made
    made.stop_all()


@pytest.fixture(scope="module")
def graded(bag: Path, config: Path) -> dict[str, GradedRun]:
    loaded = load(config)
    with Bag(bag) as opened:
        rows = [grade(opened, "bag", run, loaded, judges_of(loaded)).row for run in opened.runs()]
    return {row.run_id: row for row in rows}


def test_live_nodes_judge_a_played_bag_as_grading_does_also_when_it_begins_anew(
    nodes: Nodes, bag: Path, graded: dict[str, GradedRun]
) -> None:
    for executable in ("evaluator", "judge_deterministic"):
        nodes.start(executable)
    with spinning("player") as node:
        listener = Listener(node)
        player = Player(node, bag)
        assert until(player.is_heard, 30.0)
        time.sleep(1.0)  # the judge's service is looked for by the evaluator alone
        player.play()
        assert until(lambda: len(listener.verdicts) == 2), nodes.running["evaluator"].text()
        # Time goes back, and the same runs come again: they have their verdicts.
        player.play()
        assert until(lambda: len(listener.runs) == 8)
        assert len(listener.verdicts) == 2
    with Ledger(nodes.ledger) as ledger:
        live: list[Verdict] = [verdict for _, verdict in ledger.verdicts_after(0)]
        seen = {verdict.run_id: ledger.observation(verdict.run_id) for verdict in live}
    assert {verdict.run_id for verdict in live} == {"held", "dropped"} == graded.keys()
    for verdict in live:
        row = graded[verdict.run_id]
        assert (verdict.status, verdict.kind) == (row.status, row.kind)
        assert verdict.evidence == row.evidence
        assert verdict.observed_at_ns == row.observed_at_ns
        observation = seen[verdict.run_id]
        assert observation is not None
        assert observation.summary == row.observation_summary
