# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Threads in which plain functions run that may never return."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

HANGING_ALLOWED = 32
"""Threads that may still be in one verifier after it was given up; beyond, it is not called."""
IDLE_KEPT = 8
"""Threads that wait for the next call; further ones end."""

Work = Callable[[], Any]


class TooManyHanging(Exception):
    """A verifier has been given up so often, and has not returned, that it is not called again."""


class Call:
    """A piece of work in a thread of its own; whoever waits may give it up."""

    def __init__(self, threads: Threads, key: Hashable, work: Work) -> None:
        self.answer: Future[Any] = Future()
        self._threads, self._key, self._work = threads, key, work
        self._state_lock = threading.Lock()
        self._ended = self._given_up = False

    def give_up(self) -> None:
        """Waits no longer; the thread counts as hanging until the work returns."""
        with self._state_lock:
            if not self._ended and not self._given_up:
                self._given_up = True
                self._threads._count_hanging(self._key, 1)

    def _run(self) -> None:
        answer: Any = None
        problem: BaseException | None = None
        try:
            answer = self._work()
        except BaseException as error:  # SystemExit too: the thread is not the verifier's
            problem = error
        with self._state_lock:
            self._ended = True
            if self._given_up:
                self._threads._count_hanging(self._key, -1)
        if problem is None:
            self.answer.set_result(answer)
        else:
            self.answer.set_exception(problem)


class Threads:
    """A thread for each call, used again once the call has returned."""

    def __init__(self, hanging_allowed: int = HANGING_ALLOWED) -> None:
        self._allowed = hanging_allowed
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[Call]] = []
        self._hanging: dict[Hashable, int] = {}

    @property
    def hanging(self) -> int:
        """Threads in work that was given up and has not returned."""
        with self._lock:
            return sum(self._hanging.values())

    def start(self, verifier: Any, work: Work) -> Call:
        """Begins a piece of work; it holds on to the verifier until it returns.

        Raises:
            TooManyHanging: too many earlier calls of this verifier have not returned.
            RuntimeError: the system has no further thread.
        """
        key = _key(verifier)
        with self._lock:
            if self._hanging.get(key, 0) >= self._allowed:
                raise TooManyHanging(
                    f"{self._allowed} earlier calls of it were given up and have not returned yet"
                )
            queue = self._idle.pop() if self._idle else None
        call = Call(self, key, work)
        if queue is None:
            queue = SimpleQueue()
            # No reason to keep a process alive: a verifier may hang.
            threading.Thread(
                target=self._serve, args=(queue,), name="verifier", daemon=True
            ).start()
        queue.put(call)
        return call

    def _serve(self, queue: SimpleQueue[Call]) -> None:
        while True:
            call = queue.get()
            call._run()
            del call
            with self._lock:
                if len(self._idle) >= IDLE_KEPT:
                    return
                self._idle.append(queue)

    def _count_hanging(self, key: Hashable, change: int) -> None:
        with self._lock:
            count = self._hanging.pop(key, 0) + change
            if count:
                self._hanging[key] = count


def _key(verifier: Any) -> Hashable:
    """Names a verifier while a call of it goes on; a method is another object at every look."""
    owner, function = getattr(verifier, "__self__", None), getattr(verifier, "__func__", None)
    return (id(verifier),) if function is None else (id(owner), id(function))


THREADS = Threads()
"""Those of this process."""
