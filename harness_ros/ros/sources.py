# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subscriptions to the sources of evidence that exist only while a run needs them.

Messages are taken as serialized bytes; only the stamp at their head is read.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks, UnsupportedEventTypeError
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from rclpy.utilities import get_rmw_implementation_identifier

from harness_ros.capture.counts import SourceCount
from harness_ros.capture.decoding import Decoder
from harness_ros.capture.diagnosis import Transport
from harness_ros.capture.observing import InfoConfig, message_type
from harness_ros.capture.sample import Sample, StampError
from harness_ros.config import CameraConfig, SourceConfig
from harness_ros.contract import HarnessError
from harness_ros.ros import qos


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


@dataclass(frozen=True)
class _Live:
    """A subscription and the QoS that it asks for."""

    subscription: Subscription
    asked: QoSProfile


class Sources:
    """The subscriptions of a node to sources of evidence, shared between runs.

    Args:
        configs: every source by its name.
        deliver: is given each sample.
        malformed: is told the source of a message without a readable stamp.

    Raises:
        MessageTypeError: a type is not installed.
        DefinitionError: a type has no known definition.
    """

    def __init__(
        self,
        node: Node,
        configs: Mapping[str, SourceConfig],
        decoder: Decoder,
        deliver: Callable[[Sample], None],
        malformed: Callable[[str], None],
    ) -> None:
        self._node = node
        self._decoder = decoder
        self._deliver = deliver
        self._malformed = malformed
        self.configs = configs
        for source in configs.values():
            # A type that is missing is to be heard of now, not at the first run.
            message_class(message_type(source))
            decoder.has_header(message_type(source))
        self.counts = {name: SourceCount() for name in configs}
        """Of each source since it was last subscribed to."""
        self._users: Counter[str] = Counter()
        self._live: dict[str, _Live] = {}

    def acquire(self, names: Iterable[str]) -> None:
        """Subscribes to what is not subscribed yet; each call is undone by one `release`."""
        for name in names:
            self._users[name] += 1
            if name not in self._live:
                self.counts[name] = SourceCount()
                self._subscribe(name)

    def release(self, names: Iterable[str]) -> None:
        """Ends the subscriptions that nobody needs any more."""
        for name in names:
            self._users[name] -= 1
            if self._users[name] <= 0:
                del self._users[name]
                self._node.destroy_subscription(self._live.pop(name).subscription)

    def active(self, name: str) -> bool:
        """Whether a run needs this source now."""
        return name in self._live

    def topic(self, name: str) -> str:
        """Fully qualified topic of a source, after remapping."""
        return str(self._node.resolve_topic_name(self.configs[name].topic))

    def publishers(self, name: str) -> list[str]:
        """Nodes that publish a source now."""
        return [
            f"{info.node_namespace.rstrip('/')}/{info.node_name}"
            for info in self._node.get_publishers_info_by_topic(self.topic(name))
        ]

    def transport(self, name: str) -> Transport:
        """What the middleware knows of a source now."""
        config, live = self.configs[name], self._live.get(name)
        offers = self._node.get_publishers_info_by_topic(self.topic(name))
        asked = qos.fitting(config.qos, []) if live is None else live.asked
        mismatches = [qos.mismatch(offer.qos_profile, asked) for offer in offers]
        return Transport(
            topic=self.topic(name),
            publishers=tuple(self.publishers(name)),
            offered="; ".join(sorted({qos.words(offer.qos_profile) for offer in offers})),
            asked=qos.words(asked),
            mismatch=mismatches[0] if mismatches and all(mismatches) else "",
            lost=self.counts[name].lost,
            shared_memory="fastrtps" in get_rmw_implementation_identifier(),
            expected_rate_hz=config.rate_hz,
            images=isinstance(config, CameraConfig),
        )

    def _subscribe(self, name: str) -> None:
        config = self.configs[name]
        offers = self._node.get_publishers_info_by_topic(self.topic(name))
        standing = isinstance(config, InfoConfig)
        asked = qos.fitting(config.qos, [offer.qos_profile for offer in offers], standing)
        counts = self.counts[name]

        def on_lost(event: Any) -> None:
            counts.lost = event.total_count

        def subscribe(events: SubscriptionEventCallbacks) -> Subscription:
            return self._node.create_subscription(
                message_class(message_type(config)),
                config.topic,
                self._receiver(name, config),
                asked,
                raw=True,
                event_callbacks=events,
            )

        try:
            subscription = subscribe(SubscriptionEventCallbacks(message_lost=on_lost))
        except UnsupportedEventTypeError:
            subscription = subscribe(SubscriptionEventCallbacks())
        self._live[name] = _Live(subscription, asked)

    def _receiver(self, name: str, config: SourceConfig) -> Callable[[bytes], None]:
        log, clock, type_name = (
            self._node.get_logger(),
            self._node.get_clock(),
            message_type(config),
        )
        counts = self.counts[name]

        def receive(data: bytes) -> None:
            received_ns = clock.now().nanoseconds
            try:
                stamp_ns = self._decoder.stamp_ns(config, type_name, data, received_ns)
            except StampError as error:
                log.error(f"{self.topic(name)}: {error}", throttle_duration_sec=5.0)
                counts.malformed += 1
                self._malformed(name)
                return
            sample = Sample(name, stamp_ns, data, received_ns)
            counts.add(sample)
            self._deliver(sample)

        return receive
