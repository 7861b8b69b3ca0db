# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From a run and a judge's answer to the verdict: the rules that hold live and offline.

What cannot be judged is a failure with a kind; nothing here is a success by default.
"""

from __future__ import annotations

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


def request(config: EvaluationConfig, run: Run, observation: Observation) -> EvaluationRequest:
    """All that the judge of this run gets.

    Raises:
        ArgumentError: the run's arguments are not what the configuration allows.
    """
    return EvaluationRequest(
        post_condition=config.post_condition(run.tool_name, run.arguments),
        criterion=config.criterion(run.tool_name, run.arguments),
        observation=observation,
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
        status, reason, kind = Status.FAILURE, judgement.error, Kind.JUDGE_UNAVAILABLE
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
    """What contradicts itself in a judge's answer; empty when nothing does."""
    answer = f"judge '{judgement.judge}' answered {judgement.status.name.lower()}"
    if judgement.kind not in (Kind.JUDGED, Kind.INCONCLUSIVE):
        return f"{answer} of kind '{judgement.kind.value}', which is not for judges to say"
    if judgement.status is Status.SUCCESS and judgement.failure_reason:
        return f"{answer} with a failure reason: {judgement.failure_reason}"
    if judgement.status is not Status.FAILURE and judgement.kind is Kind.INCONCLUSIVE:
        return f"{answer} and inconclusive at once"
    if judgement.status is Status.FAILURE and not judgement.failure_reason:
        return f"{answer} without a reason"
    if judgement.status is Status.PROCESS and segments == 1:
        return f"{answer}, but the tool has no segments"
    return ""
