# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From a run and a judge's answer to the verdict: the rules that hold live and offline.

What cannot be judged is a failure with a kind; nothing here is a success by default.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness_ros.capture import observing
from harness_ros.capture.session import CaptureRule
from harness_ros.config import EvaluationConfig
from harness_ros.contract import (
    EvaluationRequest,
    Judgement,
    Kind,
    Observation,
    Run,
    Status,
    Verdict,
)
from harness_ros.judges.base import inconsistency

NANOSECONDS = 1_000_000_000


def capture_rule(config: EvaluationConfig, tool_name: str) -> CaptureRule:
    """What counts as evidence for a tool."""
    sources = observing.sources(config, tool_name)
    cameras = config.tools[tool_name].cameras
    return CaptureRule(
        cameras=cameras,
        signals=tuple(name for name in sources if name not in cameras),
        settle_ns=config.settle_ns(tool_name),
        slop_ns=round(config.capture.slop_s * NANOSECONDS),
        window_ns=round(config.capture.timeout_s * NANOSECONDS),
        queue_size=config.capture.queue_size,
        optional=frozenset(name for name, source in sources.items() if not source.required),
        standing=frozenset(name for name in sources if name.endswith(observing.CAMERA_INFO)),
        optional_wait_ns=round(config.capture.optional_wait_s * NANOSECONDS),
    )


def invalid_times(run: Run) -> str:
    """Why nothing can be evidence of a finished run, by its stamps; empty where they are right."""
    ended_ns = run.ended_at_ns or 0
    if ended_ns <= 0:
        return "it has no stamp of its end: ended_at is 0"
    if ended_ns < run.started_at_ns:
        return f"it ended {run.started_at_ns - ended_ns} ns before it began"
    return ""


SAME_RUN = ("tool_name", "started_at_ns")
"""What every message of a run must say alike: else another run is named like it."""


def contradiction(known: Run, later: Run) -> str:
    """How a later message of a run differs from what is known; empty where both can be true."""
    fields = [*SAME_RUN, "call_id", "segment", "arguments"]
    if known.finished and later.finished:
        fields.append("ended_at_ns")
    return _differing(known, later, fields)


def other_run(known: Run, later: Run) -> str:
    """Why a later message tells of another run of the same id; empty where it does not."""
    return _differing(known, later, SAME_RUN)


def _differing(known: Run, later: Run, fields: Iterable[str]) -> str:
    said = [
        f"{name} {getattr(later, name)!r} after {getattr(known, name)!r}"
        for name in fields
        if getattr(known, name) != getattr(later, name)
        # A tool that does not say again when a run began contradicts nothing.
        and not (name == "started_at_ns" and later.started_at_ns == 0)
    ]
    if not said:
        return ""
    return f"the messages of run {known.run_id} contradict each other: {', '.join(said)}"


def request(config: EvaluationConfig, run: Run, observation: Observation) -> EvaluationRequest:
    """All that the judge of this run gets.

    Raises:
        ArgumentError: the run's arguments are not what the configuration allows.
    """
    return EvaluationRequest(
        post_condition=config.post_condition(run.tool_name, run.arguments),
        criterion=config.criterion(run.tool_name, run.arguments),
        observation=observation,
        outcome_regions=config.tools[run.tool_name].outcome_regions,
    )


def verdict(
    config: EvaluationConfig,
    run: Run,
    observation: Observation,
    judgement: Judgement,
    given_at_ns: int,
) -> Verdict:
    """The verdict that a judge's answer gives."""
    tool = config.tools[run.tool_name]
    status, reason, kind = judgement.status, judgement.failure_reason, judgement.kind
    violation = _violation(judgement, tool.segments)
    if judgement.error:
        status, reason = Status.FAILURE, judgement.error
        if kind is not Kind.JUDGE_PROTOCOL_VIOLATION:
            kind = Kind.JUDGE_UNAVAILABLE
    elif violation:
        status, reason, kind = Status.FAILURE, violation, Kind.JUDGE_PROTOCOL_VIOLATION
    elif status is Status.PROCESS and run.segment >= tool.segments:
        status, kind = Status.FAILURE, Kind.SEGMENT_BUDGET_EXHAUSTED
        reason = f"still in process after {run.segment} of {tool.segments} segments: {reason}"
    return _verdict_on(
        run,
        config,
        observation,
        given_at_ns,
        status=status,
        evidence=judgement.evidence,
        failure_reason=reason,
        kind=kind,
        confidence=judgement.confidence,
        usage=judgement.usage,
        error_card=str(config.card_states[run.tool_name]),
    )


def unjudged(
    config: EvaluationConfig,
    run: Run,
    kind: Kind,
    reason: str,
    given_at_ns: int,
    observation: Observation | None = None,
) -> Verdict:
    """The verdict of a run that nobody could judge."""
    return _verdict_on(
        run,
        config,
        observation,
        given_at_ns,
        status=Status.FAILURE,
        evidence=(),
        failure_reason=reason,
        kind=kind,
    )


def _verdict_on(
    run: Run,
    config: EvaluationConfig,
    observation: Observation | None,
    given_at_ns: int,
    **said: Any,
) -> Verdict:
    tool = config.tools.get(run.tool_name)
    return Verdict(
        run_id=run.run_id,
        call_id=run.call_id,
        tool_name=run.tool_name,
        arguments=run.arguments,
        segment=run.segment,
        judge=tool.judge if tool else "",
        criteria_hash=config.criteria_hash,
        given_at_ns=given_at_ns,
        observed_at_ns=observation.captured_at_ns if observation else 0,
        **said,
    )


def _violation(judgement: Judgement, segments: int) -> str:
    """What contradicts itself or the tool in a judge's answer; empty when nothing does."""
    if judgement.status is Status.PROCESS and segments == 1:
        return f"judge '{judgement.judge}' answered process, but the tool has no segments"
    return inconsistency(judgement)
