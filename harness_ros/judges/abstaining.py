# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A judge that says "cannot tell" where it is not sure enough, instead of guessing."""

from __future__ import annotations

from harness_ros.contract import EvaluationRequest, Judgement, Kind, Status
from harness_ros.judges.base import Judge, inconsistency


class AbstainingJudge:
    """Turns what another judge says with too little confidence into failure, inconclusive.

    That holds for success, failure and `process` alike: each is a claim of what was seen, and each
    makes somebody act. An answer without a confidence is not sure enough either. What could not be
    judged stays as it is.
    """

    def __init__(self, judge: Judge, threshold: float) -> None:
        self._judge = judge
        self.threshold = threshold
        self.asks = (judge,)

    @property
    def name(self) -> str:
        """That of the judge which is asked."""
        return self._judge.name

    def judge(self, request: EvaluationRequest) -> Judgement:
        """The judgement, where its confidence is not below the threshold."""
        return abstain(self._judge.judge(request), self.threshold)


def abstain(judgement: Judgement, threshold: float) -> Judgement:
    """The judgement, or that it is not sure enough: a failure of kind INCONCLUSIVE."""
    if judgement.error or judgement.kind is not Kind.JUDGED or inconsistency(judgement):
        return judgement
    if judgement.confidence is not None and judgement.confidence >= threshold:
        return judgement
    sure = (
        "without a confidence"
        if judgement.confidence is None
        else f"with confidence {judgement.confidence:.3g}"
    )
    said = judgement.status.name.lower()
    if judgement.failure_reason:
        said += f" ({judgement.failure_reason})"
    return judgement.model_copy(
        update={
            "status": Status.FAILURE,
            "kind": Kind.INCONCLUSIVE,
            "failure_reason": f"cannot tell: {said} {sure}, at least {threshold:.3g} is wanted",
            "confidence": None,
        }
    )
