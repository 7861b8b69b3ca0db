# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One good recording in every layout, and what must hold of a grading whatever is done to it."""

import io
import json
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import bags
import cv2
import numpy as np
import yaml
from bags import Message
from recordings import CONFIG, SECOND, STORE, TYPES, Recorder, header, make
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

from harness_ros.bag.definitions import definition
from harness_ros.bag.reading import Bag
from harness_ros.bag.storage import Storage
from harness_ros.cli import main
from harness_ros.config import load
from harness_ros.contract import ExitCode
from harness_ros.grading.grade import grade, judges_of
from harness_ros.grading.row import parse_line

HELD = {"held-aa": 0.05, "lost-bb": 0.01, "held-cc": 0.05}
"""Width of the gripper after each run."""
HELD_IDS = {run_id for run_id, width in HELD.items() if width > 0.04}
BRIGHT = {"low": [0, 0, 60], "high": [180, 255, 255]}
CRITERION = {
    "all": [
        {"signal": {"name": "width", "min": 0.04, "max": 0.08}},
        {"colour": {"view": "front", "ranges": [BRIGHT], "min_fraction": 0.9}},
    ]
}
SIDE = {"topic": "/side/compressed", "type": "sensor_msgs/msg/CompressedImage"}
PICK = {**CONFIG["tools"]["pick"], "cameras": ["front", "side"]}
FUZZ_CONFIG = {
    **CONFIG,
    "cameras": {**CONFIG["cameras"], "side": SIDE},
    "tools": {"pick": {**PICK, "criterion": {"success": CRITERION}}},
}


def write_frames(recorder, at_s, value, **changes):
    """A frame of each camera: 8x6 pixels of RGB, with changes, and as PNG."""
    pixels = np.full((6, 8, 3), value, np.uint8)
    raw = {"height": 6, "width": 8, "encoding": "rgb8", "is_bigendian": 0, "step": 24}
    stamped = header(round(at_s * SECOND))
    fields = {"header": stamped, **raw, "data": pixels.ravel(), **changes}
    image = make(TYPES["image"], **fields)
    recorder.write("/harness/camera/image_raw", image, at_s)
    packed = cv2.imencode(".png", pixels)[1].ravel()
    recorder.write(
        SIDE["topic"], make(SIDE["type"], header=stamped, format="rgb8; png", data=packed), at_s
    )


def recorded(path, runs=True):
    """A bag with the runs of HELD, 5 s apart, with few messages."""
    recorder = Recorder(path)
    for number, (run_id, width) in enumerate(HELD.items()):
        begin_s = 10.0 + 5 * number
        if runs:
            recorder.run(run_id, begin_s)
        for step in range(12):
            at_s = begin_s + 1.85 + step / 20
            if step == 3 and runs:
                recorder.run(run_id, begin_s, begin_s + 2.0)
            write_frames(recorder, at_s, 100 + 12 * number + step)
            recorder.joints(at_s + 0.01, width)
        if runs:
            held = width > 0.04
            reason = "" if held else "the success condition does not hold"
            recorder.verdict(run_id, begin_s + 2.9, status=1 if held else 2, failure_reason=reason)
    return recorder.close()


def messages_of(path):
    with Storage(path) as storage:
        return [
            Message(item.topic, item.log_time_ns, item.data, item.type)
            for item in storage.messages(list(storage.types))
        ]


DEFINITIONS = {
    name: definition(STORE, name)
    for name in (
        "harness_ros/msg/ToolRun",
        "harness_ros/msg/Verdict",
        "sensor_msgs/msg/Image",
        "sensor_msgs/msg/CompressedImage",
        "sensor_msgs/msg/JointState",
    )
}


def _mcap(**options):
    def write(folder, messages):
        bags.mcap(
            folder / "bag_0.mcap",
            messages,
            **{"per_chunk": 10, "definitions": DEFINITIONS, **options},
        )
        bags.metadata(folder, messages, ["bag_0.mcap"])

    return write


def _rosbag2(plugin, mode=None):
    def write(folder, messages):
        folder.rmdir()
        writer = Writer(folder, version=9, storage_plugin=plugin)
        if mode is not None:
            writer.set_compression(mode, CompressionFormat.ZSTD)
        with writer:
            known = {}
            for item in messages:
                if item.topic not in known:
                    known[item.topic] = writer.add_connection(
                        item.topic,
                        item.type,
                        msgdef=DEFINITIONS.get(item.type) or definition(STORE, item.type),
                        rihs01=STORE.hash_rihs01(item.type),
                    )
                writer.write(known[item.topic], item.log_ns, item.data)

    return write


