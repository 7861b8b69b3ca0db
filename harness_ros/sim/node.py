# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The tabletop as a robot on the graph: cameras, gripper, /clock and three physical tools.

Node `tabletop`. What really happened goes to a file that no topic shows: parameter `truth`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CompressedImage, Image, JointState

from harness_ros.ros.conversion import to_time
from harness_ros.ros.diagnostics import Diagnostics, Level, Report
from harness_ros.ros.parameters import declare
from harness_ros.ros.spinning import run_node
from harness_ros.ros.tool_server import BackendResult, RunHandle, ToolCancelled, ToolServer
from harness_ros.sim.cameras import CAMERAS
from harness_ros.sim.faults import FaultPlan
from harness_ros.sim.simulation import Motion, Simulation
from harness_ros.sim.tools import TOOLS, Stage
from harness_ros.sim.world import Tabletop

COMPRESSED = frozenset({"wrist"})
"""Cameras that publish JPEG, as small cameras on a wrist often do."""
JPEG_QUALITY = 95


class Drivers:
    """Publishes what the simulated devices give."""

    def __init__(self, node: Node) -> None:
        self._clock = node.create_publisher(Clock, "/clock", 10)
        self._gripper = node.create_publisher(JointState, "tabletop/gripper/state", 10)
        self._images: dict[str, Publisher] = {
            camera: node.create_publisher(
                CompressedImage, f"tabletop/{camera}/image_raw/compressed", 10
            )
            if camera in COMPRESSED
            else node.create_publisher(Image, f"tabletop/{camera}/image_raw", 10)
            for camera in CAMERAS
        }

    def clock(self, time_ns: int) -> None:
        """Publishes /clock."""
        self._clock.publish(Clock(clock=to_time(time_ns)))

    def wants(self, camera: str) -> bool:
        """Whether a camera has a subscriber."""
        return bool(self._images[camera].get_subscription_count())

    def image(self, camera: str, time_ns: int, image: NDArray[np.uint8]) -> None:
        """Publishes a frame."""
        message: Any
        if camera in COMPRESSED:
            bgr = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
            _, jpeg = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
            message = CompressedImage(format="rgb8; jpeg compressed bgr8")
            message.data.frombytes(jpeg.tobytes())
        else:
            height, width, _ = image.shape
            message = Image(height=height, width=width, encoding="rgb8", step=width * 3)
            message.data.frombytes(image.tobytes())
        message.header.stamp = to_time(time_ns)
        message.header.frame_id = f"{camera}_camera_optical_frame"
        self._images[camera].publish(message)

    def gripper(self, time_ns: int, width: float, force: float) -> None:
        """Publishes the gripper's state: position in metres, effort in newtons."""
        state = JointState(name=["gripper"], position=[width], effort=[force])
        state.header.stamp = to_time(time_ns)
        self._gripper.publish(state)


class TruthLog:
    """What really happened, a JSON line a run, in a file of its own.

    Args:
        path: the file; None keeps nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def write(self, run: RunHandle, motion: Motion, fault: str) -> None:
        """Appends a run."""
        if self._path is None:
            return
        line = {
            "run_id": run.run_id,
            "call_id": run.call_id,
            "segment": run.segment,
            "tool": motion.tool,
            "arguments": dict(motion.arguments),
            "holds": motion.holds,
            "fault": fault,
        }
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


class TabletopNode(Node):
    """Node `tabletop`."""

    def __init__(self, **options: Any) -> None:
        overrides = [Parameter("use_sim_time", Parameter.Type.BOOL, True)]
        super().__init__("tabletop", parameter_overrides=overrides, **options)
        seed = declare(self, "seed", 0, "chooses where the blocks lie and which calls fail")
        faults = declare(self, "faults", True, "whether calls fail by physics")
        speed = declare(self, "speed", 1.0, "simulated seconds a second at most", (0.1, 100.0))
        rate = declare(self, "camera_rate", 4.0, "frames a simulated second", (0.5, 60.0))
        truth = declare(self, "truth", "", "file for what really happened; empty keeps nothing")
        self._faults = FaultPlan(seed, enabled=faults)
        self._truth = TruthLog(Path(truth) if truth else None)
        self._calls: dict[str, int] = {}
        self._calls_lock = threading.Lock()
        self._simulation = Simulation(Tabletop(seed), Drivers(self), speed, 1.0 / rate)
        self._servers = [
            ToolServer(self, name, arguments, self._function(name))
            for name, (_, arguments) in TOOLS.items()
        ]
        self._diagnostics = Diagnostics(self, self._reports)
        self._simulation.start()

    def _reports(self) -> Iterator[Report]:
        values = {"calls": len(self._calls), "simulated time (s)": self._simulation.world.time_s}
        yield Report("simulation", Level.OK, f"{len(self._calls)} calls", values)

    def destroy_node(self) -> None:
        """Stops time, then ends."""
        self._simulation.end()
        super().destroy_node()

    def _function(self, tool: str) -> Any:
        generator = TOOLS[tool][0]

        def function(arguments: Any, run: RunHandle) -> BackendResult:
            fault = self._faults.fault(self._number(run.call_id), tool)
            motion = Motion(
                run=generator(self._simulation.world, arguments, fault),
                tool=tool,
                arguments=arguments.model_dump(),
                on_stage=_reporting(run),
            )
            self._simulation.run(motion, lambda: run.cancelled)
            self._truth.write(run, motion, fault.kind.value if fault else "")
            if motion.report is None:
                raise ToolCancelled(f"{tool} was stopped")
            return BackendResult(success=motion.report.success, message=motion.report.message)

        return function

    def _number(self, call_id: str) -> int:
        """Number of a call, counted from 1: its segments share it."""
        with self._calls_lock:
            return self._calls.setdefault(call_id, len(self._calls) + 1)


def _reporting(run: RunHandle) -> Any:
    """Feedback once a stage, not once a tick."""
    last = ""

    def report(stage: Stage) -> None:
        nonlocal last
        if stage.name != last:
            last = stage.name
            run.feedback(stage.name, stage.progress)

    return report


def main() -> int:
    """Runs the tabletop."""
    return run_node(TabletopNode)
