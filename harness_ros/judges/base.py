# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a judge is, and when its answer contradicts itself."""

from __future__ import annotations

from typing import Protocol

from harness_ros.contract import EvaluationRequest, Judgement, Kind, Status


class Judge(Protocol):
    """Says of one Observation whether a post-condition holds; it gets nothing else."""

    @property
    def name(self) -> str:
        """Who judges: a name, or a name and a version or model."""

    def judge(self, request: EvaluationRequest) -> Judgement:
        """The judgement. What keeps a judge from judging goes into `error`; it never raises."""


def no_judgement(judge: str, error: str) -> Judgement:
    """The answer of a judge that could not judge, and why."""
    return Judgement(status=Status.FAILURE, failure_reason=error, judge=judge, error=error)


def inconsistency(judgement: Judgement) -> str:
    """What contradicts itself in an answer without an `error`; empty when nothing does."""
    answer = f"judge '{judgement.judge}' answered {judgement.status.name.lower()}"
    if judgement.kind not in (Kind.JUDGED, Kind.INCONCLUSIVE):
        return f"{answer} of kind '{judgement.kind.value}', which is not for judges to say"
    if judgement.status is Status.SUCCESS and judgement.failure_reason:
        return f"{answer} with a failure reason: {judgement.failure_reason}"
    if judgement.status is not Status.FAILURE and judgement.kind is Kind.INCONCLUSIVE:
        return f"{answer} and inconclusive at once"
    if judgement.status is Status.FAILURE and not judgement.failure_reason:
        return f"{answer} without a reason"
    return ""
