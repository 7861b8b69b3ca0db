# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The evaluator: for every run that ends, one Observation, one question to the judge, one verdict.

A run goes through three phases, each with a deadline on the steady clock: armed (the tool works,
frames are kept), capturing (the tool has ended, the matcher looks for a set), judging (the judge
has been asked). Whatever happens, it ends in exactly one verdict, which is in the ledger before
anybody hears of it.
"""

from __future__ import annotations

import time
import traceback
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future

from harness_ros import evaluation, msg, srv
from harness_ros.capture.decoding import DecodeError, Decoder, observation
from harness_ros.capture.sample import Sample
from harness_ros.capture.session import CaptureSession
from harness_ros.config import ArgumentError
from harness_ros.contract import HarnessError, Kind, Observation, Run, Verdict
from harness_ros.ledger import Ledger
from harness_ros.ros import conversion
from harness_ros.ros.message_filters_matcher import matcher_factory
from harness_ros.ros.parameters import declare, declare_config, declare_ledger
from harness_ros.ros.qos import EVENTS
from harness_ros.ros.sources import Sources
from harness_ros.ros.spinning import run_node
from harness_ros.ros.waiting import VerdictWaiters

TICK_S = 0.02


class Phase(Enum):
    """What an open run waits for."""

    ARMED = "the tool to end"
    CAPTURING = "frames after the end"
    JUDGING = "the judge"


@dataclass
class OpenRun:
    """A run without a verdict."""

    run: Run
    capture: CaptureSession
    deadline: float
    """On the steady clock, of the present phase."""
    phase: Phase = Phase.ARMED
    resumed: bool = False
    """Taken up again after a restart."""
    observation: Observation | None = None
    answer: Future | None = None

    @property
    def sources(self) -> tuple[str, ...]:
        """Cameras and signals that it listens to."""
        return (*self.capture.rule.cameras, *self.capture.rule.signals)


class Evaluator(Node):
    """Node `_evaluator`: hidden from listings, which is no security (see the README)."""

    def __init__(self, **options: Any) -> None:
        super().__init__("_evaluator", **options)
        self._config = declare_config(self)
        self._ledger = Ledger(declare_ledger(self))
        self._finish_grace_s = declare(
            self,
            "finish_grace_s",
            30.0,
            "seconds beyond a tool's timeout after which a run that never ended is interrupted",
            (0.0, 3600.0),
        )
        self._decoder = Decoder()
        self._matcher_factory = matcher_factory()
        self._sources = Sources(self, self._config, self._decoder, self._on_sample)
        self._storage = ThreadPoolExecutor(max_workers=1, thread_name_prefix="observations")
        self._open: dict[str, OpenRun] = {}
        self._waiters = VerdictWaiters()
        group = ReentrantCallbackGroup()
        self._judges: dict[str, Client] = {
            name: self.create_client(srv.Evaluate, f"_evaluate/{name}", callback_group=group)
            for name in self._config.judges
        }
        self._verdicts = self.create_publisher(msg.Verdict, "verdicts", EVENTS)
        self._tick = self.create_timer(
            TICK_S, self._on_tick, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        self._tick.cancel()
        for run in self._ledger.open_runs():
            self._take(run, resumed=True)
        self.create_subscription(msg.ToolRun, "runs", self._on_tool_run, EVENTS)
        self.create_service(
            srv.GetVerdict, "get_verdict", self._on_get_verdict, callback_group=group
        )
        self.get_logger().info(
            f"{len(self._config.tools)} tools, criteria {self._config.criteria_hash[:12]}, "
            f"matcher {self._matcher_factory.__name__}"
        )

    def destroy_node(self) -> None:
        """Waits for Observations that are being written, then ends."""
        self._storage.shutdown(wait=True)
        self._ledger.close()
        super().destroy_node()

    # Runs

    def _on_tool_run(self, message: msg.ToolRun) -> None:
        try:
            run = conversion.run_from_message(message)
        except HarnessError as error:
            self._on_malformed(message, str(error))
            return
        with self._guard(run):
            self._take(run)

    @contextmanager
    def _guard(self, run: Run) -> Iterator[None]:
        """Whatever goes wrong with a run is that run's verdict, and no other run's business."""
        try:
            yield
        except Exception as error:
            self.get_logger().error(f"run {run.run_id}: {error!r}\n{traceback.format_exc()}")
            self._give(run, Kind.INTERRUPTED, f"the evaluator failed: {error!r}")

    def _on_malformed(self, message: msg.ToolRun, reason: str) -> None:
        """A ToolRun that says no valid run; when it says that one ended, that is a verdict."""
        self.get_logger().error(reason)
        if message.phase != msg.ToolRun.FINISHED:
            return
        run = Run(
            run_id=message.run_id or f"unnamed-{uuid.uuid4().hex}",
            call_id=message.call_id,
            segment=max(1, message.segment),
            tool_name=message.tool_name,
            arguments={},
            started_at_ns=conversion.to_ns(message.started_at),
            ended_at_ns=conversion.to_ns(message.ended_at),
        )
        if self._ledger.verdict(run.run_id) is None:
            kind = Kind.INVALID_RUN if message.run_id else Kind.MISSING_RUN_ID
            self._ledger.record_run(run)
            self._give(run, kind, reason)

    def _take(self, run: Run, resumed: bool = False) -> None:
        """A run was started or has finished; what is known of it already is not news."""
        if self._ledger.verdict(run.run_id) is not None:
            begun = self._ledger.run(run.run_id)
            if begun is not None and begun.started_at_ns != run.started_at_ns:
                self.get_logger().error(
                    f"run {run.run_id} of tool '{run.tool_name}' is named like a run that has its "
                    "verdict: there will be no other"
                )
            return
        known = self._open.get(run.run_id)
        if known is None:
            self._ledger.record_run(run)
            if run.tool_name not in self._config.tools:
                self._reject(run)
                return
            known = self._arm(run, resumed)
        if run.finished and known.phase is Phase.ARMED:
            self._finish(known, run)

    def _reject(self, run: Run) -> None:
        if run.finished:
            tools = sorted(self._config.tools)
            reason = f"tool '{run.tool_name}' is not under `tools` in the configuration: {tools}"
            self._give(run, Kind.INVALID_RUN, reason)

    def _arm(self, run: Run, resumed: bool) -> OpenRun:
        timeout_s = self._config.tools[run.tool_name].timeout_s + self._finish_grace_s
        opened = OpenRun(
            run=run,
            capture=CaptureSession(
                evaluation.capture_rule(self._config, run.tool_name), self._matcher_factory
            ),
            deadline=time.monotonic() + timeout_s,
            resumed=resumed,
        )
        self._open[run.run_id] = opened
        self._sources.acquire(opened.sources)
        self._tick.reset()
        return opened

    def _finish(self, opened: OpenRun, run: Run) -> None:
        begun = opened.run
        # The call is what was said when it started: a later message cannot change it.
        opened.run = begun.model_copy(update={"ended_at_ns": run.ended_at_ns})
        self._ledger.record_run(opened.run)
        try:
            self._config.checked_arguments(begun.tool_name, begun.arguments)
        except ArgumentError as error:
            self._give(begun, Kind.INVALID_RUN, str(error))
            return
        opened.capture.finish(run.ended_at_ns or 0)
        opened.phase = Phase.CAPTURING
        opened.deadline = time.monotonic() + self._config.capture.timeout_s
        if opened.capture.complete:
            self._judge(opened)
        elif self.get_clock().now().nanoseconds > opened.capture.window_ns[1]:
            self._give(
                opened.run,
                Kind.INTERRUPTED,
                "the evaluator did not run while the evidence could be had",
            )

    def _on_sample(self, sample: Sample) -> None:
        for opened in list(self._open.values()):
            if sample.source in opened.capture.counts and opened.phase is not Phase.JUDGING:
                with self._guard(opened.run):
                    opened.capture.add(sample)
                    if opened.phase is Phase.CAPTURING and opened.capture.complete:
                        self._judge(opened)

    # Judging

    def _judge(self, opened: OpenRun) -> None:
        run = opened.run
        frames, signals = opened.capture.selection()
        names = [sample.source for sample in frames]
        try:
            opened.observation = observation(
                self._decoder,
                self._config,
                run,
                frames,
                signals,
                topics={name: self._sources.topic(name) for name in names},
                publishers={name: ", ".join(self._sources.publishers(name)) for name in names},
            )
        except DecodeError as error:
            self._give(run, Kind.OBSERVATION_UNAVAILABLE, str(error))
            return
        opened.phase = Phase.JUDGING
        judge = self._config.judges[self._config.tools[run.tool_name].judge]
        opened.deadline = time.monotonic() + judge.timeout_s
        self._storage.submit(self._store, opened.observation)
        self._ask(opened)

    def _store(self, evidence: Observation) -> None:
        try:
            self._ledger.record_observation(evidence, self._config.ledger.views_kept)
        except Exception as error:
            self.get_logger().error(f"run {evidence.run_id}: observation not kept: {error!r}")

    def _ask(self, opened: OpenRun) -> None:
        """Sends the question once the judge is there; `_on_tick` tries again until it is."""
        client = self._judges[self._config.tools[opened.run.tool_name].judge]
        if opened.observation is None or not client.service_is_ready():
            return
        request = evaluation.request(self._config, opened.run, opened.observation)
        opened.answer = client.call_async(conversion.request_to_message(request))
        opened.answer.add_done_callback(lambda future: self._on_answer(opened, future))

    def _on_answer(self, opened: OpenRun, future: Future) -> None:
        if self._open.get(opened.run.run_id) is not opened or opened.observation is None:
            return
        with self._guard(opened.run):
            try:
                judgement = conversion.judgement_from_response(future.result())
            except conversion.ConversionError as error:
                self._give(opened.run, Kind.JUDGE_PROTOCOL_VIOLATION, str(error))
                return
            self._conclude(
                evaluation.verdict(
                    self._config, opened.run, opened.observation, judgement, self._now_ns()
                )
            )

    # Verdicts

    def _give(self, run: Run, kind: Kind, reason: str) -> None:
        """Ends a run that nobody could judge."""
        opened = self._open.get(run.run_id)
        seen = opened.observation if opened else None
        self._conclude(evaluation.unjudged(self._config, run, kind, reason, self._now_ns(), seen))

    def _conclude(self, verdict: Verdict) -> None:
        opened = self._open.pop(verdict.run_id, None)
        if opened is not None:
            self._sources.release(opened.sources)
            if opened.answer is not None and not opened.answer.done():
                tool = self._config.tools[verdict.tool_name]
                self._judges[tool.judge].remove_pending_request(opened.answer)
        if not self._ledger.record_verdict(verdict):
            return
        self._verdicts.publish(conversion.verdict_to_message(verdict))
        detail = f" ({verdict.kind.value})" if verdict.kind.value else ""
        reason = f": {verdict.failure_reason}" if verdict.failure_reason else ""
        self.get_logger().info(
            f"run {verdict.run_id[:8]} {verdict.tool_name} segment {verdict.segment}: "
            f"{verdict.status.name.lower()}{detail}{reason}"
        )
        self._waiters.resolve(verdict)

    def _on_tick(self) -> None:
        now = time.monotonic()
        for opened in list(self._open.values()):
            with self._guard(opened.run):
                if now >= opened.deadline:
                    self._expire(opened)
                elif opened.phase is Phase.JUDGING and opened.answer is None:
                    self._ask(opened)
        self._waiters.expire(self._open)
        if not self._open and not self._waiters:
            self._tick.cancel()

    def _expire(self, opened: OpenRun) -> None:
        tool = self._config.tools[opened.run.tool_name]
        if opened.phase is Phase.JUDGING:
            service = self._judges[tool.judge].srv_name
            heard = "did not answer" if opened.answer else "is not there"
            reason = (
                f"judge '{tool.judge}' ({service}) {heard} within "
                f"{self._config.judges[tool.judge].timeout_s:g} s"
            )
            self._give(opened.run, Kind.JUDGE_UNAVAILABLE, reason)
        elif opened.phase is Phase.CAPTURING and not opened.resumed:
            self._give(opened.run, Kind.OBSERVATION_UNAVAILABLE, self._why_no_observation(opened))
        elif opened.phase is Phase.CAPTURING:
            reason = "the evaluator was restarted and the evidence was gone: "
            self._give(opened.run, Kind.INTERRUPTED, reason + self._why_no_observation(opened))
        else:
            reason = f"the tool did not say that it ended within {tool.timeout_s:g} s and grace"
            self._give(opened.run, Kind.INTERRUPTED, reason)

    def _why_no_observation(self, opened: OpenRun) -> str:
        unpublished = [
            f"'{name}' ({self._sources.topic(name)})"
            for name in opened.sources
            if not self._sources.publishers(name)
        ]
        why = (
            f"no Observation within {self._config.capture.timeout_s:g} s: "
            f"{opened.capture.missing()}"
        )
        return f"{why}; nobody publishes {', '.join(unpublished)}" if unpublished else why

    async def _on_get_verdict(self, request: Any, response: Any) -> Any:
        verdict = self._ledger.verdict(request.run_id)
        if verdict is None and request.timeout_s > 0:
            self._tick.reset()
            verdict = await self._waiters.add(request.run_id, request.timeout_s, self.executor)
        response.found = verdict is not None
        if verdict is not None:
            response.verdict = conversion.verdict_to_message(verdict)
        elif request.run_id in self._open:
            response.open = True
            phase = self._open[request.run_id].phase.value
            response.reason = f"run '{request.run_id}' is open: waiting for {phase}"
        else:
            response.reason = f"run '{request.run_id}' is unknown"
        return response

    def _now_ns(self) -> int:
        return int(self.get_clock().now().nanoseconds)


def main() -> int:
    """Runs the evaluator."""
    return run_node(Evaluator)
