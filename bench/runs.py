# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs as the evaluator hears of them, without a tool: ToolRun out, Verdict in."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from typing import Any

from bench.record import BenchError
from bench.stage import Stage
from bench.world import CAMERAS, TOOL, topic
from harness_ros import msg
from harness_ros.ros.conversion import to_time
from harness_ros.ros.qos import EVENTS


@dataclass(frozen=True)
class Heard:
    """A verdict and when it came, on the clock of time.perf_counter_ns."""

    verdict: Any
    at_ns: int


class Runs:
    """Publishes what a tool would publish, and keeps the verdicts until they are asked for."""

    def __init__(self, stage: Stage, tool: str = TOOL) -> None:
        self._stage = stage
        self._tool = tool
        self._publisher = stage.driver.create_publisher(msg.ToolRun, "runs", EVENTS)
        self._open: dict[str, msg.ToolRun] = {}
        self.heard: dict[str, Heard] = {}
        stage.driver.create_subscription(msg.Verdict, "verdicts", self._on_verdict, EVENTS)

    def await_evaluator(self) -> None:
        """Returns once the evaluator listens and can be heard."""
        graph = self._stage.driver
        self._stage.until(
            lambda: self._publisher.get_subscription_count() and graph.count_publishers("verdicts"),
            "an evaluator on the graph",
        )

    def start(self) -> str:
        """Says that a run started; its run_id."""
        run_id = uuid.uuid4().hex
        self._open[run_id] = msg.ToolRun(
            phase=msg.ToolRun.STARTED,
            run_id=run_id,
            call_id=run_id,
            segment=1,
            tool_name=self._tool,
            arguments="{}",
            started_at=to_time(time.time_ns()),
        )
        self._publisher.publish(self._open[run_id])
        return run_id

    def finish(self, run_id: str) -> None:
        """Says that a run has finished now."""
        message = self._open.pop(run_id)
        message.phase = msg.ToolRun.FINISHED
        message.ended_at = to_time(time.time_ns())
        self._publisher.publish(message)

    def verdict(self, run_id: str, timeout_s: float = 30.0) -> Heard:
        """Waits for the verdict of a run.

        Raises:
            BenchError: there is none in time.
        """
        self._stage.until(lambda: run_id in self.heard, f"a verdict of run {run_id}", timeout_s)
        return self.heard.pop(run_id)

    def success(self, run_id: str) -> Heard:
        """Waits for the verdict of a run that must be judged a success.

        Raises:
            BenchError: it is none.
        """
        heard = self.verdict(run_id)
        expect_success(heard.verdict)
        return heard

    def await_subscriptions(self, wanted: bool) -> None:
        """Returns once the evaluator holds all of its camera subscriptions, or none."""
        self._stage.until(
            lambda: all((self.subscribed(camera) > 0) is wanted for camera in CAMERAS),
            "camera subscriptions " + ("of a started run" if wanted else "gone"),
        )

    def subscribed(self, camera: str) -> int:
        """How many subscriptions to a camera the evaluator holds, by the graph."""
        found = self._stage.driver.get_subscriptions_info_by_topic(topic(camera))
        return sum(info.node_name == "_evaluator" for info in found)

    def _on_verdict(self, verdict: msg.Verdict) -> None:
        self.heard[verdict.run_id] = Heard(verdict, time.perf_counter_ns())


def expect_success(verdict: Any) -> None:
    """Raises unless a verdict is a success: what is measured must be the whole way.

    Raises:
        BenchError: with the verdict.
    """
    if verdict.status != msg.Verdict.SUCCESS:
        raise BenchError(f"a success was expected: {verdict}")
