# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Records what grading needs: the configured cameras and signals, runs and verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile

from harness_ros.bag.writing import BagWriter
from harness_ros.capture import observing
from harness_ros.capture.decoding import Decoder
from harness_ros.capture.memory import keep_freed_memory
from harness_ros.capture.sample import header_stamp
from harness_ros.ros import qos
from harness_ros.ros.diagnostics import Diagnostics, Level, Report
from harness_ros.ros.parameters import ParameterError, declare, declare_config
from harness_ros.ros.qos import EVENTS
from harness_ros.ros.sources import message_class
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
        self._diagnostics = Diagnostics(self, self._reports)
        self._written: Counter[str] = Counter()
        self._waiting = {
            self.resolve_topic_name(source.topic): source
            for source in observing.all_sources(config).values()
        }
        for name, message_type in (
            ("runs", "harness_ros/msg/ToolRun"),
            ("verdicts", "harness_ros/msg/Verdict"),
        ):
            self._record(self.resolve_topic_name(name), message_type, EVENTS)
        self.create_timer(
            LOOK_S,
            self._diagnostics.guarded("looking for publishers")(self._look),
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )

    def destroy_node(self) -> None:
        """Closes the bag."""
        super().destroy_node()
        self._bag.close()

    def _look(self) -> None:
        """Subscribes to topics that are published now: only then is it known what is offered."""
        for topic in list(self._waiting):
            offers = self.get_publishers_info_by_topic(topic)
            if offers:
                source = self._waiting.pop(topic)
                asked = qos.fitting(source.qos, [offer.qos_profile for offer in offers])
                self._record(topic, observing.message_type(source), asked)

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
                now_ns = header_stamp(data)
            self._bag.write(topic, now_ns, data)
            self._written[topic] += 1

        return self._diagnostics.guarded(f"recording {topic}")(write)

    def _reports(self) -> Iterator[Report]:
        level = Level.WARN if self._waiting else Level.OK
        text = f"{self._written.total()} messages of {len(self._written)} topics"
        if self._waiting:
            text += f"; nobody publishes {', '.join(sorted(self._waiting))}"
        yield Report("bag", level, text, dict(self._written))


def record(config: Path, out: Path, namespace: str, use_sim_time: bool) -> int:
    """Records until SIGINT or SIGTERM, for the command line.

    Returns:
        0; 2 when it could not start, and why is said on standard error.
    """
    keep_freed_memory()
    overrides = {"config": str(config), "out": str(out), "use_sim_time": use_sim_time}
    parameters = [Parameter(name, value=value) for name, value in overrides.items()]
    return run_node(lambda: Recorder(namespace=namespace, parameter_overrides=parameters))


def main() -> int:
    """Runs the recorder."""
    keep_freed_memory()
    return run_node(Recorder)
