# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What becomes of a verdict: the ledger first, then the topic, the log and whoever waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from rclpy.node import Node

from harness_ros import msg, srv
from harness_ros.contract import HarnessError, Verdict
from harness_ros.ledger import Ledger
from harness_ros.ros import conversion
from harness_ros.ros.deferring import Deferred, create_deferring_service
from harness_ros.ros.diagnostics import Diagnostics, Report
from harness_ros.ros.evaluator.open_run import OpenRun
from harness_ros.ros.evaluator.tallies import VerdictTally
from harness_ros.ros.evaluator.waiting import VerdictWaiters
from harness_ros.ros.qos import EVENTS

WRITE_AGAIN_S = 1.0


class Verdicts:
    """The topic `verdicts` and the service `get_verdict`.

    Args:
        open_runs: by their ids, as they are now.
        wake: called where `tick` is needed again.
    """

    def __init__(
        self,
        node: Node,
        ledger: Ledger,
        diagnostics: Diagnostics,
        open_runs: Mapping[str, OpenRun],
        wake: Callable[[], None],
    ) -> None:
        self._node = node
        self._ledger = ledger
        self._diagnostics = diagnostics
        self._open_runs = open_runs
        self._wake = wake
        self._unwritten: dict[str, Verdict] = {}
        self._write_again_at = 0.0
        self._waiters = VerdictWaiters()
        self._tally = VerdictTally(ledger.counts())
        self._publisher = node.create_publisher(msg.Verdict, "verdicts", EVENTS)

    def serve(self) -> None:
        """Answers `get_verdict` from now on."""
        create_deferring_service(self._node, srv.GetVerdict, "get_verdict", self._on_get_verdict)

    @property
    def idle(self) -> bool:
        """Whether `tick` has nothing to do."""
        return not self._waiters and not self._unwritten

    def of(self, run_id: str) -> Verdict | None:
        """The verdict of a run, also where it could not be written yet."""
        return self._ledger.verdict(run_id) or self._unwritten.get(run_id)

    def give(self, verdict: Verdict) -> None:
        """The one verdict of a run; a second one is none."""
        self._unwritten.setdefault(verdict.run_id, verdict)
        self._write(self._unwritten[verdict.run_id])

    def tick(self) -> None:
        """Writes what could not be written before, and answers whoever waited long enough."""
        if self._unwritten and time.monotonic() >= self._write_again_at:
            for verdict in list(self._unwritten.values()):
                self._write(verdict)
        self._waiters.expire(self._open_runs.keys() | self._unwritten.keys())

    def report(self, runs: Collection[OpenRun]) -> Report:
        """Open runs by phase, verdicts by status and kind."""
        return self._tally.report(runs, len(self._unwritten))

    def _write(self, verdict: Verdict) -> None:
        """Writes a verdict, then tells it; what cannot be written is tried again until it can."""
        try:
            new = self._ledger.record_verdict(verdict)
        except HarnessError as error:
            self._diagnostics.failed(f"run {verdict.run_id}: verdict not written", error)
            self._write_again_at = time.monotonic() + WRITE_AGAIN_S
            self._wake()
            return
        del self._unwritten[verdict.run_id]
        if new:
            self._tell(verdict)

    def _tell(self, verdict: Verdict) -> None:
        self._publisher.publish(conversion.verdict_to_message(verdict))
        self._tally.add(verdict)
        detail = f" ({verdict.kind.value})" if verdict.kind.value else ""
        reason = f": {verdict.failure_reason}" if verdict.failure_reason else ""
        self._node.get_logger().info(
            f"run {verdict.run_id[:8]} {verdict.tool_name} segment {verdict.segment}: "
            f"{verdict.status.name.lower()}{detail}{reason}"
        )
        self._waiters.resolve(verdict)

    def _on_get_verdict(self, request: Any, response: Any) -> Any:
        run_id = request.run_id
        try:
            verdict = self._ledger.verdict(run_id)
        except HarnessError as error:
            self._diagnostics.failed(f"get_verdict of run '{run_id}'", error)
            response.reason = f"the evaluator failed: {error}"
            return response
        if verdict is not None or not request.timeout_s > 0:
            return self._answer(run_id, verdict, response)
        deferred = Deferred()
        self._waiters.add(
            run_id,
            request.timeout_s,
            lambda found: deferred.answer(self._answer(run_id, found, response)),
        )
        self._wake()
        return deferred

    def _answer(self, run_id: str, verdict: Verdict | None, response: Any) -> Any:
        response.found = verdict is not None
        if verdict is not None:
            response.verdict = conversion.verdict_to_message(verdict)
        elif run_id in self._open_runs:
            response.open = True
            phase = self._open_runs[run_id].phase.value
            response.reason = f"run '{run_id}' is open: waiting for {phase}"
        elif run_id in self._unwritten:
            response.open = True
            response.reason = f"run '{run_id}' is open: its verdict cannot be written to the ledger"
        else:
            response.reason = f"run '{run_id}' is unknown"
        return response
