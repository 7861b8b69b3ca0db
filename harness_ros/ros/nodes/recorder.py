# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Records what grading needs: the configured cameras and signals, runs and verdicts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile

from harness_ros.bag.writing import BagWriter
from harness_ros.capture.decoding import Decoder
from harness_ros.config import CameraConfig, SignalConfig
from harness_ros.ros.parameters import ParameterError, declare, declare_config
from harness_ros.ros.qos import EVENTS
from harness_ros.ros.sources import fitting_qos, message_class
from harness_ros.ros.spinning import run_node

LOOK_S = 0.2
"""How often it looks for publishers of topics that have none yet."""


class Recorder(Node):
    """Node `recorder`: serialized bytes from the topics into an MCAP bag."""

    def __init__(self, **options: Any) -> None:
        super().__init__("recorder", **options)
        config = declare_config(self)
        out = declare(self, "out", "", "folder of the bag to write; must not exist")
        if not out:
            raise ParameterError("parameter 'out' is not set: the folder of the bag is wanted")
        self._bag = BagWriter(Path(out).expanduser())
        self._decoder = Decoder()
        sources: list[CameraConfig | SignalConfig] = [
            *config.cameras.values(),
            *config.signals.values(),
        ]
        self._waiting = {self.resolve_topic_name(source.topic): source.type for source in sources}
        for name, message_type in (
            ("runs", "harness_ros/msg/ToolRun"),
            ("verdicts", "harness_ros/msg/Verdict"),
        ):
            self._record(self.resolve_topic_name(name), message_type, EVENTS)
        self.create_timer(LOOK_S, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def destroy_node(self) -> None:
        """Closes the bag."""
        super().destroy_node()
        self._bag.close()

    def _look(self) -> None:
        """Subscribes to topics that are published now: only then is it known what is offered."""
        for topic in [topic for topic in self._waiting if self.count_publishers(topic)]:
            self._record(topic, self._waiting.pop(topic), fitting_qos(self, topic))

    def _record(self, topic: str, message_type: str, qos: QoSProfile) -> None:
        self._bag.add_topic(topic, message_type)
        self.create_subscription(
            message_class(message_type),
            topic,
            self._writer(topic, message_type),
            qos,
            raw=True,
        )
        self.get_logger().info(f"recording {topic}")

    def _writer(self, topic: str, message_type: str) -> Callable[[bytes], None]:
        stamped = message_type.startswith("sensor_msgs/") and self._decoder.has_header(message_type)

        def write(data: bytes) -> None:
            now_ns = self.get_clock().now().nanoseconds
            if now_ns == 0 and stamped:
                # Before the first /clock there is no time; the message knows its own.
                now_ns = self._decoder.stamp_ns(message_type, data, now_ns)
            self._bag.write(topic, now_ns, data)

        return write


def main() -> int:
    """Runs the recorder."""
    return run_node(Recorder)
