# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Service calls that are answered later, by any executor and without holding anything up.

A coroutine as a service callback would do the same, but the EventsExecutor of rclpy runs none, and
the other executors poll those that wait.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.service import Service

from harness_ros.ros.qos import REQUESTS


class Deferred:
    """The answer to one call that is not known yet; a callback returns it instead of a response.

    It may be given in any thread, also before the callback has returned.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._response: Any = None
        self._send: Callable[[Any], None] | None = None
        self.answered = False

    def answer(self, response: Any) -> None:
        """Sends the response; what comes after the first one is not sent."""
        with self._lock:
            if self.answered:
                return
            self.answered = True
            self._response = response
            send = self._send
        if send is not None:
            send(response)

    def sent_with(self, send: Callable[[Any], None]) -> None:
        """How the response is sent, once the middleware has said to whom."""
        with self._lock:
            self._send = send
            answered = self.answered
        if answered:
            send(self._response)


def create_deferring_service(
    node: Node, service_type: Any, name: str, callback: Callable[[Any, Any], Any]
) -> Service:
    """A service whose callback may return a Deferred; as `Node.create_service` otherwise."""
    service = node.create_service(service_type, name, callback, qos_profile=REQUESTS)
    send_response = service.send_response

    def send(response: Any, header: Any) -> None:
        if isinstance(response, Deferred):
            response.sent_with(lambda answer: send_response(answer, header))
        else:
            send_response(response, header)

    service.send_response = send
    return service