def _split(folder, messages):
    half = len(messages) // 2
    options = {"per_chunk": 10, "definitions": DEFINITIONS}
    bags.mcap(folder / "bag_0.mcap", messages[:half], **options)
    bags.mcap(folder / "bag_1.mcap", messages[half:], **options)
    bags.metadata(folder, messages, ["bag_0.mcap", "bag_1.mcap"])


def _packed(folder, messages):
    _mcap(compression="")(folder, messages)
    bags.packed(folder / "bag_0.mcap")
    bags.metadata(folder, messages, ["bag_0.mcap.zstd"])


def _old_sqlite(folder, messages):
    bags.sqlite(folder / "bag_0.db3", messages, version=2)
    bags.metadata(folder, messages, ["bag_0.db3"], version=4)


LAYOUTS = {
    "zstd": _mcap(),
    "lz4": _mcap(compression="lz4"),
    "split": _split,
    "plain": _mcap(compression="", crc=False),
    "unchunked": _mcap(per_chunk=0),
    "unindexed": _mcap(summary=False),
    "packed": _packed,
    "sqlite": _rosbag2(StoragePlugin.SQLITE3),
    "sqlite messages": _rosbag2(StoragePlugin.SQLITE3, CompressionMode.MESSAGE),
    "old sqlite": _old_sqlite,
    "rosbags": _rosbag2(StoragePlugin.MCAP, CompressionMode.STORAGE),
}
CHECKED = {"zstd", "lz4", "split", "unindexed"}
"""Layouts with a checksum over all that is recorded."""


class Graded(NamedTuple):
    """What a grading left."""

    code: int
    rows: list
    problems: list
    said: str

    def outcomes(self):
        return {row.run_id: (row.status.name, row.kind.value) for row in self.rows}


class Fuzz:
    """Gradings in one folder, and what must hold of each."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.config = self.folder / "eval.yaml"
        self.config.write_text(yaml.safe_dump(FUZZ_CONFIG))
        self.messages = messages_of(recorded(self.folder / "good"))
        self.frames = {item.data for item in self.messages if "Image" in item.type}
        assert len(self.frames) == 72
        self.count = 0

    def bag(self, layout, messages=None, **options):
        """A new folder with the messages in a layout, or in MCAP with options of `bags.mcap`."""
        self.count += 1
        folder = self.folder / f"bag{self.count}"
        folder.mkdir()
        write = _mcap(**options) if options else LAYOUTS[layout]
        write(folder, self.messages if messages is None else messages)
        return folder

    def copy(self, bag):
        """A new folder with the files of a bag."""
        self.count += 1
        return Path(shutil.copytree(bag, self.folder / f"bag{self.count}"))

    def without_runs(self):
        """A new bag with frames and signals alone."""
        return recorded(self.folder / "bare", runs=False)

    def grade(self, *given):
        """The grading of bags by the command, in this process: its options are `given`."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        arguments = ["harness-ros", "grade", "--config", self.config, "--out", out, *given]
        said = io.StringIO()
        with (
            patch.object(sys, "argv", [str(item) for item in arguments]),
            redirect_stdout(said),
            redirect_stderr(said),
        ):
            code = main()
        results = out / "results.jsonl"
        rows = (
            [parse_line(line) for line in results.read_text().split("\n")[:-1]]
            if results.exists()
            else []
        )
        problems = []
        if (out / "summary.json").exists():
            problems = json.loads((out / "summary.json").read_text())["problems"]
            assert (out / "report.html").exists(), said.getvalue()
        return check(Graded(code, rows, [item["problem"] for item in problems], said.getvalue()))

    def observations(self, path, rows):
        """What each successful row was judged by."""
        config = load(self.config)
        if not any(row.exit_code is ExitCode.SUCCESS for row in rows):
            return
        with Bag(path) as bag:
            found = {item.run.run_id: item for item in bag.runs()}
            for row in rows:
                if row.exit_code is ExitCode.SUCCESS:
                    graded = grade(bag, row.bag, found[row.run_id], config, judges_of(config))
                    assert graded.row == row
                    yield graded.observation


def check(graded):
    """What holds of every grading."""
    assert graded.code == (0 if graded.rows else 2)
    ids = [row.run_id for row in graded.rows]
    assert len(ids) == len(set(ids))
    for row in graded.rows:
        assert "the grading failed" not in row.failure_reason, row.failure_reason
        assert "the judge failed" not in row.failure_reason, row.failure_reason
        if row.exit_code is ExitCode.SUCCESS:
            assert row.evidence
            assert row.observed_at_ns > row.ended_at_ns >= row.started_at_ns
        else:
            assert row.failure_reason, row
    assert "Traceback" not in graded.said
    if not graded.rows:
        assert graded.problems or graded.said.startswith("harness-ros: "), "nobody says why"
    return graded
