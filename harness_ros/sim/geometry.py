# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where everything stands on the tabletop.

Frame: origin at the middle of the table's surface, x to the right as the front and top
cameras see it, y away from the front camera, z up. Metres, seconds, newtons (REP 103).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

BLOCKS: Final = ("red_block", "green_block", "blue_block", "yellow_block")
ZONES: Final = ("left_zone", "right_zone")
BIN: Final = "bin"
MARKERS: Final = {"red_block": 1, "green_block": 2, "blue_block": 3, "yellow_block": 4}

XY = tuple[float, float]
XYZ = tuple[float, float, float]


@dataclass(frozen=True)
class CameraGeometry:
    """A pinhole camera without distortion."""

    width: int
    """Image width in pixels."""
    height: int
    """Image height in pixels."""
    fovy: float
    """Vertical field of view in degrees."""
    eye: XYZ
    """Optical centre: in the table frame, for the wrist in the frame of the tool tip."""
    target: XYZ
    """A point on the optical axis, in the same frame as the eye."""
    up: XYZ = (0.0, 0.0, 1.0)
    """A direction that is up in the image."""
    shadows: bool = True
    """Whether shadows are drawn; they cost half of the rendering."""


@dataclass(frozen=True)
class Geometry:
    """Every length of the scene in one place."""

    table_x: XY = (-0.40, 0.40)
    """Left and right edge of the table."""
    table_y: XY = (-0.29, 0.27)
    """Front and back edge of the table."""
    table_thickness: float = 0.03
    floor_z: float = -0.55
    """Height of the floor; a block below the table is gone."""

    block: float = 0.05
    """Edge of a block."""
    block_mass: float = 0.2
    """Kilograms: two fingers at full force hold it with friction 0.6, not with 0.05."""
    block_friction: float = 0.6
    starts: tuple[XY, ...] = ((-0.07, -0.145), (-0.07, -0.055), (0.07, -0.145), (0.07, -0.055))
    """Where blocks start: the left pair, then the right pair."""
    start_jitter: float = 0.008
    """Largest displacement of a start along each axis."""
    start_yaw: float = 0.07
    """Largest turn of a start, in radians."""

    zones: dict[str, XY] = field(
        default_factory=lambda: {"left_zone": (-0.30, -0.10), "right_zone": (0.30, -0.10)}
    )
    """Centres of the zones."""
    zone_half: float = 0.09
    """Half the side of a zone."""

    bin_centre: XY = (0.28, 0.13)
    bin_half: XY = (0.075, 0.10)
    """Half the inner width and depth of the bin."""
    bin_wall: float = 0.006
    bin_height: float = 0.045
    bin_floor: float = 0.004
    bin_slots: tuple[float, ...] = (0.065, 0.0, -0.065)
    """Offsets along y at which blocks stand in the bin, in the order in which they are used."""

    parking: tuple[XY, ...] = ((-0.31, 0.17), (-0.21, 0.17), (-0.31, 0.10), (-0.21, 0.10))
    """Where a block that is in the gripper by mistake is put aside."""

    home: XYZ = (0.0, 0.15, 0.23)
    """Pose of the tool tip that shows what the gripper holds and leaves the table in view."""
    transit_z: float = 0.14
    """Height of the tool tip above which a held block passes over all others."""
    grasp_z: float = 0.010
    """Height of the tool tip above the table when grasping and pushing."""
    finger: XYZ = (0.012, 0.026, 0.09)
    """Thickness, width and length of a finger."""
    open_width: float = 0.09
    """Distance between the pads of the open gripper."""
    finger_force: float = 8.0
    """Largest force of a finger."""

    timestep: float = 0.002

    cameras: dict[str, CameraGeometry] = field(
        default_factory=lambda: {
            "front": CameraGeometry(640, 480, 23.4, (0.0, -1.55, 0.88), (0.0, -0.02, 0.10)),
            "top": CameraGeometry(
                640, 480, 30.5, (0.0, -0.01, 1.15), (0.0, -0.01, 0.0), (0.0, 1.0, 0.0)
            ),
            "wrist": CameraGeometry(
                320, 240, 70.0, (0.0, -0.085, 0.10), (0.0, 0.0, 0.03), shadows=False
            ),
        }
    )

    def bin_slot(self, index: int) -> XY:
        """Centre of a slot of the bin."""
        return self.bin_centre[0], self.bin_centre[1] + self.bin_slots[index]


GEOMETRY: Final = Geometry()
