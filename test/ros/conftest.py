# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tests with real nodes run on a domain of its own, so that two runs on one machine never meet."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
import rclpy
from rclpy.action import ActionClient, ActionServer
from rclpy.context import Context
from rclpy.executors import Executor, MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.serialization import deserialize_message

sys.path.insert(0, str(Path(__file__).parent))
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
os.environ["ROS_DOMAIN_ID"] = str(10 + os.getpid() % 80)
# The robot in this process sends images; each node gets the profile that a launch file gives it.
os.environ["FASTRTPS_DEFAULT_PROFILES_FILE"] = str(
    Path(__file__).parents[2] / "config" / "fastdds_shm.xml"
)

from events import until
from processes import NAMESPACE, Nodes
from robot import Robot

from harness_ros import msg
from harness_ros.ros.client import HarnessClient, ToolOutcome
from harness_ros.ros.qos import EVENTS
from harness_ros.ros.threads import wait

if TYPE_CHECKING:  # they import this file
    from planner import Planner
    from raw_tool import RawTool

CONFIG = Path(__file__).parent / "eval.yaml"
Made = TypeVar("Made", bound=Node)


EXECUTABLES = ("evaluator", "judge_deterministic", "scene_graph", "tool_gateway")


@contextmanager
def spinning(
    name: str, executor_type: Callable[..., Executor] = SingleThreadedExecutor
) -> Iterator[Node]:
    """A node in this process, with a context and a thread of its own."""
    with spun(
        lambda context: Node(name, namespace=NAMESPACE, context=context), executor_type
    ) as node:
        yield node


@contextmanager
def spun(
    make: Callable[[Context], Made], executor_type: Callable[..., Executor] = SingleThreadedExecutor
) -> Iterator[Made]:
    """A node of any class, with a context and a thread of its own."""
    context = Context()
    rclpy.init(context=context)
    node = make(context)
    executor = executor_type(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, name=node.get_name(), daemon=True)
    thread.start()
    try:
        yield node
    finally:
        executor.shutdown(timeout_sec=2.0)
        thread.join(timeout=5.0)
        # A server that nobody ends is found by the clients of the next test. Not before: an
        # executor that waits for it would end with an error. Nodes of the project do it themselves.
        for waitable in list(node.waitables) if type(node) is Node else ():
            if isinstance(waitable, (ActionClient, ActionServer)):
                waitable.destroy()
        node.destroy_node()
        rclpy.try_shutdown(context=context)


@pytest.fixture(scope="module")
def planner() -> Iterator[Planner]:
    """Calls tools as a task planner does."""
    from planner import Planner

    with spinning("planner") as node:
        yield Planner(node)


@pytest.fixture(scope="module")
def foreign_server() -> Iterator[RawTool]:
    """The server of the tool `foreign`, of a kind that harness_ros did not make."""
    from raw_tool import RawTool

    with spinning("foreign_arm", MultiThreadedExecutor) as node:
        yield RawTool(node, "foreign")


@pytest.fixture
def foreign(foreign_server: RawTool) -> RawTool:
    """The same as it is at first."""
    foreign_server.reset()
    return foreign_server


class Listener:
    """Keeps all that is said on `runs`, as bytes too, and on `verdicts`, in order."""

    def __init__(self, node: Node) -> None:
        self.runs: list[msg.ToolRun] = []
        self.serialized: list[bytes] = []
        self.verdicts: list[msg.Verdict] = []
        node.create_subscription(msg.ToolRun, "runs", self._on_run, EVENTS, raw=True)
        node.create_subscription(msg.Verdict, "verdicts", self.verdicts.append, EVENTS)

    def _on_run(self, data: bytes) -> None:
        self.serialized.append(data)
        self.runs.append(deserialize_message(data, msg.ToolRun))

    def phases(self, run_id: str) -> list[int]:
        return [run.phase for run in self.runs if run.run_id == run_id]

    def finished(self, run_id: str) -> bool:
        """Waits for the end of a run."""
        return until(lambda: msg.ToolRun.FINISHED in self.phases(run_id))

    def verdicts_of(self, run_id: str) -> list[msg.Verdict]:
        return [verdict for verdict in self.verdicts if verdict.run_id == run_id]


def send(client: ActionClient, goal: Any, on_feedback: Callable[[Any], None] | None = None) -> Any:
    """The goal's handle, accepted or not."""
    sent = client.send_goal_async(goal, feedback_callback=on_feedback)
    assert wait(sent, 10.0), "no answer to a goal"
    return sent.result()


def ended(handle: Any, timeout_s: float = 20.0) -> Any:
    """Status and result of an accepted goal."""
    assert handle.accepted
    future = handle.get_result_async()
    assert wait(future, timeout_s), "no result"
    return future.result()


def cancel(handle: Any) -> None:
    """Returns once the server has accepted to cancel."""
    answered = handle.cancel_goal_async()
    assert wait(answered, 10.0), "no answer to a request to cancel"
    assert answered.result().goals_canceling, answered.result()


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
    assert until(harness.ready, 60.0), chain.logs()
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
