# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Threads that grow with the work: a piece that hangs holds up no other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

ENDING_S = 0.5
"""How long the end of a node waits for threads; one that is still at work dies later."""

Work = Callable[[], None]


class Workers:
    """Does work in threads. A thread is made when all are busy, up to a limit.

    Args:
        name: of the threads.
        most: threads; work beyond that waits for one that is free, in order.
    """

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._most = most
        self._work: SimpleQueue[Work | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._unfinished = 0
        self._ending = False

    @property
    def unfinished(self) -> int:
        """Pieces of work that are done now or wait."""
        return self._unfinished

    def add(self, work: Work) -> None:
        """Has a piece of work done; it must not raise."""
        with self._lock:
            self._unfinished += 1
            self._grow()
        self._work.put(work)

    def replace_one(self) -> None:
        """One thread more may be made: one of those that are there hangs."""
        with self._lock:
            self._most += 1
            self._grow()

    def take_back_one(self) -> None:
        """One less may be made: a thread that hung has returned."""
        with self._lock:
            self._most -= 1

    def close(self) -> None:
        """Takes up no more work and waits a little for what is being done."""
        self._ending = True
        for _ in self._threads:
            self._work.put(None)
        deadline = time.monotonic() + ENDING_S
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _grow(self) -> None:
        """Makes a thread where one is wanted; the lock is held."""
        if self._ending or len(self._threads) >= min(self._unfinished, self._most):
            return
        # No reason to keep a process alive: what it does may hang.
        thread = threading.Thread(
            target=self._run, name=f"{self._name} {len(self._threads) + 1}", daemon=True
        )
        self._threads.append(thread)
        thread.start()

    def _run(self) -> None:
        while (work := self._work.get()) is not None and not self._ending:
            try:
                work()
            finally:
                with self._lock:
                    self._unfinished -= 1
