# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pieces of work done by one process, by several on this machine, or by a Ray cluster.

Outcomes come in the order of the pieces whoever does them, and no more pieces are under way than
there are workers to keep busy.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from importlib.util import find_spec
from typing import Any

from harness_ros.grading.grade import GradingError
from harness_ros.grading.row import BagProblem
from harness_ros.grading.work import Outcome, Piece, Task, work

AHEAD = 3
"""Pieces under way for each worker: one that is done never waits for the next."""


def outcomes(
    task: Task, pieces: Iterable[Piece], workers: int = 1, ray_address: str | None = None
) -> Iterator[tuple[Piece, Outcome]]:
    """What comes of each piece, in their order.

    Args:
        workers: processes on this machine; 1 works in this one.
        ray_address: of a Ray cluster, or `auto`; `workers` is not looked at then.

    Raises:
        GradingError: Ray is not installed, or not there.
    """
    if ray_address is not None:
        yield from _with_ray(task, pieces, ray_address)
    elif workers == 1:
        for piece in pieces:
            yield piece, work(task, piece)
    else:
        yield from _with_processes(task, pieces, workers)


def default_workers() -> int:
    """As many as this process may use processors."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _with_processes(
    task: Task, pieces: Iterable[Piece], workers: int
) -> Iterator[tuple[Piece, Outcome]]:
    # Spawned, not forked: OpenCV has threads, and a fork takes their locks along.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=_one_thread_each) as pool:

        def submit(piece: Piece) -> Future[Outcome]:
            return pool.submit(work, task, piece)

        def result(future: Future[Outcome]) -> Outcome:
            return future.result()

        try:
            yield from _in_order(pieces, workers * AHEAD, submit, result)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _one_thread_each() -> None:
    """Workers share the processors: threads of OpenCV in each would only be in their way."""
    import cv2

    cv2.setNumThreads(1)


def _with_ray(task: Task, pieces: Iterable[Piece], address: str) -> Iterator[tuple[Piece, Outcome]]:
    if find_spec("ray") is None:
        raise GradingError("--ray needs Ray: pip install 'harness_ros[ray]'")
    import ray

    try:
        ray.init(address=address, log_to_driver=False)
    except Exception as error:
        raise GradingError(f"--ray {address}: no Ray cluster: {error}") from None
    try:
        remote = ray.remote(work)
        shared = ray.put(task)
        workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
        yield from _in_order(
            pieces, workers * AHEAD, lambda piece: remote.remote(shared, piece), ray.get
        )
    finally:
        ray.shutdown()


def _in_order(
    pieces: Iterable[Piece],
    under_way: int,
    submit: Callable[[Piece], Any],
    result: Callable[[Any], Outcome],
) -> Iterator[tuple[Piece, Outcome]]:
    waiting: deque[tuple[Piece, Any]] = deque()
    for piece in pieces:
        waiting.append((piece, submit(piece)))
        if len(waiting) >= under_way:
            yield _done(*waiting.popleft(), result)
    while waiting:
        yield _done(*waiting.popleft(), result)


def _done(piece: Piece, future: Any, result: Callable[[Any], Outcome]) -> tuple[Piece, Outcome]:
    try:
        return piece, result(future)
    except Exception as error:
        # A worker that was killed, for want of memory say: its runs are told, the others go on.
        lost = ", ".join(piece.run_ids)
        said = f"the worker that graded {lost} ended: {error!r}"
        return piece, Outcome(problems=[BagProblem(bag=piece.bag, problem=said)])
