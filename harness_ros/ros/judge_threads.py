# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Questions to one judge, answered in threads of their own: a slow one holds up no other."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from harness_ros.contract import Judgement, Usage
from harness_ros.ros.workers import Workers

LATENCIES_KEPT = 100

Work = Callable[[], Judgement]


@dataclass
class Counts:
    """What came of the questions so far."""

    asked: int = 0
    answered: int = 0
    could_not: int = 0
    """Answered with an error."""
    last_problem: str = ""
    usage: Usage = field(default_factory=Usage)
    latencies_s: deque[float] = field(default_factory=lambda: deque(maxlen=LATENCIES_KEPT))
    """Of the newest answers, the wait for a free thread included."""

    @property
    def waiting(self) -> int:
        """Asked and not answered yet."""
        return self.asked - self.answered


class JudgeThreads:
    """Does at most so many pieces of work at the same time; further ones wait for their turn."""

    def __init__(self, name: str, parallel: int) -> None:
        self._workers = Workers(name, parallel)
        self._counts = Counts()
        self._lock = threading.Lock()

    def add(self, work: Work) -> None:
        """Has a question answered; the work sends the answer itself, and never raises."""
        asked_at = time.monotonic()
        with self._lock:
            self._counts.asked += 1
        self._workers.add(lambda: self._count(work(), time.monotonic() - asked_at))

    @property
    def counts(self) -> Counts:
        """What came of the questions so far, as it is now."""
        with self._lock:
            return replace(self._counts, latencies_s=deque(self._counts.latencies_s))

    def close(self) -> None:
        """Takes up no more work and waits a little for what is being done."""
        self._workers.close()

    def _count(self, judgement: Judgement, latency_s: float) -> None:
        with self._lock:
            counts = self._counts
            counts.answered += 1
            counts.latencies_s.append(latency_s)
            counts.usage += judgement.usage
            if judgement.error:
                counts.could_not += 1
                counts.last_problem = judgement.error
