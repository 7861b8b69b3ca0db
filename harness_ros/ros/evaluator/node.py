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
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future

from harness_ros import evaluation, msg
from harness_ros.capture import observing
from harness_ros.capture.decoding import Decoder
from harness_ros.capture.diagnosis import why_not
from harness_ros.capture.observing import Origins
from harness_ros.capture.sample import NANOSECONDS, Sample
from harness_ros.capture.session import CaptureSession
from harness_ros.config import ArgumentError
from harness_ros.config.calibrated import judge_states
from harness_ros.contract import HarnessError, Kind, Observation, Run, Verdict
from harness_ros.ledger import Ledger
from harness_ros.ros import conversion
from harness_ros.ros.diagnostics import Diagnostics, Report
from harness_ros.ros.evaluator.open_run import ClockWatch, OpenRun, Phase
from harness_ros.ros.evaluator.questions import Judges
from harness_ros.ros.evaluator.tallies import source_reports
from harness_ros.ros.evaluator.verdicts import Verdicts
from harness_ros.ros.message_filters_matcher import matcher_factory
from harness_ros.ros.parameters import declare, declare_config, declare_ledger
from harness_ros.ros.qos import EVENTS
from harness_ros.ros.sources import Sources

TICK_S = 0.02
KEEP_AFTER_S = 0.2
"""How long a judge may take before its Observation is put into the ledger beside it."""


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
        observing.check_sources(self._config, self._decoder)
        self._matcher_factory = matcher_factory()
        self._diagnostics = Diagnostics(self, self._reports)
        self._sources = Sources(
            self,
            observing.all_sources(self._config),
            self._decoder,
            self._on_sample,
            self._on_unreadable,
        )
        self._storage = ThreadPoolExecutor(max_workers=1, thread_name_prefix="observations")
        self._open: dict[str, OpenRun] = {}
        states = judge_states(self._config)
        self._judges = Judges(self, self._config.judges, states)
        self._tick = self.create_timer(
            TICK_S,
            self._diagnostics.guarded("tick")(self._on_tick),
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )
        self._tick.cancel()
        self._verdicts = Verdicts(
            self, self._ledger, self._diagnostics, self._open, self._tick.reset
        )
        for run in self._ledger.open_runs():
            with self._guard(run):
                self._take(run, resumed=True)
        self.create_subscription(
            msg.ToolRun, "runs", self._diagnostics.guarded("a ToolRun")(self._on_tool_run), EVENTS
        )
        self._verdicts.serve()
        self.get_logger().info(
            f"{len(self._config.tools)} tools, criteria {self._config.criteria_hash[:12]}, "
            f"matcher {self._matcher_factory.__name__}"
        )
        for name, state in states.items():
            self.get_logger().info(f"judge '{name}': {state.words}")

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

    def _guard(self, run: Run) -> AbstractContextManager[None]:
        """Whatever goes wrong with a run is that run's verdict, and no other run's business."""
        return self._diagnostics.guard(
            f"run {run.run_id}",
            lambda error: self._give(run, Kind.INTERRUPTED, f"the evaluator failed: {error!r}"),
        )

    def _on_malformed(self, message: msg.ToolRun, reason: str) -> None:
        """A ToolRun that says no valid run; when it says that one ended, that is a verdict."""
        self.get_logger().error(reason)
        if message.phase != msg.ToolRun.FINISHED:
            return
        run = conversion.run_from_malformed(message, f"unnamed-{uuid.uuid4().hex}")
        if self._verdicts.of(run.run_id) is None:
            kind = Kind.INVALID_RUN if message.run_id else Kind.MISSING_RUN_ID
            self._ledger.record_run(run)
            self._give(run, kind, reason)

    def _take(self, run: Run, resumed: bool = False) -> None:
        """A run was started or has finished; what is known of it already is not news."""
        if self._verdicts.of(run.run_id) is not None:
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
        rule = evaluation.capture_rule(self._config, run.tool_name)
        opened = OpenRun(
            run=run,
            capture=CaptureSession(rule, self._matcher_factory),
            deadline=time.monotonic() + timeout_s,
            clock=ClockWatch(self.get_clock(), self._diagnostics.simulated),
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
        wrong = evaluation.other_run(begun, run) or evaluation.invalid_times(opened.run)
        if wrong:
            self._give(begun, Kind.INVALID_RUN, wrong)
            return
        try:
            self._config.checked_arguments(begun.tool_name, begun.arguments)
        except ArgumentError as error:
            self._give(begun, Kind.INVALID_RUN, str(error))
            return
        if opened.resumed and (seen := self._seen_before(run.run_id)) is not None:
            opened.kept = True
            self._judge(opened, seen)
            return
        opened.origins = self._origins(opened)
        opened.capture.finish(run.ended_at_ns or 0)
        opened.phase = Phase.CAPTURING
        opened.deadline = time.monotonic() + self._config.capture.timeout_s
        self._judge_when_complete(opened)
        late = self._now_ns() > opened.capture.window_ns[1]
        if opened.phase is Phase.CAPTURING and late and not opened.was_there():
            ago_s = (self._now_ns() - (run.ended_at_ns or 0)) / NANOSECONDS
            reason = (
                "the evaluator did not run while the evidence could be had: "
                f"by its stamps the run ended {ago_s:.1f} s ago"
            )
            self._give(opened.run, Kind.INTERRUPTED, reason)

    def _origins(self, opened: OpenRun) -> Origins:
        # Asked for now, while the settle time passes, and not between the last frame and the judge.
        return Origins(
            topics={name: self._sources.topic(name) for name in opened.sources},
            publishers={
                name: ", ".join(self._sources.publishers(name))
                for name in opened.capture.rule.cameras
            },
        )

    def _on_sample(self, sample: Sample) -> None:
        for opened in list(self._open.values()):
            if sample.source in opened.capture.counts and opened.phase is not Phase.JUDGING:
                with self._guard(opened.run):
                    opened.capture.add(sample)
                    if opened.phase is Phase.CAPTURING:
                        self._judge_when_complete(opened)

    def _on_unreadable(self, source: str) -> None:
        for opened in self._open.values():
            if source in opened.capture.counts:
                opened.capture.counts[source].malformed += 1

    # Judging

    def _seen_before(self, run_id: str) -> Observation | None:
        """What an evaluator that ended before its judge answered has left in the ledger."""
        seen = self._ledger.observation(run_id)
        return None if seen is None or "views_left_out" in seen.provenance else seen

    def _judge_when_complete(self, opened: OpenRun) -> None:
        seen = observing.observe(
            opened.capture, self._decoder, self._config, opened.run, opened.origins
        )
        if seen is not None:
            self._judge(opened, seen)

    def _judge(self, opened: OpenRun, seen: Observation) -> None:
        opened.observation = seen
        judge = self._config.tools[opened.run.tool_name].judge
        opened.phase = Phase.JUDGING
        opened.observed_at = time.monotonic()
        opened.deadline = time.monotonic() + self._config.judges[judge].timeout_s
        self._ask(opened)

    def _keep(self, opened: OpenRun) -> None:
        """Puts the Observation into the ledger, beside everything else.

        A judge that answers at once comes first: writing images would take its share of the
        machine.
        """
        if opened.observation is not None and not opened.kept:
            opened.kept = True
            self._storage.submit(self._store, opened.observation)

    def _store(self, evidence: Observation) -> None:
        with self._diagnostics.guard(f"run {evidence.run_id}: observation not kept"):
            self._ledger.record_observation(evidence, self._config.ledger.views_kept)

    def _ask(self, opened: OpenRun) -> None:
        """Sends the question once the judge is there; `_on_tick` tries again until it is."""
        if opened.observation is None:
            return
        judge = self._config.tools[opened.run.tool_name].judge
        request = evaluation.request(self._config, opened.run, opened.observation)
        opened.question = self._judges.ask(
            judge,
            lambda: conversion.request_to_message(request),
            lambda future: self._on_answer(opened, future),
        )

    def _ask_next(self, judge: str) -> None:
        """A judge has answered: the run that waits longest for it is next."""
        for opened in self._open.values():
            waits = opened.phase is Phase.JUDGING and opened.question is None
            if waits and self._config.tools[opened.run.tool_name].judge == judge:
                with self._guard(opened.run):
                    self._ask(opened)
                return

    def _on_answer(self, opened: OpenRun, future: Future) -> None:
        if self._open.get(opened.run.run_id) is not opened or opened.observation is None:
            self._ask_next(self._config.tools[opened.run.tool_name].judge)
            return
        with self._guard(opened.run):
            self._conclude(self._answered(opened.run, opened.observation, future.result()))
        self._ask_next(self._config.tools[opened.run.tool_name].judge)

    def _answered(self, run: Run, observation: Observation, answer: Any) -> Verdict:
        """The verdict that a judge's answer gives, also where it is none."""
        judge = self._config.tools[run.tool_name].judge
        try:
            judgement = conversion.judgement_from_response(answer)
        except conversion.ConversionError as error:
            kind, reason = Kind.JUDGE_PROTOCOL_VIOLATION, str(error)
            self._judges.failed(judge, reason)
            return evaluation.unjudged(self._config, run, kind, reason, self._now_ns(), observation)
        verdict = evaluation.verdict(self._config, run, observation, judgement, self._now_ns())
        if verdict.kind in (Kind.JUDGE_UNAVAILABLE, Kind.JUDGE_PROTOCOL_VIOLATION):
            self._judges.failed(judge, verdict.failure_reason)
        return verdict

    # Verdicts

    def _give(self, run: Run, kind: Kind, reason: str) -> None:
        """Ends a run that nobody could judge."""
        opened = self._open.get(run.run_id)
        seen = opened.observation if opened else None
        self._conclude(evaluation.unjudged(self._config, run, kind, reason, self._now_ns(), seen))

    def _conclude(self, verdict: Verdict) -> None:
        opened = self._open.pop(verdict.run_id, None)
        self._verdicts.give(verdict)
        # What nobody waits for comes last: to end a subscription takes a millisecond.
        if opened is not None:
            self._sources.release(opened.sources)
            if opened.question is not None:
                self._judges.forget(opened.question)
            self._keep(opened)

    def _on_tick(self) -> None:
        now = time.monotonic()
        for opened in list(self._open.values()):
            with self._guard(opened.run):
                if now >= opened.deadline:
                    self._expire(opened)
                elif opened.phase is Phase.JUDGING and opened.question is None:
                    self._ask(opened)
                if opened.observed_at is not None and now > opened.observed_at + KEEP_AFTER_S:
                    self._keep(opened)
        self._verdicts.tick()
        if not self._open and self._verdicts.idle:
            self._tick.cancel()

    def _expire(self, opened: OpenRun) -> None:
        tool = self._config.tools[opened.run.tool_name]
        if opened.phase is Phase.JUDGING:
            heard = "did not answer" if opened.question else self._judges.why_not_asked(tool.judge)
            reason = (
                f"judge '{tool.judge}' ({self._judges.service(tool.judge)}) {heard} within "
                f"{self._config.judges[tool.judge].timeout_s:g} s"
            )
            self._judges.failed(tool.judge, reason)
            self._give(opened.run, Kind.JUDGE_UNAVAILABLE, reason)
        elif opened.phase is Phase.CAPTURING:
            if opened.capture.wait_no_longer():
                self._judge_when_complete(opened)
            if opened.phase is Phase.CAPTURING:
                self._give_unobserved(opened)
        else:
            reason = f"the tool did not say that it ended within {tool.timeout_s:g} s and grace"
            self._give(opened.run, Kind.INTERRUPTED, reason)

    def _give_unobserved(self, opened: OpenRun) -> None:
        why = why_not(
            opened.capture,
            {name: self._sources.transport(name) for name in opened.sources},
            opened.clock.state(),
        )
        reason = f"no Observation within {self._config.capture.timeout_s:g} s: {why}"
        if opened.resumed:
            reason = f"the evaluator was restarted and the evidence was gone: {reason}"
            self._give(opened.run, Kind.INTERRUPTED, reason)
        else:
            self._give(opened.run, Kind.OBSERVATION_UNAVAILABLE, reason)

    def _reports(self) -> Iterator[Report]:
        yield self._verdicts.report(self._open.values())
        yield from self._judges.reports()
        yield from source_reports(self._sources, self._now_ns())

    def _now_ns(self) -> int:
        return int(self.get_clock().now().nanoseconds)
