# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tests with real nodes run on a domain of its own, so that two runs on one machine never meet."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
os.environ["ROS_DOMAIN_ID"] = str(10 + os.getpid() % 80)
os.environ["FASTRTPS_DEFAULT_PROFILES_FILE"] = str(
    Path(__file__).parents[2] / "config" / "fastdds_shm.xml"
)

from processes import Nodes
from robot import Robot

from harness_ros.ros.client import HarnessClient, ToolOutcome

CONFIG = Path(__file__).parent / "eval.yaml"


EXECUTABLES = ("evaluator", "judge_deterministic", "scene_graph", "tool_gateway")


@dataclass
class Chain:
    """All nodes of harness_ros, a robot and a planner's client."""

    nodes: Nodes
    robot: Robot
    harness: HarnessClient

    def call(self, tool: str = "pick", target: str = "red_block", **options: Any) -> ToolOutcome:
        return self.harness.run_tool(tool, {"target": target}, **options)

    def logs(self) -> str:
        return "\n".join(node.text() for node in self.nodes.running.values())


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    made = Nodes(tmp_path_factory.mktemp("nodes"), CONFIG)
    yield made
    made.stop_all()


@pytest.fixture(scope="module")
def robot() -> Iterator[Robot]:
    made = Robot()
    yield made
    made.close()


@pytest.fixture(scope="module")
def harness() -> Iterator[HarnessClient]:
    with HarnessClient() as client:
        yield client


@pytest.fixture(scope="module")
def started(nodes: Nodes, robot: Robot, harness: HarnessClient) -> Chain:
    """The chain, warm: discovery is done and a first call has gone through."""
    for executable in EXECUTABLES:
        nodes.start(executable)
    chain = Chain(nodes, robot, harness)
    outcome = chain.call()
    assert outcome.succeeded, (outcome, chain.logs())
    return chain


@pytest.fixture
def chain(started: Chain) -> Chain:
    """The chain with the robot in its first state."""
    started.robot.reset()
    for executable in EXECUTABLES:
        started.nodes.start(executable)
    return started
