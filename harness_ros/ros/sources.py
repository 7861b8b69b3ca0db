# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Camera and signal subscriptions that exist only while a run needs them.

Messages are taken as serialized bytes; only the stamp at their head is read.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription

from harness_ros.capture.decoding import Decoder
from harness_ros.capture.sample import Sample, StampError
from harness_ros.config import CameraConfig, EvaluationConfig, SignalConfig
from harness_ros.contract import HarnessError
from harness_ros.ros.qos import SENSOR, SENSOR_RELIABLE


class MessageTypeError(HarnessError):
    """A message type that is not installed."""


def message_class(name: str) -> Any:
    """The class of `package/msg/Type`.

    Raises:
        MessageTypeError: it is not installed.
    """
    package, _, type_name = name.split("/")
    try:
        return getattr(importlib.import_module(f"{package}.msg"), type_name)
    except (ImportError, AttributeError) as error:
        raise MessageTypeError(f"message type {name} is not installed: {error}") from None


def fitting_qos(node: Node, topic: str) -> QoSProfile:
    """Reliable where every publisher of the topic offers that, else best effort (REP 2003)."""
    offered = [info.qos_profile.reliability for info in node.get_publishers_info_by_topic(topic)]
    reliable = bool(offered) and all(item == ReliabilityPolicy.RELIABLE for item in offered)
    return SENSOR_RELIABLE if reliable else SENSOR


class Sources:
    """The subscriptions of a node to the configured cameras and signals, shared between runs.

    Raises:
        MessageTypeError: a type is not installed.
        DecodeError: a type has no known definition.
    """

    def __init__(
        self,
        node: Node,
        config: EvaluationConfig,
        decoder: Decoder,
        deliver: Callable[[Sample], None],
    ) -> None:
        self._node = node
        self._decoder = decoder
        self._deliver = deliver
        self._configs: dict[str, CameraConfig | SignalConfig] = {
            **config.signals,
            **config.cameras,
        }
        for source in self._configs.values():
            # A type that is missing is to be heard of now, not at the first run.
            message_class(source.type)
            decoder.has_header(source.type)
        self._users: Counter[str] = Counter()
        self._subscriptions: dict[str, Subscription] = {}

    def acquire(self, names: Iterable[str]) -> None:
        """Subscribes to what is not subscribed yet; each call is undone by one `release`."""
        for name in names:
            self._users[name] += 1
            if name not in self._subscriptions:
                self._subscriptions[name] = self._subscribe(name)

    def release(self, names: Iterable[str]) -> None:
        """Ends the subscriptions that nobody needs any more."""
        for name in names:
            self._users[name] -= 1
            if self._users[name] <= 0:
                del self._users[name]
                self._node.destroy_subscription(self._subscriptions.pop(name))

    def topic(self, name: str) -> str:
        """Fully qualified topic of a camera or signal, after remapping."""
        return str(self._node.resolve_topic_name(self._configs[name].topic))

    def publishers(self, name: str) -> list[str]:
        """Nodes that publish a camera or signal now."""
        return [
            f"{info.node_namespace.rstrip('/')}/{info.node_name}"
            for info in self._node.get_publishers_info_by_topic(self.topic(name))
        ]

    def _subscribe(self, name: str) -> Subscription:
        config = self._configs[name]
        log = self._node.get_logger()

        def receive(data: bytes) -> None:
            received_ns = self._node.get_clock().now().nanoseconds
            try:
                stamp_ns = self._decoder.stamp_ns(config.type, data, received_ns)
            except StampError as error:
                log.error(f"{self.topic(name)}: {error}", throttle_duration_sec=5.0)
                return
            self._deliver(Sample(source=name, stamp_ns=stamp_ns, data=data))

        return self._node.create_subscription(
            message_class(config.type),
            config.topic,
            receive,
            fitting_qos(self._node, self.topic(name)),
            raw=True,
        )
