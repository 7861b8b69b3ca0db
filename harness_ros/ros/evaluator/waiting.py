# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`get_verdict` calls that wait for their run, without blocking the node."""

from __future__ import annotations

import time
from collections.abc import Callable, Container
from dataclasses import dataclass

from harness_ros.contract import Verdict

UNKNOWN_RUN_GRACE_S = 2.0
"""How long a call waits for a run to become known: its ToolRun may still be on the way."""


@dataclass(frozen=True)
class _Call:
    run_id: str
    answer: Callable[[Verdict | None], None]
    deadline: float
    unknown_deadline: float


class VerdictWaiters:
    """The calls that wait; deadlines run on the steady clock."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, run_id: str, timeout_s: float, answer: Callable[[Verdict | None], None]) -> None:
        """One call more.

        Args:
            answer: is given the verdict, or None when time is up.
        """
        now = time.monotonic()
        unknown_deadline = now + min(timeout_s, UNKNOWN_RUN_GRACE_S)
        self._calls.append(_Call(run_id, answer, now + timeout_s, unknown_deadline))

    def resolve(self, verdict: Verdict) -> None:
        """Answers the calls that wait for this verdict."""
        self._answer(verdict, lambda call: call.run_id == verdict.run_id)

    def expire(self, open_runs: Container[str]) -> None:
        """Answers the calls whose time is up, or whose run did not become known."""
        now = time.monotonic()
        self._answer(
            None,
            lambda call: (
                now >= call.deadline
                or (now >= call.unknown_deadline and call.run_id not in open_runs)
            ),
        )

    def _answer(self, verdict: Verdict | None, concerned: Callable[[_Call], bool]) -> None:
        due = [call for call in self._calls if concerned(call)]
        self._calls = [call for call in self._calls if call not in due]
        for call in due:
            call.answer(verdict)
