# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How worker processes begin: forked from a server that has loaded what they need.

Forked from this process they would take along the locks of its threads, and of OpenCV's; started
anew, each would spend half a second of processor time on imports, and their memory on copies of
what is loaded. Nothing heavy is imported here, so that the server can load while this process does.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from multiprocessing import forkserver, resource_tracker
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext

LOADED = (
    "harness_ros.cli",
    "harness_ros.grading.processes",
    "harness_ros.judges.markers",
    "rosbags.typesys.stores.ros2_jazzy",
)


def number_of(workers: int) -> int:
    """So many; for 0, as many as this process may use processors."""
    if workers:
        return workers
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def context() -> ForkServerContext | SpawnContext:
    """What makes processes; the first call starts the server and does not wait for it."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(list(LOADED))
    try:
        with interrupts_blocked():
            forkserver.ensure_running()
    except OSError:
        # Where TMPDIR is long, the path of its socket is longer than the system allows.
        return multiprocessing.get_context("spawn")
    return made


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """What starts here has SIGINT blocked from its first moment on.

    Ctrl-C goes to the whole group; whoever started a worker tells it what to do.
    """
    # The start of the tracker, which comes with that of the first process, would unblock it.
    resource_tracker.ensure_running()
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
