# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Blocking work beside an executor, whichever kind that is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.task import Future


def in_thread(node: Node, work: Callable[[], Any], name: str) -> Future:
    """Runs blocking work in a thread of its own; the future is awaited in a coroutine callback.

    An action server whose callback awaits this holds up nothing else, in a single-threaded
    executor too. What the work raises comes out of the await.
    """
    executor = node.executor
    future = Future(executor=executor)

    def settle(result: Any, error: BaseException | None) -> None:
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except BaseException as raised:
            error = raised
        # A future that is set from outside does not wake an executor that waits; a task does.
        executor.create_task(settle, result, error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future


def done_event(future: Future) -> threading.Event:
    """An event that is set once the future is done, for waiting in steps."""
    event = threading.Event()
    future.add_done_callback(lambda _: event.set())
    return event


def wait(future: Future, timeout_s: float) -> bool:
    """Blocks until the future is done or the time is up; never call it in an executor's thread."""
    return done_event(future).wait(max(0.0, timeout_s))
