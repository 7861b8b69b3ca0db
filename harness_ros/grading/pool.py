# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Who does the pieces of a grading: this process, several on this machine, or a Ray cluster.

Outcomes come in the order of the pieces whoever does them, and no more pieces are under way than
there are workers to keep busy.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from harness_ros.grading.cluster import Cluster
from harness_ros.grading.forking import number_of
from harness_ros.grading.processes import Processes
from harness_ros.grading.row import BagProblem
from harness_ros.grading.work import OpenBag, Outcome, Piece, Task, Worker

AHEAD = 3
"""Pieces under way for each worker: one that is done never waits for the next."""


class Pool(Protocol):
    """Workers."""

    workers: int
    keeps_bag: bool
    """Whether pieces are done with the bag that this process has open."""
    wants_whole: bool
    """Whether a worker closes its bag after each piece, so that all runs of a bag that is read
    through to be opened are better in one."""

    def submit(self, piece: Piece) -> Future[Outcome]:
        """Has a piece done. Those with `alone` of one bag are done by one worker."""


class Here:
    """The process that asks; it is done with a piece when that is submitted."""

    workers = 1
    keeps_bag = True
    wants_whole = False

    def __init__(self, task: Task, open_bag: OpenBag) -> None:
        self._worker = Worker(task, open_bag)

    def submit(self, piece: Piece) -> Future[Outcome]:
        """Does the piece."""
        future: Future[Outcome] = Future()
        future.set_result(self._worker.work(piece))
        return future


def pool_of(
    task: Task, open_bag: OpenBag, workers: int, ray_address: str | None
) -> AbstractContextManager[Pool]:
    """The workers that were asked for.

    Args:
        open_bag: of this process.
        workers: processes on this machine, 0 for one a processor; 1 works in this one.
        ray_address: of a Ray cluster, or `auto`; `workers` is not looked at then.

    Raises:
        GradingError: Ray is not installed, or not there.
    """
    if ray_address is not None:
        return Cluster(task, ray_address)
    number = number_of(workers)
    return nullcontext(Here(task, open_bag)) if number == 1 else Processes(task, number)


def outcomes(pool: Pool, pieces: Iterable[Piece]) -> Iterator[tuple[Piece, Outcome]]:
    """What comes of each piece, in their order."""
    # In this process nothing is gained by pieces ahead.
    under_way = 1 if isinstance(pool, Here) else pool.workers * AHEAD
    waiting: deque[tuple[Piece, Future[Outcome] | None]] = deque()
    for piece in pieces:
        waiting.append((piece, pool.submit(piece) if piece.wanted else None))
        if len(waiting) >= under_way:
            yield _done(*waiting.popleft())
    while waiting:
        yield _done(*waiting.popleft())


def _done(piece: Piece, future: Future[Outcome] | None) -> tuple[Piece, Outcome]:
    if future is None:
        return piece, Outcome()
    try:
        return piece, future.result()
    except Exception as error:
        # A worker that was killed, for want of memory say: its runs are told, the others go on.
        lost = ", ".join(item.run.run_id for item in piece.wanted)
        said = f"the worker that graded {lost} ended: {error or repr(error)}"
        return piece, Outcome(problems=[BagProblem(bag=piece.bag, problem=said)])
