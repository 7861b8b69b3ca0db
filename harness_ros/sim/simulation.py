# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Time on the tabletop: one thread that steps the physics, moves the tools and renders.

Tools are started from other threads and waited for there. Nothing here knows of ROS.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from harness_ros.sim import truth
from harness_ros.sim.cameras import CAMERAS, Cameras
from harness_ros.sim.errors import SimError
from harness_ros.sim.tools import TICK_S, BackendReport, Stage, ToolRun
from harness_ros.sim.world import Tabletop


class Outputs(Protocol):
    """Where the simulation sends what a robot's drivers would publish."""

    def clock(self, time_ns: int) -> None:
        """Simulated time."""

    def wants(self, camera: str) -> bool:
        """Whether anybody looks at a camera; one that nobody looks at is not rendered."""

    def image(self, camera: str, time_ns: int, image: NDArray[np.uint8]) -> None:
        """A frame: RGB uint8 (height, width, 3)."""

    def gripper(self, time_ns: int, width: float, force: float) -> None:
        """Distance between the finger pads in metres, closing force of a finger in newtons."""


@dataclass
class Motion:
    """A tool that runs."""

    run: ToolRun
    tool: str
    arguments: Mapping[str, str]
    on_stage: Callable[[Stage], None]
    done: threading.Event = field(default_factory=threading.Event)
    report: BackendReport | None = None
    """None when it was stopped before its end."""
    holds: bool = False
    """Whether the post-condition holds in the physics at the end."""
    stop: bool = False


class Simulation:
    """Runs a tabletop in a thread.

    Args:
        world: the tabletop; belongs to the thread from `start` on.
        outputs: is called from the thread.
        speed: simulated seconds a second at most.
        camera_period_s: simulated seconds between frames of a camera.
    """

    CLOCK_PERIOD_S = 0.02
    GRIPPER_PERIOD_S = 0.05

    def __init__(
        self, world: Tabletop, outputs: Outputs, speed: float, camera_period_s: float
    ) -> None:
        self.world = world
        """Only its thread touches it while time passes."""
        self._outputs = outputs
        self._speed = speed
        self._periods = {
            self._send_clock: self.CLOCK_PERIOD_S,
            self._send_gripper: self.GRIPPER_PERIOD_S,
            self._send_images: camera_period_s,
        }
        self._motion: Motion | None = None
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="simulation", daemon=True)

    def start(self) -> None:
        """Lets time pass."""
        self._thread.start()

    def end(self) -> None:
        """Stops time; a tool that runs is stopped with it."""
        self._ending.set()
        self._thread.join(timeout=10.0)

    def run(self, motion: Motion, cancelled: Callable[[], bool]) -> None:
        """Runs a tool; blocks until it has ended, was cancelled, or time stopped.

        Raises:
            SimError: another tool moves the gripper now, or the simulation broke.
        """
        with self._lock:
            if self._motion is not None:
                raise SimError(f"the gripper is busy with {self._motion.tool}")
            self._motion = motion
        while not motion.done.wait(0.02):
            if cancelled():
                motion.stop = True
            if not self._thread.is_alive():
                raise SimError(f"the simulation broke: {self._failure!r}")

    def _run(self) -> None:
        cameras = Cameras(self.world)
        self._cameras = cameras
        due = dict.fromkeys(self._periods, 0.0)
        try:
            wall, simulated = time.monotonic(), self.world.time_s
            while not self._ending.is_set():
                self._advance_motion()
                self.world.step(TICK_S)
                now = self.world.time_s
                for send, period in self._periods.items():
                    if now >= due[send] - TICK_S / 2:
                        due[send] = now + period
                        send()
                ahead = (now - simulated) / self._speed - (time.monotonic() - wall)
                if ahead > 0:
                    time.sleep(ahead)
                elif ahead < -0.5:
                    # Rendering cannot keep up: time goes slower, it does not catch up in jumps.
                    wall, simulated = time.monotonic(), now
        except BaseException as error:
            self._failure = error
            raise
        finally:
            cameras.close()
            if self._motion is not None:
                self._finish(self._motion)

    def _advance_motion(self) -> None:
        motion = self._motion
        if motion is None:
            return
        if motion.stop:
            motion.run.close()
            self._finish(motion)
            return
        try:
            motion.on_stage(next(motion.run))
        except StopIteration as end:
            motion.report = end.value
            self._finish(motion)

    def _finish(self, motion: Motion) -> None:
        motion.holds = truth.holds(self.world, motion.tool, motion.arguments)
        # Whoever stamps the end must not be behind the physics.
        self._send_clock()
        self._motion = None
        motion.done.set()

    def _send_clock(self) -> None:
        self._outputs.clock(self.world.time_ns)

    def _send_gripper(self) -> None:
        world = self.world
        self._outputs.gripper(world.time_ns, world.gripper_width, world.gripper_force)

    def _send_images(self) -> None:
        for camera in CAMERAS:
            if self._outputs.wants(camera):
                self._outputs.image(camera, self.world.time_ns, self._cameras.render(camera))
