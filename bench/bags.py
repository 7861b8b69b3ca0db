# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings to grade: three cameras, a gripper, and runs spread evenly over each bag."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import count
from pathlib import Path
from struct import pack_into
from typing import Any

import cv2
import numpy as np
import yaml
from numpy.typing import NDArray

from bench.record import BenchError
from bench.world import CAMERAS, GREY, VGA, Size
from harness_ros.bag.definitions import typestore
from harness_ros.bag.writing import BagWriter

SECOND = 1_000_000_000
BEGIN_NS = 1_700_000_000 * SECOND
CAMERA_HZ, GRIPPER_HZ = 15, 50
RUN_S = 2.0
DELAY_NS = 15_000_000
"""From the stamp of a message to its recording."""
PICTURES = 120
"""Different pictures of a camera: no two in a chunk are the same, so that none compresses away."""
STAMP_OFFSET = 4
"""Of the stamp in a serialized message that begins with std_msgs/Header."""
RESERVE = 1 << 30
"""Bytes that stay free on the disk."""
RUNS, GRIPPER = "/harness/runs", "/bench/gripper/joint_states"
TOOL_RUN, JOINTS = "harness_ros/msg/ToolRun", "sensor_msgs/msg/JointState"
COMPRESSED = "sensor_msgs/msg/CompressedImage"
MARKER = 7
TOOL = "pick"

Event = tuple[int, int, str, bytes]
"""Time of recording, its place among those of the same time, topic, CDR."""


@dataclass(frozen=True)
class Recording:
    """What a bag is to hold."""

    name: str
    seconds: float
    runs: int

    @property
    def camera_topics(self) -> tuple[str, ...]:
        """One a camera."""
        return tuple(topic(camera) for camera in CAMERAS)


def topic(camera: str) -> str:
    """Topic of the JPEG pictures of a camera."""
    return f"/bench/{camera}/image_raw/compressed"


def configuration(folder: Path) -> Path:
    """Writes an eval.yaml whose criterion looks at two pictures and at two signals."""
    signal = {"topic": GRIPPER, "type": JOINTS}
    left = [0.0, 0.0, 0.2, 1.0]
    grey = [{"low": [0, 0, GREY - 40], "high": [180, 60, GREY + 40]}]
    success = [
        {"signal": {"name": "gripper_width", "min": 0.042, "max": 0.056}},
        {"signal": {"name": "gripper_force", "min": 2.0}},
        {"marker": {"view": "front", "id": "{target.marker}", "unseen": "does_not_hold"}},
        {"colour": {"view": "wrist", "ranges": grey, "region": left, "min_fraction": 0.5}},
    ]
    path = folder / "eval.yaml"
    text = yaml.safe_dump(
        {
            "version": 1,
            "cameras": {name: {"topic": topic(name), "type": COMPRESSED} for name in CAMERAS},
            "signals": {
                "gripper_width": {**signal, "field": "position[0]", "unit": "m"},
                "gripper_force": {**signal, "field": "effort[0]", "unit": "N"},
            },
            "capture": {"settle_s": 0.1, "slop_s": 0.05, "timeout_s": 5.0},
            "judges": {"deterministic": {"type": "deterministic"}},
            "objects": {"cup": {"marker": MARKER}, "plate": {"marker": MARKER + 1}},
            "tools": {
                TOOL: {
                    "post_condition": "The gripper holds {target} before the front camera.",
                    "judge": "deterministic",
                    "cameras": list(CAMERAS),
                    "signals": ["gripper_width", "gripper_force"],
                    "arguments": {"target": {"one_of": ["cup", "plate"]}},
                    "criterion": {
                        "success": {"all": success},
                        "otherwise": "the gripper does not hold {target}",
                    },
                }
            },
        }
    )
    path.write_text(text, encoding="utf-8")
    return path


