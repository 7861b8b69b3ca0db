# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a judge asks its model with: a thread, connections, recorded answers, and what it took."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from harness_ros.judges.model import connection
from harness_ros.judges.model.asking import Asker
from harness_ros.judges.model.background import Background
from harness_ros.judges.model.cassette import Cassette
from harness_ros.judges.model.endpoint import Endpoint
from harness_ros.judges.model.funds import Funds
from harness_ros.judges.model.settings import ModelSettings
from harness_ros.judges.model.spending import Account, Spending

Value = TypeVar("Value")

MARGIN_S = 1.0
MARGIN = 0.1
"""A judgement comes so much before its time is up, in seconds or as a share, whichever is less."""


def answer_within_s(timeout_s: float) -> float:
    """Seconds after which a judgement is there, so that the evaluator still hears it."""
    return max(timeout_s * (1 - MARGIN), timeout_s - MARGIN_S)


class ModelSession:
    """May be used from several threads at the same time, and again after a fork or `close`.

    Args:
        name: of the judge.
        funds: see Spending.
    """

    def __init__(self, name: str, settings: ModelSettings, funds: Funds | None = None) -> None:
        self._name = name
        self._settings = settings
        self._spending = Spending(settings.prices, settings.spending_cap, funds)
        self._cassette = (
            Cassette(settings.cassette, connection.host_of(settings)) if settings.cassette else None
        )
        self._lock = threading.Lock()
        self._running: _Running | None = None

    @property
    def account(self) -> Account:
        """What was taken since this was made."""
        return self._spending.account

    def prepare(self) -> str:
        """Loads the client library; returns what keeps the model from being asked, or nothing."""
        if self._cassette is not None and self._cassette.replays_only:
            return self._cassette.problem
        problem = connection.missing(self._settings)
        if not problem:
            # Seconds on a small computer, which the first run would have to wait for.
            import openai  # noqa: F401
        return problem

    def run(self, work: Callable[[Asker], Coroutine[Any, Any, Value]], deadline: float) -> Value:
        """What a coroutine that asks returns or raises.

        Args:
            deadline: on the monotonic clock; the coroutine keeps it, and is ended soon after it.

        Raises:
            TimeoutError: it did not keep it.
        """
        timeout_s = self._settings.timeout_s
        spare_s = (timeout_s - answer_within_s(timeout_s)) / 2
        running = self._open()
        return running.background.run(work(running.asker), deadline - time.monotonic() + spare_s)

    def close(self) -> None:
        """Ends what runs in the background."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            running.close()

    def _open(self) -> _Running:
        with self._lock:
            # Neither threads nor connections survive a fork.
            if self._running is None or self._running.process != os.getpid():
                self._running = _Running(self._name, self._settings, self._cassette, self._spending)
            return self._running


class _Running:
    """What a session has in one process: a thread, and connections once they are needed."""

    def __init__(
        self,
        name: str,
        settings: ModelSettings,
        cassette: Cassette | None,
        spending: Spending,
    ) -> None:
        self.process = os.getpid()
        self.background = Background(f"judge {name}")
        self._settings = settings
        self._spending = spending
        self._endpoint: Endpoint | None = None
        self.asker = Asker(settings, cassette, spending, self._open)

    def close(self) -> None:
        if self._endpoint is not None:
            self.background.run(self._endpoint.close(), 1.0)
        self.background.close()

    def _open(self) -> Endpoint:
        if self._endpoint is None:
            self._endpoint = Endpoint(self._settings, self._spending)
        return self._endpoint
