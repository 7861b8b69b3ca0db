# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`get_verdict` calls that wait for their run, without blocking the node."""

from __future__ import annotations

import time
from collections.abc import Container
from dataclasses import dataclass

from rclpy.executors import Executor
from rclpy.task import Future

from harness_ros.contract import Verdict

UNKNOWN_RUN_GRACE_S = 2.0
"""How long a call waits for a run to become known: its ToolRun may still be on the way."""


@dataclass(frozen=True)
class _Call:
    run_id: str
    future: Future
    deadline: float
    unknown_deadline: float


class VerdictWaiters:
    """The calls that wait; deadlines run on the steady clock."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, run_id: str, timeout_s: float, executor: Executor) -> Future:
        """A future of the verdict; its result is None when time is up."""
        now = time.monotonic()
        future = Future(executor=executor)
        unknown_deadline = now + min(timeout_s, UNKNOWN_RUN_GRACE_S)
        self._calls.append(_Call(run_id, future, now + timeout_s, unknown_deadline))
        return future

    def resolve(self, verdict: Verdict) -> None:
        """Answers the calls that wait for this verdict."""
        for call in self._calls:
            if call.run_id == verdict.run_id and not call.future.done():
                call.future.set_result(verdict)

    def expire(self, open_runs: Container[str]) -> None:
        """Answers the calls whose time is up, or whose run did not become known."""
        now = time.monotonic()
        for call in self._calls:
            unknown = now >= call.unknown_deadline and call.run_id not in open_runs
            if (now >= call.deadline or unknown) and not call.future.done():
                call.future.set_result(None)
        self._calls = [call for call in self._calls if not call.future.done()]
