# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A thread in which requests are sent: what it waits for can be given up at any moment."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

Value = TypeVar("Value")


class Background:
    """An event loop in a thread of its own, from the start of this object to its `close`."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        # No reason to keep a process alive: who waits for an answer is in another thread.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, Value], timeout_s: float) -> Value:
        """What a coroutine returns or raises.

        Raises:
            TimeoutError: it took too long, and was cancelled.
        """
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result(timeout_s)
        except concurrent.futures.TimeoutError:
            future.cancel()
            raise TimeoutError from None

    def close(self) -> None:
        """Ends the thread; what still runs in it is cancelled."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(1.0)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        finally:
            self._loop.close()
