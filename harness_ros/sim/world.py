# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The tabletop as physics: no rendering, no threads, no clock but its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from harness_ros.sim import model
from harness_ros.sim.errors import SimError
from harness_ros.sim.geometry import BLOCKS, GEOMETRY, XYZ, Geometry

_FINGERS = ("left_finger", "right_finger")
_AXES = ("x", "y", "z")
_AT_REST_M_S = 0.002
_AT_REST_RAD_S = 0.05


@dataclass(frozen=True)
class Pose:
    """Where a block is, in the table's frame."""

    position: XYZ
    """Centre, in metres."""
    quaternion: tuple[float, float, float, float]
    """Orientation as (x, y, z, w), the order of geometry_msgs."""


class Tabletop:
    """A table with blocks, zones, a bin and a two-finger gripper on a gantry.

    The same seed and the same calls give the same physics, step by step.

    Args:
        seed: Chooses where the blocks start.
    """

    def __init__(self, seed: int = 0) -> None:
        self.geometry: Geometry = GEOMETRY
        self.model = model.load()
        self.data = mujoco.MjData(self.model)
        self._bodies = {name: self.model.body(name).id for name in BLOCKS}
        self._geoms = {name: self.model.geom(name).id for name in (*BLOCKS, *_FINGERS)}
        self._velocity = {name: self.model.joint(name).dofadr[0] for name in BLOCKS}
        self._ctrl = {name: self.model.actuator(name).id for name in (*_AXES, *_FINGERS)}
        self._qpos = {name: self.model.joint(name).qposadr[0] for name in (*_AXES, *_FINGERS)}
        self._owed_s = 0.0
        self._place_everything(np.random.default_rng(seed))
        self._last_seen = {name: self.position(name) for name in BLOCKS}

    @property
    def time_s(self) -> float:
        """Simulated seconds since the start."""
        return float(self.data.time)

    @property
    def time_ns(self) -> int:
        """Simulated nanoseconds since the start, exact to the physics step."""
        return round(self.data.time / self.geometry.timestep) * round(self.geometry.timestep * 1e9)

    def step(self, dt: float) -> None:
        """Advances physics by `dt` seconds; what is less than a physics step is kept for later."""
        self._owed_s += dt
        steps = int(self._owed_s / self.geometry.timestep + 1e-6)
        if steps <= 0:
            return
        self._owed_s -= steps * self.geometry.timestep
        mujoco.mj_step(self.model, self.data, nstep=steps)
        if not np.isfinite(self.data.qpos).all():
            raise SimError(f"the physics diverged at {self.time_s:.3f} s")
        for name in BLOCKS:
            if self.on_table(name):
                self._last_seen[name] = self.position(name)

    @property
    def tip(self) -> XYZ:
        """Where the tool tip is: the point between the fingers' ends, in metres."""
        x, y, z = (float(self.data.qpos[self._qpos[axis]]) for axis in _AXES)
        return x, y, z

    def command_tip(self, position: XYZ) -> None:
        """Sets where the tool tip should be, in metres."""
        for axis, value in zip(_AXES, position, strict=True):
            self.data.ctrl[self._ctrl[axis]] = value

    @property
    def gripper_width(self) -> float:
        """Distance between the finger pads in metres."""
        return float(sum(self.data.qpos[self._qpos[finger]] for finger in _FINGERS))

    @property
    def gripper_force(self) -> float:
        """Force with which a finger closes, in newtons; 0 while opening or idle."""
        force = [self.data.actuator_force[self._ctrl[finger]] for finger in _FINGERS]
        return max(0.0, -float(np.mean(force)))

    def command_width(self, width: float) -> None:
        """Sets how far apart the finger pads should be, in metres; 0 squeezes."""
        for finger in _FINGERS:
            self.data.ctrl[self._ctrl[finger]] = width / 2

    def stop(self) -> None:
        """Holds the gantry where it is; the fingers keep their command."""
        self.command_tip(self.tip)

    def position(self, block: str) -> XYZ:
        """Centre of a block in metres."""
        x, y, z = self.data.xpos[self._bodies[block]]
        return float(x), float(y), float(z)

    def pose(self, block: str) -> Pose:
        """Pose of a block."""
        w, x, y, z = (float(v) for v in self.data.xquat[self._bodies[block]])
        return Pose(self.position(block), (x, y, z, w))

    def rotation(self, block: str) -> NDArray[np.float64]:
        """Orientation of a block as a (3, 3) matrix, block to table."""
        return np.array(self.data.xmat[self._bodies[block]]).reshape(3, 3)

    def last_seen(self, block: str) -> XYZ:
        """Centre of a block where it was last on the table or above it, in metres."""
        return self._last_seen[block]

    def on_table(self, block: str) -> bool:
        """Whether a block is on the table or above it, and not fallen to the floor."""
        return self.position(block)[2] > 0.0

    def at_rest(self, block: str | None = None) -> bool:
        """Whether a block, or each of them, stands still."""
        for name in BLOCKS if block is None else (block,):
            first = self._velocity[name]
            linear, angular = np.split(self.data.qvel[first : first + 6], 2)
            if np.abs(linear).max() > _AT_REST_M_S or np.abs(angular).max() > _AT_REST_RAD_S:
                return False
        return True

    def touching(self, block: str) -> frozenset[str]:
        """Which fingers a block is in contact with: `left_finger`, `right_finger`."""
        block_geom = self._geoms[block]
        pairs = {frozenset((int(a), int(b))) for a, b in self.data.contact.geom}
        return frozenset(f for f in _FINGERS if frozenset((block_geom, self._geoms[f])) in pairs)

    @contextmanager
    def friction(self, block: str, value: float) -> Iterator[None]:
        """Gives a block another sliding friction for a while."""
        slide = self.model.geom_friction[self._geoms[block]]
        before = float(slide[0])
        slide[0] = value
        try:
            yield
        finally:
            slide[0] = before

    def _place_everything(self, rng: np.random.Generator) -> None:
        g = self.geometry
        left, right = rng.permutation(2), rng.permutation(2)
        order = (BLOCKS[left[0]], BLOCKS[left[1]], BLOCKS[2 + right[0]], BLOCKS[2 + right[1]])
        for name, start in zip(order, g.starts, strict=True):
            x, y = start + rng.uniform(-g.start_jitter, g.start_jitter, 2)
            turn = rng.uniform(-g.start_yaw, g.start_yaw) / 2
            first = self.model.joint(name).qposadr[0]
            self.data.qpos[first : first + 3] = (x, y, g.block / 2)
            self.data.qpos[first + 3 : first + 7] = (np.cos(turn), 0.0, 0.0, np.sin(turn))
        for axis, value in zip(_AXES, g.home, strict=True):
            self.data.qpos[self._qpos[axis]] = value
        for finger in _FINGERS:
            self.data.qpos[self._qpos[finger]] = g.open_width / 2
        self.command_tip(g.home)
        self.command_width(g.open_width)
        mujoco.mj_forward(self.model, self.data)
