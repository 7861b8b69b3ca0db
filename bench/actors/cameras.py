# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Three cameras in one process that publish a given number of frames on order.

Order: {"frames": n, "subscriptions": m}. Once every topic has m subscriptions it says that it
begins, publishes n frames a camera, and says how many it has published and how late it was at
worst.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time

import rclpy
from rclpy.publisher import Publisher
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import Image

from bench.actors.speech import hear, say
from bench.frames import Frame
from bench.world import CAMERAS, RATE_HZ, Size, topic

MEETING_S = 0.3
"""After the subscriptions are known here, the subscribers must come to know the publishers."""


def main() -> int:
    """Publishes as ordered until it is ended."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, required=True)
    parser.add_argument("--height", type=int, required=True)
    parser.add_argument("--rate", type=float, default=RATE_HZ)
    parser.add_argument("--cameras", nargs="+", default=list(CAMERAS))
    chosen = parser.parse_args()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    node = rclpy.create_node("bench_cameras", namespace="/bench")
    publishers = [
        node.create_publisher(Image, topic(camera), qos_profile_sensor_data)
        for camera in chosen.cameras
    ]
    frame = Frame(Size(chosen.width, chosen.height))
    say(ready=True)
    try:
        while (order := hear()) is not None:
            _await(publishers, order["subscriptions"])
            say(begins=True)
            late_s = _publish(publishers, frame, order["frames"], chosen.rate)
            say(published=order["frames"], late_s=late_s)
    except KeyboardInterrupt:
        pass
    node.destroy_node()
    rclpy.shutdown()
    return 0


def _await(publishers: list[Publisher], subscriptions: int) -> None:
    while any(publisher.get_subscription_count() != subscriptions for publisher in publishers):
        time.sleep(0.01)
    time.sleep(MEETING_S)


def _publish(publishers: list[Publisher], frame: Frame, number: int, rate: float) -> float:
    """Publishes and returns by how many seconds the latest frame was late."""
    begun, late_s = time.monotonic(), 0.0
    for turn in range(number):
        due = begun + turn / rate
        time.sleep(max(0.0, due - time.monotonic()))
        late_s = max(late_s, time.monotonic() - due)
        data = frame.stamped()
        for publisher in publishers:
            publisher.publish(data)
    return late_s


if __name__ == "__main__":
    sys.exit(main())
