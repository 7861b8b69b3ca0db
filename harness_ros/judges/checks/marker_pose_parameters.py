# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the check `marker_pose`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from harness_ros.contract import Record
from harness_ros.judges.checks.bounds import Bounds, Finite
from harness_ros.judges.checks.marker import Dictionary, check_id
from harness_ros.judges.checks.region import WHOLE_IMAGE, Region
from harness_ros.judges.checks.registry import ViewParameters


class ReferenceMarker(Record):
    """A marker in whose frame the other is measured, such as one that is fixed to the table."""

    id: int = Field(ge=0)
    """Number of the marker in its dictionary."""
    size_m: float = Field(gt=0, allow_inf_nan=False)
    """Side of its black square in metres."""
    dictionary: Dictionary | None = None
    """Name of an OpenCV dictionary; that of the other marker by default."""


class Near(Record):
    """A ball that the marker's centre must lie in."""

    point: tuple[Finite, Finite, Finite]
    """x, y, z in metres."""
    within_m: float = Field(gt=0, allow_inf_nan=False)
    """Greatest distance from the point."""


class Turn(Record):
    """A direction that the marker must be turned to."""

    to_deg: float = Field(allow_inf_nan=False)
    """Angle of the marker's x axis from that of the frame, counterclockwise as seen from the front
    of the reference marker; without one, as the camera sees it, 0 being upright."""
    within_deg: float = Field(gt=0, le=180, allow_inf_nan=False)
    """Greatest difference, either way."""


class MarkerPoseParameters(ViewParameters):
    """Which pose of a marker is wanted; at least one of x, y, z, near, max_tilt_deg, turn."""

    id: int = Field(ge=0)
    """Number of the marker in its dictionary."""
    size_m: float = Field(gt=0, allow_inf_nan=False)
    """Side of its black square in metres."""
    dictionary: Dictionary = "DICT_APRILTAG_36h11"
    """Name of an OpenCV dictionary."""
    relative_to: ReferenceMarker | None = None
    """Marker whose frame is used; without it the optical frame of the camera (REP 103)."""
    x: Bounds | None = None
    """Bounds of the centre in metres: to the right, as the reference marker is printed."""
    y: Bounds | None = None
    """Bounds of the centre in metres: up as the reference marker is printed; without one, down."""
    z: Bounds | None = None
    """Bounds of the centre in metres: out of the reference marker; without one, away from the
    camera."""
    near: Near | None = None
    """How far the centre may be from a point."""
    max_tilt_deg: float | None = Field(default=None, gt=0, lt=180, allow_inf_nan=False)
    """Greatest angle between the marker's normal and that of the reference marker; without one,
    between its normal and the optical axis, 0 being a marker that faces the camera."""
    turn: Turn | None = None
    """How the marker must be turned about its normal."""
    unseen: Literal["unknown", "does_not_hold"] = "unknown"
    """What it means when the marker is not seen at all: it may be hidden, or it must be gone."""
    max_error_px: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    """Greatest difference, in pixels, between the corners as seen and as the pose explains them
    (root of the mean square); above it cannot be told."""
    region: Region = WHOLE_IMAGE
    """Where the marker's centre must be seen to count, as [x_min, y_min, x_max, y_max]."""

    @model_validator(mode="after")
    def _something_is_wanted(self) -> MarkerPoseParameters:
        check_id(self.id, self.dictionary)
        if self.relative_to is not None:
            check_id(self.relative_to.id, self.relative_to.dictionary or self.dictionary)
            same = (self.relative_to.dictionary or self.dictionary) == self.dictionary
            if same and self.relative_to.id == self.id:
                raise PydanticCustomError(
                    "relative_to",
                    "relative_to has the id {id} of the marker itself",
                    {"id": self.id},
                )
        conditions = (self.x, self.y, self.z, self.near, self.max_tilt_deg, self.turn)
        if all(condition is None for condition in conditions):
            raise PydanticCustomError(
                "no_condition",
                "one of `x`, `y`, `z`, `near`, `max_tilt_deg`, `turn` is wanted, none is given",
            )
        return self
