# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Makes bags with runs, verdicts, frames and joint states of known content."""

import numpy as np
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

from harness_ros.bag.definitions import definition, typestore

SECOND = 1_000_000_000
STORE = typestore()
TYPES = {
    "run": "harness_ros/msg/ToolRun",
    "verdict": "harness_ros/msg/Verdict",
    "image": "sensor_msgs/msg/Image",
    "joints": "sensor_msgs/msg/JointState",
    "info": "sensor_msgs/msg/CameraInfo",
}

CONFIG = {
    "version": 1,
    "cameras": {"front": {"topic": "camera/image_raw"}, "side": {"topic": "/side/image_raw"}},
    "signals": {
        "width": {"topic": "gripper", "type": TYPES["joints"], "field": "position[0]", "unit": "m"},
        "force": {"topic": "gripper", "type": TYPES["joints"], "field": "effort[0]", "unit": "N"},
    },
    "capture": {"settle_s": 0.1, "slop_s": 0.1, "timeout_s": 2.0},
    "judges": {"deterministic": {}},
    "objects": {"cup": {}, "plate": {}},
    "tools": {
        "pick": {
            "post_condition": "The gripper holds {target}.",
            "judge": "deterministic",
            "cameras": ["front"],
            "signals": ["width", "force"],
            "arguments": {"target": {"one_of": ["cup", "plate"]}},
            "criterion": {"success": {"signal": {"name": "width", "min": 0.04}}},
        }
    },
}


def make(message_type, /, **fields):
    return STORE.types[message_type](**fields)


def stamp(ns):
    return make("builtin_interfaces/msg/Time", sec=ns // SECOND, nanosec=ns % SECOND)


def header(ns):
    return make("std_msgs/msg/Header", stamp=stamp(ns), frame_id="camera")


class Recorder:
    """Writes a bag message by message; times are seconds on the clock of the stamps."""

    def __init__(self, path, plugin=StoragePlugin.MCAP, compressed=False):
        self.path = path
        self._writer = Writer(path, version=9, storage_plugin=plugin)
        if compressed:
            self._writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        self._writer.open()
        self._connections = {}

    def write(self, topic, message, log_s):
        message_type = message.__msgtype__
        if topic not in self._connections:
            self._connections[topic] = self._writer.add_connection(
                topic,
                message_type,
                msgdef=definition(STORE, message_type),
                rihs01=STORE.hash_rihs01(message_type),
            )
        data = bytes(STORE.serialize_cdr(message, message_type))
        self._writer.write(self._connections[topic], round(log_s * SECOND), data)

    def run(self, run_id, started_s, ended_s=None, log_s=None, topic="/harness/runs", **changes):
        fields = {
            "phase": 0 if ended_s is None else 1,
            "run_id": run_id,
            "call_id": f"call of {run_id}",
            "segment": 1,
            "tool_name": "pick",
            "arguments": '{"target": "cup"}',
            "started_at": stamp(round(started_s * SECOND)),
            "ended_at": stamp(round((ended_s or 0) * SECOND)),
            **changes,
        }
        at = started_s if ended_s is None else ended_s
        self.write(topic, make(TYPES["run"], **fields), at if log_s is None else log_s)

    def verdict(self, run_id, log_s, topic="/harness/verdicts", **changes):
        fields = {
            "header": header(round(log_s * SECOND)),
            "run_id": run_id,
            "call_id": "",
            "tool_name": "pick",
            "arguments": '{"target": "cup"}',
            "segment": 1,
            "status": 1,
            "evidence": ["width 0.05 m"],
            "failure_reason": "",
            "kind": "",
            "judge": "deterministic",
            "criteria_hash": "ab" * 32,
            "observed_at": stamp(0),
            "confidence": float("nan"),
            "usage": make(
                "harness_ros/msg/JudgeUsage", calls=0, input_tokens=0, output_tokens=0, cost=0.0
            ),
            "error_card": "",
            **changes,
        }
        self.write(topic, make(TYPES["verdict"], **fields), log_s)

    def frame(self, at_s, log_s=None, topic="/harness/camera/image_raw", grey=0, pixels=48):
        """A grey frame of 8x6; with fewer pixels it is broken."""
        image = make(
            TYPES["image"],
            header=header(round(at_s * SECOND)),
            height=6,
            width=8,
            encoding="mono8",
            is_bigendian=0,
            step=8,
            data=np.full(pixels, grey, np.uint8),
        )
        self.write(topic, image, at_s if log_s is None else log_s)

    def joints(self, at_s, width, log_s=None, topic="/harness/gripper"):
        state = make(
            TYPES["joints"],
            header=header(round(at_s * SECOND)),
            name=["finger"],
            position=np.array([width]),
            velocity=np.array([]),
            effort=np.array([8.0]),
        )
        self.write(topic, state, at_s if log_s is None else log_s)

    def calibration(self, at_s, topic="/harness/camera/camera_info"):
        info = make(
            TYPES["info"],
            header=header(round(at_s * SECOND)),
            height=6,
            width=8,
            distortion_model="plumb_bob",
            d=np.zeros(5),
            k=np.array([9.0, 0, 4, 0, 9, 3, 0, 0, 1]),
            r=np.eye(3).ravel(),
            p=np.zeros(12),
            binning_x=0,
            binning_y=0,
            roi=make(
                "sensor_msgs/msg/RegionOfInterest",
                x_offset=0,
                y_offset=0,
                height=0,
                width=0,
                do_rectify=False,
            ),
        )
        self.write(topic, info, at_s)

    def a_run(self, run_id="run-1", begin_s=10.0, width=0.05, **changes):
        """A run of two seconds; frames and joint states each tenth of a second, grey counts up."""
        self.run(run_id, begin_s, **changes)
        for step in range(32):
            at_s = begin_s + 0.05 + step / 10
            if step == 20:
                self.run(run_id, begin_s, begin_s + 2.0, **changes)
            self.frame(at_s, grey=step)
            self.joints(at_s + 0.01, width if step > 20 else 0.0)

    def close(self):
        self._writer.close()
        return self.path
