# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot that gives evidence well or badly, and says of its own runs when they begin and end."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from conftest import Listener, until
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, Image, JointState, LaserScan, Range

from harness_ros import msg
from harness_ros.ros.conversion import to_time
from harness_ros.ros.qos import EVENTS

RELIABLE = QoSProfile(depth=10)
BEST_EFFORT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
RED, BLUE = (255, 0, 0), (0, 0, 255)
S = 1_000_000_000


def image(colour: tuple[int, int, int] = RED, size: tuple[int, int] = (24, 32)) -> Image:
    """rgb8 of one colour, without a stamp."""
    pixels = np.full((*size, 3), colour, np.uint8)
    message = Image(height=size[0], width=size[1], encoding="rgb8", step=size[1] * 3)
    message.data.frombytes(pixels.tobytes())
    return message


class EvidenceRobot:
    """Publishes what a test gives it at 25 Hz; what a test does not give is not published."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.listener = Listener(node)
        self._runs = node.create_publisher(msg.ToolRun, "runs", EVENTS)
        self._published: dict[str, tuple[Any, Callable[[], Any]]] = {}
        self._publishers: dict[tuple[str, Any], Any] = {}
        self._numbers = itertools.count(1)
        self.behind_ns = 0
        """How far the clock of the tool is behind that of the cameras."""
        node.create_timer(0.04, self._publish, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def gives(
        self,
        topic: str,
        make: Callable[[], Any] | None,
        qos: QoSProfile = RELIABLE,
        stamp: Callable[[int], int] | None = lambda now_ns: now_ns,
    ) -> None:
        """Publishes on /evidence/<topic> from now on; None for `make` announces it and is silent.

        Args:
            stamp: from the present time to the stamp of the message; None leaves it as it is.
        """
        example = make() if make else image()
        key = (topic, qos.reliability)
        if key not in self._publishers:
            self._publishers[key] = self.node.create_publisher(
                type(example), f"/evidence/{topic}", qos
            )
        publisher = self._publishers[key]

        def message() -> Any:
            if make is None:
                return None
            made = make()
            if stamp is not None:
                made.header.stamp = to_time(stamp(self.now_ns()))
            return made

        self._published[topic] = (publisher, message)

    def stops(self) -> None:
        """Publishes nothing any more, and no longer says that it would."""
        self._published = {}
        for publisher in self._publishers.values():
            self.node.destroy_publisher(publisher)
        self._publishers = {}

    def now_ns(self) -> int:
        return int(self.node.get_clock().now().nanoseconds)

    def starts(self, tool: str, run_id: str = "") -> msg.ToolRun:
        """Says that a run began."""
        run = msg.ToolRun(
            phase=msg.ToolRun.STARTED,
            run_id=run_id or f"{tool}-{next(self._numbers)}-{time.monotonic_ns()}",
            segment=1,
            tool_name=tool,
            arguments="{}",
            started_at=to_time(self.now_ns() - self.behind_ns),
        )
        self._runs.publish(run)
        return run

    def ends(self, run: msg.ToolRun) -> None:
        """Says that a run ended now."""
        run.phase = msg.ToolRun.FINISHED
        run.ended_at = to_time(self.now_ns() - self.behind_ns)
        self._runs.publish(run)

    def verdict(self, run: msg.ToolRun, timeout_s: float = 10.0) -> msg.Verdict:
        """Waits for the one verdict of a run."""
        assert until(lambda: self.listener.verdicts_of(run.run_id), timeout_s), run
        (verdict,) = self.listener.verdicts_of(run.run_id)
        return verdict

    def runs(self, tool: str, lasting_s: float = 0.3) -> msg.Verdict:
        """A run from its beginning to its verdict; it lasts until its sources had a chance."""
        assert until(lambda: self._runs.get_subscription_count() > 1, 30.0), "no evaluator"
        run = self.starts(tool)
        time.sleep(lasting_s)
        self.ends(run)
        return self.verdict(run)

    def _publish(self) -> None:
        for publisher, make in list(self._published.values()):
            message = make()
            if message is not None:
                publisher.publish(message)


class DiagnosticsListener:
    """The last status of each name, and how many messages each node sent."""

    def __init__(self, node: Node) -> None:
        self.statuses: dict[str, DiagnosticStatus] = {}
        self.arrivals: dict[str, list[float]] = {}
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_array, 100)

    def _on_array(self, message: DiagnosticArray) -> None:
        for status in message.status:
            self.statuses[status.name] = status
        who = message.status[0].name.split(":")[0]
        self.arrivals.setdefault(who, []).append(time.monotonic())

    def values(self, name: str) -> dict[str, str]:
        status = self.statuses.get(name)
        return {item.key: item.value for item in status.values} if status else {}


def joints(**positions: float) -> JointState:
    return JointState(name=list(positions), position=list(positions.values()))


def wrench(z: float) -> WrenchStamped:
    message = WrenchStamped()
    message.wrench.force.z = z
    return message


def scan(**metres: float) -> LaserScan:
    """360 beams of a degree, counterclockwise from straight behind; 5 m where nothing is said."""
    ranges = np.full(360, 5.0)
    for direction, value in metres.items():
        ranges[{"front": 180, "left": 270, "rear": 0, "right": 90}[direction]] = value
    return LaserScan(
        angle_min=-np.pi,
        angle_max=np.pi - np.pi / 180,
        angle_increment=np.pi / 180,
        range_min=0.1,
        range_max=10.0,
        ranges=ranges.tolist(),
    )


def distance(metres: float) -> Range:
    return Range(min_range=0.02, max_range=4.0, range=metres)


def camera_info() -> CameraInfo:
    k = [300.0, 0.0, 16.0, 0.0, 300.0, 12.0, 0.0, 0.0, 1.0]
    return CameraInfo(height=24, width=32, distortion_model="plumb_bob", k=k, d=[0.1] * 5)
