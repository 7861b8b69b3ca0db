# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A node that takes three cameras and does as little as its kind allows.

`raw` takes serialized bytes and drops them, and keeps the memory that it freed: the least that a
subscriber in Python can do. `raw_plain` leaves memory to the C library. `usual` is what robot
programs do: deserialized images into an approximate-time synchronizer, that of message_filters
where it is installed, else the built-in matcher of harness_ros.

Any order is answered with what was received so far.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Image

from bench.actors.speech import hear, say
from bench.world import CAMERAS, SLOP_S, topic
from harness_ros.capture.matcher import ApproximateMatcher
from harness_ros.capture.memory import keep_freed_memory
from harness_ros.capture.sample import Sample
from harness_ros.config import QosConfig
from harness_ros.ros import qos
from harness_ros.ros.conversion import to_ns
from harness_ros.ros.spinning import run_node

try:
    import message_filters
except ImportError:
    message_filters = None

QUEUE_SIZE = 10
SENSOR = qos.fitting(QosConfig(), [qos_profile_sensor_data])
"""What the evaluator asks of cameras that offer best effort."""


def subscriber() -> Node:
    """The node of the kind that the command line names."""
    node = rclpy.create_node("bench_subscriber", namespace="/bench")
    received: Counter[str] = Counter()
    sets: list[int] = [0]

    def count(camera: str) -> Callable[[Any], None]:
        def receive(_: Any) -> None:
            received[camera] += 1

        return receive

    if sys.argv[1] in ("raw", "raw_plain"):
        for camera in CAMERAS:
            node.create_subscription(Image, topic(camera), count(camera), SENSOR, raw=True)
        how = "raw bytes, nothing done"
    elif message_filters is not None:
        filters = [
            message_filters.Subscriber(node, Image, topic(camera), qos_profile=SENSOR)
            for camera in CAMERAS
        ]
        for camera, source in zip(CAMERAS, filters, strict=True):
            source.registerCallback(count(camera))
        node.synchronizer = message_filters.ApproximateTimeSynchronizer(filters, QUEUE_SIZE, SLOP_S)
        node.synchronizer.registerCallback(lambda *_: sets.__setitem__(0, sets[0] + 1))
        how = "message_filters.ApproximateTimeSynchronizer"
    else:
        _match(node, count, sets)
        how = "deserialized images, built-in matcher"
    threading.Thread(target=_answer, args=(received, sets), daemon=True).start()
    say(ready=True, how=how)
    return node


def _match(node: Node, count: Callable[[str], Callable[[Any], None]], sets: list[int]) -> None:
    matcher = ApproximateMatcher(CAMERAS, QUEUE_SIZE, round(SLOP_S * 1e9))

    def matched(camera: str) -> Callable[[Image], None]:
        counted = count(camera)

        def receive(image: Image) -> None:
            counted(image)
            found = matcher.add(Sample(camera, to_ns(image.header.stamp), b""))
            sets[0] += found is not None

        return receive

    for camera in CAMERAS:
        node.create_subscription(Image, topic(camera), matched(camera), SENSOR)


def _answer(received: Counter[str], sets: list[int]) -> None:
    while hear() is not None:
        say(received=dict(received), sets=sets[0])


if __name__ == "__main__":
    if sys.argv[1] == "raw":
        keep_freed_memory()
    sys.exit(run_node(subscriber))