class Messages:
    """Serialized messages, made once: only stamps are put in later."""

    def __init__(self, size: Size = VGA) -> None:
        self._store = typestore()
        self._pictures = [bytearray(self._picture(size, number)) for number in range(PICTURES)]
        self._joints = bytearray(
            self._serialized(
                JOINTS,
                header=self._header(),
                name=["finger"],
                position=np.array([0.05]),
                velocity=np.array([]),
                effort=np.array([8.0]),
            )
        )

    @property
    def picture_bytes(self) -> int:
        """Of one picture, on average."""
        return sum(map(len, self._pictures)) // len(self._pictures)

    def picture(self, number: int, stamp_ns: int) -> bytes:
        """A sensor_msgs/CompressedImage."""
        return _stamped(self._pictures[number % PICTURES], stamp_ns)

    def joints(self, stamp_ns: int) -> bytes:
        """A sensor_msgs/JointState of a gripper that holds something."""
        return _stamped(self._joints, stamp_ns)

    def run(self, run_id: str, number: int, begun_ns: int, ended_ns: int = 0) -> bytes:
        """A harness_ros/ToolRun; every third one should have grasped what is not there."""
        return self._serialized(
            TOOL_RUN,
            phase=int(ended_ns > 0),
            run_id=run_id,
            call_id=run_id,
            segment=1,
            tool_name=TOOL,
            arguments='{"target": "%s"}' % ("plate" if number % 3 == 2 else "cup"),
            started_at=self._time(begun_ns),
            ended_at=self._time(ended_ns),
        )

    def _picture(self, size: Size, number: int) -> bytes:
        noise = np.random.default_rng(number).integers(-16, 17, (size.height, size.width, 3))
        pixels = (GREY + noise).astype(np.uint8)
        side = size.height // 4
        marker = cv2.aruco.generateImageMarker(
            cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11), MARKER, side
        )
        top, left = (size.height - side) // 2, (size.width - side) // 2
        # A white rim: the detector looks for the border of the marker against it.
        pixels[top - 12 : top + side + 12, left - 12 : left + side + 12] = 255
        pixels[top : top + side, left : left + side] = marker[..., None]
        data: NDArray[Any] = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, 80])[1]
        return self._serialized(
            COMPRESSED, header=self._header(), format="jpeg", data=data.reshape(-1)
        )

    def _header(self) -> Any:
        return self._store.types["std_msgs/msg/Header"](stamp=self._time(0), frame_id="camera")

    def _time(self, stamp_ns: int) -> Any:
        seconds, nanoseconds = divmod(stamp_ns, SECOND)
        return self._store.types["builtin_interfaces/msg/Time"](sec=seconds, nanosec=nanoseconds)

    def _serialized(self, message_type: str, **fields: Any) -> bytes:
        message = self._store.types[message_type](**fields)
        return bytes(self._store.serialize_cdr(message, message_type))


def write(
    folder: Path, recording: Recording, messages: Messages, tell: Callable[[str], None]
) -> Path:
    """Writes a bag.

    Raises:
        BenchError: the disk has no room for it.
    """
    needed = round(recording.seconds * CAMERA_HZ * len(CAMERAS) * messages.picture_bytes * 1.05)
    free = shutil.disk_usage(folder).free
    if free < needed + RESERVE:
        raise BenchError(
            f"{folder}: a bag of {needed >> 20} MiB is to be written and {free >> 20} MiB are "
            f"free; {RESERVE >> 20} MiB must stay: choose another disk with --out"
        )
    tell(f"writes {recording.name}, {needed >> 20} MiB")
    path = folder / recording.name
    with BagWriter(path) as bag:
        bag.add_topic(RUNS, TOOL_RUN)
        bag.add_topic(GRIPPER, JOINTS)
        for name in recording.camera_topics:
            bag.add_topic(name, COMPRESSED)
        for log_time_ns, _, name, data in _events(recording, messages):
            bag.write(name, log_time_ns, data)
    return path


def _events(recording: Recording, messages: Messages) -> Iterator[Event]:
    """All messages in the order of recording."""
    cameras = [
        _pictures(recording, messages, rank, name)
        for rank, name in enumerate(recording.camera_topics, 2)
    ]
    return merge(_runs(recording, messages), _joints(recording, messages), *cameras)


def _runs(recording: Recording, messages: Messages) -> Iterator[Event]:
    every_ns = round(recording.seconds * SECOND / recording.runs)
    for number in range(recording.runs):
        run_id = f"{recording.name}-{number:04d}"
        # In the middle of its part of the bag, so that evidence follows.
        begun_ns = BEGIN_NS + number * every_ns + (every_ns - round(RUN_S * SECOND)) // 2
        ended_ns = begun_ns + round(RUN_S * SECOND)
        yield begun_ns, 0, RUNS, messages.run(run_id, number, begun_ns)
        yield ended_ns, 0, RUNS, messages.run(run_id, number, begun_ns, ended_ns)


def _joints(recording: Recording, messages: Messages) -> Iterator[Event]:
    for stamp_ns in _stamps(recording, GRIPPER_HZ):
        yield stamp_ns + DELAY_NS, 1, GRIPPER, messages.joints(stamp_ns)


def _pictures(recording: Recording, messages: Messages, rank: int, name: str) -> Iterator[Event]:
    for number, stamp_ns in enumerate(_stamps(recording, CAMERA_HZ)):
        # Cameras are not triggered together.
        stamp_ns += rank * 1_000_000
        yield stamp_ns + DELAY_NS, rank, name, messages.picture(number + rank * 7, stamp_ns)


def _stamps(recording: Recording, rate_hz: int) -> Iterator[int]:
    for number in count():
        since_ns = number * SECOND // rate_hz
        if since_ns >= recording.seconds * SECOND:
            return
        yield BEGIN_NS + since_ns


def _stamped(data: bytearray, stamp_ns: int) -> bytes:
    pack_into("<iI", data, STAMP_OFFSET, *divmod(stamp_ns, SECOND))
    return bytes(data)
