# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node tells of itself on `/diagnostics`, once a second (REP 107), and guarded callbacks.

A callback that raises must neither end its node nor pass unnoticed: the guard logs it, counts it
and turns the diagnostics of the node to ERROR.
"""

from __future__ import annotations

import functools
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, TypeVar

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

PERIOD_S = 1.0
ERROR_SHOWN_S = 60.0
"""How long an exception keeps a node's diagnostics at ERROR."""
NO_CLOCK_S = 5.0
"""How long simulated time may stay away before that is an error."""

Callback = TypeVar("Callback", bound=Callable[..., Any])


class Level(IntEnum):
    """Levels of DiagnosticStatus."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


@dataclass(frozen=True)
class Report:
    """One status of a node."""

    name: str
    """What it is about, such as `camera front`."""
    level: Level
    message: str
    values: Mapping[str, object] = field(default_factory=dict)


class Diagnostics:
    """The diagnostics of one node.

    Args:
        node: publishes them, on the steady clock.
        reports: gives what the node has to say beside the errors of its callbacks.
    """

    def __init__(
        self, node: Node, reports: Callable[[], Iterator[Report]] = lambda: iter(())
    ) -> None:
        self._node = node
        self._reports = reports
        self._failures = 0
        self._last_failure = ""
        self._failed_at = -ERROR_SHOWN_S
        self._began = time.monotonic()
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(PERIOD_S, self._publish, clock=steady)

    @contextmanager
    def guard(
        self, what: str, otherwise: Callable[[Exception], None] | None = None
    ) -> Iterator[None]:
        """Whatever goes wrong inside is logged and shown, and goes no further.

        Args:
            what: is named with it, such as `run 3f2a`.
            otherwise: is called with the exception, to make good what can be.
        """
        try:
            yield
        except Exception as error:
            self.failed(what, error)
            if otherwise is not None:
                otherwise(error)

    def guarded(self, what: str) -> Callable[[Callback], Callback]:
        """A callback that never raises: for subscriptions and timers."""

        def wrap(callback: Callback) -> Callback:
            @functools.wraps(callback)
            def call(*arguments: Any) -> Any:
                with self.guard(what):
                    return callback(*arguments)

            return call  # type: ignore[return-value]

        return wrap

    def failed(self, what: str, error: Exception) -> None:
        """Logs an exception and shows it."""
        self._failures += 1
        self._last_failure = f"{what}: {error!r}"
        self._failed_at = time.monotonic()
        trace = "".join(traceback.format_exception(error))
        self._node.get_logger().error(f"{what}: {error!r}\n{trace}")

    @property
    def has_clock(self) -> bool:
        """Whether any time has come; false for simulated time without /clock."""
        return bool(self._node.get_clock().now().nanoseconds > 0)

    @property
    def simulated(self) -> bool:
        """Whether the node follows /clock."""
        return bool(self._node.get_parameter("use_sim_time").value)

    def _own(self) -> Report:
        values = {"failed callbacks": self._failures, "last failure": self._last_failure}
        if self.simulated and not self.has_clock and time.monotonic() - self._began > NO_CLOCK_S:
            text = "use_sim_time is true and no /clock has come"
            self._node.get_logger().error(text, throttle_duration_sec=30.0)
            return Report("node", Level.ERROR, text, values)
        if time.monotonic() - self._failed_at < ERROR_SHOWN_S:
            return Report("node", Level.ERROR, f"a callback failed: {self._last_failure}", values)
        return Report("node", Level.OK, "running", values)

    def _publish(self) -> None:
        statuses = []
        with self.guard("diagnostics"):
            statuses = [self._status(report) for report in self._reports()]
        message = DiagnosticArray(status=[self._status(self._own()), *statuses])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def _status(self, report: Report) -> DiagnosticStatus:
        name = self._node.get_fully_qualified_name()
        return DiagnosticStatus(
            level=bytes([report.level]),
            name=f"{name}: {report.name}",
            message=report.message,
            hardware_id="harness_ros",
            values=[KeyValue(key=key, value=_text(value)) for key, value in report.values.items()],
        )


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
