# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pieces of work done by a Ray cluster."""

from __future__ import annotations

import os
import socket
from concurrent.futures import Future
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any

import harness_ros
from harness_ros.grading.grade import GradingError
from harness_ros.grading.row import BagProblem
from harness_ros.grading.work import OpenBag, Outcome, Piece, Task, Worker, as_worker

CONNECTING_S = 10


@dataclass(frozen=True)
class Place:
    """What a node is to find: relative paths are those of the machine that asks."""

    task: Task
    folder: Path
    """From which relative paths are resolved."""
    version: str
    """Of harness_ros."""


class Cluster:
    """A Ray cluster; a context manager that connects to it.

    Raises:
        GradingError: Ray is not installed, or not there.
    """

    keeps_bag = False
    wants_whole = True

    def __init__(self, task: Task, address: str) -> None:
        if find_spec("ray") is None:
            raise GradingError("--ray needs Ray: pip install 'harness_ros[ray]'")
        self._place = Place(task, Path.cwd(), harness_ros.__version__)
        self._address = address
        self.workers = 1

    def __enter__(self) -> Cluster:
        import ray

        try:
            _look_for(self._address)
            ray.init(address=self._address, log_to_driver=False, logging_level="ERROR")
        except Exception as error:
            said = " ".join(str(error).split())
            raise GradingError(f"--ray {self._address}: no Ray cluster: {said}") from None
        self.workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._remote = ray.remote(on_a_node)
        self._shared = ray.put(self._place)
        return self

    def submit(self, piece: Piece) -> Future[Outcome]:
        """Has a piece done by whichever node is free."""
        reference: Any = self._remote.remote(self._shared, piece)
        future: Future[Outcome] = reference.future()
        return future

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        import ray

        # What is not done is not done any more.
        ray.shutdown()


def _look_for(address: str) -> None:
    """Raises OSError where nobody answers at host:port: Ray would wait for minutes, or for ever."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host, int(port)), CONNECTING_S).close()


def on_a_node(place: Place, piece: Piece) -> Outcome:
    """Does a piece; what the node cannot see is told with its name."""
    if harness_ros.__version__ != place.version:
        return _told(piece, f"harness_ros {harness_ros.__version__} is there, {place.version} here")
    as_worker()
    try:
        os.chdir(place.folder)
    except OSError as error:
        return _told(piece, f"{place.folder}: {error.strerror}; paths must be the same there")
    task, problems = place.task, []
    if not (task.out / "results.jsonl").is_file():
        # Pictures on the disk of the node would be seen by nobody.
        said = f"{task.out} is not that folder there, so no pictures; it must be a shared one"
        task, problems = replace(task, pictures=False), _told(piece, said).problems
    with OpenBag(task.definitions) as open_bag:
        outcome = Worker(task, open_bag).work(piece)
    if not outcome.rows:
        return _told(piece, "; ".join(problem.problem for problem in outcome.problems))
    outcome.problems += problems
    return outcome


def _told(piece: Piece, said: str) -> Outcome:
    text = f"on node {socket.gethostname()}: {said}"
    return Outcome(problems=[BagProblem(bag=piece.bag, problem=text)])
