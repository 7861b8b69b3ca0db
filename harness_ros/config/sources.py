# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where evidence comes from: cameras, signals, distances."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from harness_ros.config.base import MessageType, Section, Topic

FIELD_PATTERN = (
    r"^[A-Za-z_]\w*(\[(\d+|[A-Za-z_][\w/-]*)\])?(\.[A-Za-z_]\w*(\[(\d+|[A-Za-z_][\w/-]*)\])?)*$"
)
Direction = Literal["front", "left", "right", "rear"]
CLEARANCE = "clearance."
"""Begins the name of each source of a distance."""


class QosConfig(Section):
    """Quality of service of a subscription, where it is not to follow the publishers."""

    reliability: Literal["reliable", "best_effort"] | None = None
    """By default reliable where every publisher offers that, else best effort (REP 2003)."""
    durability: Literal["volatile", "transient_local"] = "volatile"
    """`transient_local` also gets what was published before, from publishers that keep it."""
    depth: int = Field(default=10, ge=1, le=1000)
    """Messages that wait in the queue of the subscription."""


class SourceConfig(Section):
    """A topic that evidence comes from."""

    topic: Topic
    """Relative names are resolved in the namespace of the evaluator."""
    stamp: Literal["header", "receive"] = "header"
    """`receive` takes the time of reception, for publishers that do not stamp their messages; what
    it shows may be older by the latency of the camera, so choose `settle_s` longer than that."""
    required: bool = True
    """An optional source joins the Observation where it has something in time."""
    rate_hz: float | None = Field(default=None, gt=0, le=10_000)
    """Messages a second that are expected, for diagnostics."""
    qos: QosConfig = QosConfig()
    """Of the subscription, where it is not to follow the publishers."""


class CalibrationConfig(Section):
    """Intrinsic calibration, the numbers of sensor_msgs/CameraInfo."""

    width: int = Field(gt=0)
    """Pixels of the image that it was made with."""
    height: int = Field(gt=0)
    """Pixels."""
    k: tuple[float, float, float, float, float, float, float, float, float]
    """fx 0 cx, 0 fy cy, 0 0 1 in pixels, row by row."""
    d: tuple[float, ...] = ()
    """Distortion; empty where there is none."""
    distortion_model: Literal["plumb_bob", "rational_polynomial", "equidistant"] = "plumb_bob"
    """How the numbers in `d` are meant (sensor_msgs/distortion_models)."""

    @model_validator(mode="after")
    def _focal_length(self) -> CalibrationConfig:
        if self.k[0] <= 0 or self.k[4] <= 0:
            raise ValueError(f"fx {self.k[0]:g} and fy {self.k[4]:g} must be more than 0 pixels")
        return self


class CameraConfig(SourceConfig):
    """A topic of images."""

    type: Literal["sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"] = (
        "sensor_msgs/msg/Image"
    )
    """Type of the topic."""
    encoding: str | None = Field(default=None, min_length=1)
    """What the images really are, where their publisher says something else; the Observation
    records both."""
    calibration: CalibrationConfig | None = None
    """Where no topic has it."""
    info_topic: Topic | None = None
    """Topic of sensor_msgs/msg/CameraInfo, whose calibration the Observation then carries."""

    @model_validator(mode="after")
    def _one_calibration(self) -> CameraConfig:
        if self.calibration is not None and self.info_topic is not None:
            raise ValueError("`calibration` and `info_topic` are both given; one of them is wanted")
        return self


class SignalConfig(SourceConfig):
    """A scalar field of a topic."""

    type: MessageType
    """Any installed message type."""
    field: str = Field(pattern=FIELD_PATTERN)
    """Path into the message: `position[0]`, `wrench.force.z`, or `position[finger_joint]`, which
    looks up the place of that text in the field `name` or `joint_names` beside it or around it, as
    in JointState and JointTrajectory."""
    unit: str = ""
    """SI (REP 103); shown beside the number."""


class DistanceConfig(SourceConfig):
    """A topic that measures the distance to the nearest obstacle in one direction."""

    type: Literal["sensor_msgs/msg/LaserScan", "sensor_msgs/msg/Range"]
    """Type of the topic."""
    sector_deg: tuple[float, float] | None = None
    """Of a LaserScan: from and to which angle, counterclockwise from the x axis of its frame."""
    offset_m: float = 0.0
    """Metres from the sensor to the edge of the base, which are taken off."""

    @model_validator(mode="after")
    def _sector_of_scan(self) -> DistanceConfig:
        scan = self.type == "sensor_msgs/msg/LaserScan"
        if scan and self.sector_deg is None:
            raise ValueError("a LaserScan needs `sector_deg: [from, to]`")
        if not scan and self.sector_deg is not None:
            raise ValueError("`sector_deg` is for a LaserScan; a Range has one direction")
        if self.sector_deg is not None:
            low, high = self.sector_deg
            if not (-360 <= low <= 360 and -360 <= high <= 360 and 0 < high - low <= 360):
                raise ValueError(
                    f"sector_deg {list(self.sector_deg)}: from is less than to, by at most 360, "
                    "each from -360 to 360; the rear is [150, 210]"
                )
        return self


class ClearanceConfig(Section):
    """Where the distances from the base to the nearest obstacles come from."""

    front: DistanceConfig | None = None
    """Along the x axis of the base (REP 103)."""
    left: DistanceConfig | None = None
    """Along its y axis."""
    right: DistanceConfig | None = None
    """Against its y axis."""
    rear: DistanceConfig | None = None
    """Against its x axis."""

    def directions(self) -> dict[str, DistanceConfig]:
        """The directions that are measured."""
        found: dict[str, DistanceConfig | None] = {
            "front": self.front,
            "left": self.left,
            "right": self.right,
            "rear": self.rear,
        }
        return {name: distance for name, distance in found.items() if distance is not None}
