# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The recorder's bag holds what grading needs."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import CONFIG, Chain, spinning, until
from processes import Nodes, command
from rclpy.qos import qos_profile_sensor_data
from rosbags.highlevel import AnyReader
from sensor_msgs.msg import Image

from harness_ros import msg
from harness_ros.contract import Status
from harness_ros.ros.client import ToolOutcome

FRONT = "/robot/front/image_raw"
TOPICS = {
    FRONT: "sensor_msgs/msg/Image",
    "/robot/top/image_raw": "sensor_msgs/msg/Image",
    "/robot/gripper": "sensor_msgs/msg/JointState",
    "/harness/runs": "harness_ros/msg/ToolRun",
    "/harness/verdicts": "harness_ros/msg/Verdict",
}


@dataclass
class Recorded:
    """What was recorded, and what others saw of it."""

    messages: dict[str, list[Any]]
    types: dict[str, str]
    times_ns: list[int]
    outcome: ToolOutcome
    front: bytes
    """The image that the front camera published."""
    heard: set[tuple[int, int]]
    """Stamps of the front camera that another subscriber heard."""


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    folder = tmp_path_factory.mktemp("recorder")
    made = Nodes(folder, CONFIG, {"recorder": {"out": folder / "bags" / "bag"}})
    yield made
    made.stop_all()


@pytest.fixture(scope="module")
def recorded(nodes: Nodes, request: pytest.FixtureRequest) -> Recorded:
    """A call with the recorder there before any publisher is."""
    recorder = nodes.start("recorder")
    assert until(lambda: "recording /harness/verdicts" in recorder.text()), recorder.text()
    assert FRONT not in recorder.text()
    chain: Chain = request.getfixturevalue("started")
    assert until(lambda: all(topic in recorder.text() for topic in TOPICS)), recorder.text()
    noise = np.random.default_rng(0).integers(0, 255, (60, 320, 3), np.uint8)
    chain.robot.views["front"][180:] = noise
    heard: set[tuple[int, int]] = set()

    def on_image(image: Image) -> None:
        heard.add((image.header.stamp.sec, image.header.stamp.nanosec))

    with spinning("onlooker") as onlooker:
        onlooker.create_subscription(Image, FRONT, on_image, qos_profile_sensor_data)
        assert until(lambda: len(heard) > 5)
        outcome = chain.call()
    assert outcome.succeeded, (outcome, chain.logs())
    assert until(lambda: chain.robot.node.count_subscribers(FRONT) == 1)
    assert recorder.stop() == 0, recorder.text()
    messages: dict[str, list[Any]] = defaultdict(list)
    # No type store is given: the definitions are those in the bag.
    with AnyReader([nodes.folder / "bags" / "bag"]) as reader:
        types = {item.topic: item.msgtype for item in reader.connections}
        times_ns = []
        for connection, time_ns, data in reader.messages():
            messages[connection.topic].append(reader.deserialize(data, connection.msgtype))
            times_ns.append(time_ns)
    front = chain.robot.views["front"].tobytes()
    return Recorded(messages, types, times_ns, outcome, front, heard)


def test_bag_has_every_configured_topic(recorded: Recorded) -> None:
    assert recorded.types == TOPICS
    counts = {topic: len(recorded.messages[topic]) for topic in TOPICS}
    assert all(counts.values()), counts
    assert counts["/harness/runs"] == 2 * counts["/harness/verdicts"]
    assert recorded.times_ns == sorted(recorded.times_ns)


def test_bag_has_the_run_and_its_verdict(recorded: Recorded) -> None:
    (run_id,) = recorded.outcome.run_ids
    runs = [run for run in recorded.messages["/harness/runs"] if run.run_id == run_id]
    assert [run.phase for run in runs] == [msg.ToolRun.STARTED, msg.ToolRun.FINISHED]
    assert {run.tool_name for run in runs} == {"pick"}
    (verdict,) = [item for item in recorded.messages["/harness/verdicts"] if item.run_id == run_id]
    assert verdict.status == Status.SUCCESS
    assert tuple(verdict.evidence) == recorded.outcome.verdict.evidence
    assert verdict.criteria_hash == recorded.outcome.verdict.criteria_hash


def test_bag_has_the_frames_as_they_were_published(recorded: Recorded) -> None:
    images = {
        (image.header.stamp.sec, image.header.stamp.nanosec): image
        for image in recorded.messages[FRONT]
    }
    assert len(recorded.heard) > 5
    assert recorded.heard <= set(images)
    for stamp in recorded.heard:
        image = images[stamp]
        assert (image.encoding, image.height, image.width, image.step) == ("rgb8", 240, 320, 960)
        assert image.header.frame_id == "front"
        assert image.data.tobytes() == recorded.front
    assert {state.position[0] for state in recorded.messages["/robot/gripper"]} == {0.05}


def test_bag_has_the_evidence_of_the_verdict(recorded: Recorded) -> None:
    observed_ns = recorded.outcome.verdict.observed_at_ns
    stamps = {
        message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
        for topic in (FRONT, "/robot/gripper")
        for message in recorded.messages[topic]
    }
    assert observed_ns in stamps


def test_folder_that_exists_is_not_written_into(tmp_path: Path) -> None:
    precious = tmp_path / "precious.mcap"
    precious.write_text("an older bag")
    ended = subprocess.run(
        command("recorder", config=CONFIG, out=tmp_path),
        capture_output=True,
        text=True,
        timeout=30.0,
        check=False,
    )
    assert ended.returncode == 2
    (line,) = ended.stderr.splitlines()
    assert str(tmp_path) in line
    assert "exists" in line
    assert [path.name for path in tmp_path.iterdir()] == ["precious.mcap"]
    assert precious.read_text() == "an older bag"
