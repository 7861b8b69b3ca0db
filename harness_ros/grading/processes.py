# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pieces of work done by several processes on this machine.

Unlike in a ProcessPoolExecutor, the end of one process is the end of one piece, and pieces can be
given to the process that has their bag open.
"""

from __future__ import annotations

import signal
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess, parent_process
from types import TracebackType

from harness_ros.grading.forking import context, interrupts_blocked
from harness_ros.grading.work import OpenBag, Outcome, Piece, Task, Worker, as_worker


class Processes:
    """Processes that start when they are needed; also a context manager that ends them.

    An error, such as Ctrl-C, ends them at once, else they do what they were given.
    """

    keeps_bag = wants_whole = False

    def __init__(self, task: Task, workers: int) -> None:
        self.workers = workers
        self._processes = [_Process(task) for _ in range(workers)]

    def submit(self, piece: Piece) -> Future[Outcome]:
        """Has a piece done by a process that has its bag open, or by one with nothing to do."""
        opened = [process for process in self._processes if process.bag == piece.bag]
        least = min(opened or self._processes, key=lambda process: process.waiting)
        if not (opened and piece.alone):
            least = next((process for process in self._processes if not process.waiting), least)
        return least.submit(piece)

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            for process in self._processes:
                process.stop()
        for process in self._processes:
            process.close()


class WorkerEndedError(Exception):
    """A process that ended while it worked."""


class _Process:
    """One process, and a thread of this one that waits for it."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._thread = ThreadPoolExecutor(1)
        self._process: BaseProcess | None = None
        self._futures: list[Future[Outcome]] = []
        self.bag: str | None = None
        """Of the last piece that it was given."""

    @property
    def waiting(self) -> int:
        """Pieces that it has to do still."""
        self._futures = [future for future in self._futures if not future.done()]
        return len(self._futures)

    def submit(self, piece: Piece) -> Future[Outcome]:
        self.bag = piece.bag
        future = self._thread.submit(self._asked, piece)
        self._futures.append(future)
        return future

    def stop(self) -> None:
        """Ends it at once; it closes its bag."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        if self._process is not None:
            self._process.terminate()

    def close(self) -> None:
        """Waits until it is done."""
        self._thread.shutdown()
        if self._process is not None:
            self._connection.close()
            self._process.join()

    def _asked(self, piece: Piece) -> Outcome:
        process = self._process or self._started()
        try:
            self._connection.send(piece)
            outcome: Outcome = self._connection.recv()
        except (EOFError, OSError):
            process.join()
            self._connection.close()
            self._process = None
            raise WorkerEndedError(_how(process.exitcode)) from None
        return outcome

    def _started(self) -> BaseProcess:
        self._connection, there = context().Pipe()
        process = context().Process(target=serve, args=(self._task, there), daemon=True)
        with interrupts_blocked():
            process.start()
        # The end of that process is the end of the pipe, if nobody else has it open.
        there.close()
        self._process = process
        return process


def _how(exit_code: int | None) -> str:
    if exit_code is None or exit_code >= 0:
        return f"exit code {exit_code}"
    name = signal.Signals(-exit_code).name
    return f"{name}, as when memory is short" if name == "SIGKILL" else name


def serve(task: Task, connection: Connection[Outcome, Piece]) -> None:
    """Does what comes over a connection until its other end is gone, then closes its bag."""
    as_worker()
    # With an exit the bag is closed, and what was decompressed is removed.
    for ending in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) is not signal.SIG_IGN:
            signal.signal(ending, lambda number, _: sys.exit(128 + number))
    with OpenBag(task.definitions) as open_bag:
        parent = parent_process()
        # A grading that was killed wants no more answers: they may cost money.
        worker = Worker(task, open_bag, lambda: parent is None or parent.is_alive())
        while True:
            try:
                piece = connection.recv()
            except (EOFError, OSError):
                return
            outcome = worker.work(piece)
            with suppress(OSError):
                connection.send(outcome)
