# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Verifying turns beside everything else: in threads, counted, late ones given up."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

from harness_ros import srv
from harness_ros.ros.conversion import encodable
from harness_ros.ros.diagnostics import Level, Report
from harness_ros.ros.workers import Workers
from harness_ros.sidecar.threads import HANGING_ALLOWED
from harness_ros.sidecar.turns import TurnVerifier

log = logging.getLogger("harness_ros.sidecar")

LATENCIES_KEPT = 1000
LOOK_S = 0.05
"""How often it is looked for turns that are late."""

Send = Callable[[Any], None]


class _Turn:
    """A turn that is with the verifier or waits for it."""

    def __init__(self, request: Any, response: Any, send: Send) -> None:
        self.request, self.response, self.send = request, response, send
        self.asked_at = self.begun_at = time.monotonic()
        self.answered = self.given_up = False


class TurnAnswers:
    """Answers VerifyTurn requests in threads.

    The verifier runs in the thread that answers: to go to another one and back would cost as much
    as the service itself. A thread whose verifier is late is given up and replaced.

    Args:
        turns: scores them.
        timeout_s: of the verifier; a turn that waited twice as long for a thread is not verified.
        at_once: turns that are with the verifier at the same time.
    """

    def __init__(self, turns: TurnVerifier, timeout_s: float, at_once: int) -> None:
        self._turns = turns
        self._timeout_s = timeout_s
        self._workers = Workers("turn", at_once)
        self._lock = threading.Lock()
        self._begun: deque[_Turn] = deque()
        """In the order in which they began, which is that of their deadlines."""
        self._hanging = 0
        self._scored = self._unscored = self._breached = self._violated = 0
        self._last_problem = ""
        self._latencies_s: deque[float] = deque(maxlen=LATENCIES_KEPT)
        self._ending = threading.Event()
        threading.Thread(target=self._watch, name="late turns", daemon=True).start()

    def answer(self, request: Any, response: Any, send: Send) -> None:
        """Has the response sent once it is there; returns at once.

        Args:
            send: is called in another thread, and must not raise.
        """
        turn = _Turn(request, response, send)
        self._workers.add(lambda: self._work(turn))

    def close(self) -> None:
        """Takes up no more turns."""
        self._ending.set()
        self._workers.close()

    @property
    def hanging(self) -> int:
        """Threads in a verifier that was given up and has not returned."""
        return self._hanging + self._turns.hanging

    def _work(self, turn: _Turn) -> None:
        turn.begun_at = time.monotonic()
        waited_s = turn.begun_at - turn.asked_at
        if waited_s > 2 * self._timeout_s:
            refused = f"not verified: the turn waited {waited_s:.3g} s for its turn"
        elif self._hanging >= HANGING_ALLOWED:
            refused = f"{self._hanging} earlier calls of it were given up and have not returned yet"
        else:
            refused = ""
            with self._lock:
                self._begun.append(turn)
        self._fill(turn, refused)
        self._finish(turn, turn.response)
        if turn.given_up:
            with self._lock:
                self._hanging -= 1
                self._workers.take_back_one()

    def _fill(self, turn: _Turn, refused: str) -> None:
        request, response = turn.request, turn.response
        response.score = math.nan
        response.reason = refused
        if refused:
            return
        try:
            result = self._turns.verify_here(
                request.session_id, request.turn_index, request.end_state
            )
            response.reason = encodable(result.reason)
            response.violations = [encodable(item) for item in result.violations]
        except Exception as error:
            response.reason = encodable(f"the sidecar failed: {error!r}")
            return
        if result.has_score:
            response.has_score, response.score = True, float(result.score)
            response.breached = result.breached

    def _finish(self, turn: _Turn, response: Any) -> None:
        """Counts and sends, unless the turn was answered already."""
        with self._lock:
            if turn.answered:
                return
            turn.answered = True
            response.latency_s = time.monotonic() - turn.asked_at
            self._count(response)
        turn.send(response)

    def _count(self, response: Any) -> None:
        self._latencies_s.append(response.latency_s)
        self._violated += bool(response.violations)
        if response.has_score:
            self._scored += 1
            self._breached += response.breached
        else:
            self._unscored += 1
            self._last_problem = response.reason

    def _watch(self) -> None:
        while not self._ending.wait(LOOK_S):
            for turn in self._late():
                text = f"no answer within {self._timeout_s:g} s"
                log.warning("session %r: the verifier: %s", turn.request.session_id, text)
                self._finish(turn, srv.VerifyTurn.Response(score=math.nan, reason=text))

    def _late(self) -> list[_Turn]:
        """Gives up those whose time is over."""
        late = []
        before = time.monotonic() - self._timeout_s
        with self._lock:
            while self._begun and (self._begun[0].answered or self._begun[0].begun_at < before):
                turn = self._begun.popleft()
                if not turn.answered:
                    turn.given_up = True
                    self._hanging += 1
                    self._workers.replace_one()
                    late.append(turn)
        return late

    def reports(self) -> Iterator[Report]:
        """How many turns came to what, for diagnostics."""
        with self._lock:
            latencies = list(self._latencies_s)
            values = {
                "scored": self._scored,
                "without verdict": self._unscored,
                "breached": self._breached,
                "with violations": self._violated,
                "under way": self._workers.unfinished,
                "hanging": self.hanging,
                "last without verdict": self._last_problem,
                "latency median (s)": float(median(latencies)) if latencies else "",
                "latency worst (s)": max(latencies, default=""),
            }
        warning = self._turns.warning
        if not warning and values["hanging"]:
            warning = f"{values['hanging']} calls of the verifier were given up and still run"
        text = warning or f"{values['scored']} turns scored"
        yield Report("verifier", Level.WARN if warning else Level.OK, text, values)
