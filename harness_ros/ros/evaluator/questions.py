# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Questions to judges: asked once a judge is there, answered or given up, and counted."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future

from harness_ros import srv
from harness_ros.config import JudgeConfig
from harness_ros.config.calibrated import JudgeState
from harness_ros.ros.diagnostics import Level, Report
from harness_ros.ros.qos import REQUESTS

LATENCIES_KEPT = 100


@dataclass
class JudgeCount:
    """What came of the questions to one judge."""

    asked: int = 0
    waiting: int = 0
    """Asked and not answered yet."""
    answered: int = 0
    failed: int = 0
    """Not answered in time, answered with an error, or with what is no judgement."""
    last_failure: str = ""
    latencies_s: deque[float] = field(default_factory=lambda: deque(maxlen=LATENCIES_KEPT))


@dataclass
class Question:
    """One question that is on its way."""

    judge: str
    future: Future
    asked_at: float


class Judges:
    """The judges of a configuration, as clients of their hidden services."""

    def __init__(
        self, node: Node, configs: dict[str, JudgeConfig], states: Mapping[str, JudgeState]
    ) -> None:
        group = ReentrantCallbackGroup()
        self._clients: dict[str, Client] = {
            name: node.create_client(
                srv.Evaluate, f"_evaluate/{name}", qos_profile=REQUESTS, callback_group=group
            )
            for name in configs
        }
        self.counts = {name: JudgeCount() for name in configs}
        self._states = states
        self._parallel = {name: config.parallel for name, config in configs.items()}

    def service(self, judge: str) -> str:
        """Name of a judge's service."""
        return str(self._clients[judge].srv_name)

    def ask(
        self, judge: str, request: Callable[[], Any], answered: Callable[[Future], None]
    ) -> Question | None:
        """Sends a question, the request made for it; None when the judge is not there, or busy."""
        client, count = self._clients[judge], self.counts[judge]
        if count.waiting >= self._parallel[judge] or not client.service_is_ready():
            return None
        count.asked += 1
        count.waiting += 1
        question = Question(judge, client.call_async(request()), time.monotonic())

        def on_answer(future: Future) -> None:
            if future.cancelled():
                return
            count.answered += 1
            count.waiting -= 1
            count.latencies_s.append(time.monotonic() - question.asked_at)
            answered(future)

        question.future.add_done_callback(on_answer)
        return question

    def why_not_asked(self, judge: str) -> str:
        """Why a question could not be sent, as far as is known now."""
        if not self._clients[judge].service_is_ready():
            return "is not there"
        return f"was busy with {self.counts[judge].waiting} other questions and took none"

    def failed(self, judge: str, reason: str) -> None:
        """A question came to nothing."""
        self.counts[judge].failed += 1
        self.counts[judge].last_failure = reason

    def forget(self, question: Question) -> None:
        """Nobody waits for the answer any more."""
        if not question.future.done():
            self._clients[question.judge].remove_pending_request(question.future)
            self.counts[question.judge].waiting -= 1

    def reports(self) -> Iterator[Report]:
        """The diagnostics of each judge."""
        for name, count in self.counts.items():
            there = self._clients[name].service_is_ready()
            latencies = list(count.latencies_s)
            values = {
                "service": self.service(name),
                "asked": count.asked,
                "answered": count.answered,
                "waiting": count.waiting,
                "failed": count.failed,
                "last failure": count.last_failure,
                "latency median (s)": float(median(latencies)) if latencies else "",
                "latency worst (s)": max(latencies) if latencies else "",
            }
            state = self._states.get(name)
            if state is not None:
                values |= {"error card": state.card, "errors": state.errors}
            if not there:
                yield Report(f"judge {name}", Level.ERROR, "is not there", values)
            elif count.failed:
                text = f"{count.failed} of {count.asked} questions failed"
                yield Report(f"judge {name}", Level.WARN, text, values)
            elif text := _unmeasured(count.answered, state):
                yield Report(f"judge {name}", Level.WARN, text, values)
            else:
                yield Report(f"judge {name}", Level.OK, f"{count.answered} answers", values)


def _unmeasured(answers: int, state: JudgeState | None) -> str:
    """That the errors of a judge are not known; empty where they are, or need not be.

    What a criterion measures can be read and checked; what a model sees cannot.
    """
    if state is not None and state.stale:
        return f"{answers} answers, and its error card is stale"
    if state is not None and state.uncalibrated and not state.deterministic:
        return f"{answers} answers, uncalibrated"
    return ""
