# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Blocking work beside an executor, whichever kind that is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from rclpy.node import Node
from rclpy.task import Future

from harness_ros.contract import HarnessError

Result = TypeVar("Result")

LOOK_S = 0.1
"""How often it is looked whether an executor is still there."""


class ExecutorStopped(HarnessError):
    """An executor that no longer runs what it is given."""


def in_executor(node: Node, call: Callable[[], Result], timeout_s: float = 10.0) -> Result:
    """Makes a call in the executor's thread and returns what it returns; for other threads.

    The action client of rclpy is not made for other threads: an answer that comes before
    `send_goal_async` has noted its request is thrown away (rclpy#1123). In the thread of a
    single-threaded executor nothing can come between.

    What the call raises is raised here: in the executor it would end its spinning.

    Raises:
        ExecutorStopped: the executor did not get to it in time; the call will not be made later.
    """
    executor = node.executor
    if executor is None:
        raise ExecutorStopped(f"node {node.get_name()} is in no executor")
    outcome: list[Result] = []
    problems: list[Exception] = []
    answered = threading.Event()

    def make() -> None:
        try:
            outcome.append(call())
        except Exception as error:
            problems.append(error)
        answered.set()

    try:
        task = executor.create_task(make)
    except AttributeError:  # an executor that was shut down has no guard condition
        raise ExecutorStopped("an executor was shut down") from None
    deadline = time.monotonic() + timeout_s
    while not answered.wait(LOOK_S):
        if not executor.context.ok() or time.monotonic() > deadline:
            task.cancel()
            raise ExecutorStopped(f"an executor did nothing for {timeout_s:g} s, or was shut down")
    if problems:
        raise problems[0]
    return outcome[0]


def done_event(future: Future) -> threading.Event:
    """An event that is set once the future is done, for waiting in steps."""
    event = threading.Event()
    try:
        future.add_done_callback(lambda _: event.set())
    except AttributeError:  # it is done, and its executor, which would call back, was shut down
        event.set()
    return event


def wait(future: Future, timeout_s: float) -> bool:
    """Blocks until the future is done or the time is up; never call it in an executor's thread."""
    return done_event(future).wait(max(0.0, timeout_s))
