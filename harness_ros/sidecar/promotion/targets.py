# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What one case says of a rule: the metric that it is decided by, what it gained and lost."""

from __future__ import annotations

from math import comb, fsum

from harness_ros.sidecar.promotion.evidence import CaseEvidence
from harness_ros.sidecar.promotion.records import (
    BREACH,
    OUTCOME_METRIC,
    Case,
    PendingReason,
    Policy,
    Rule,
)

ROUNDING = 1e-9
"""0.9 - 0.85 is a loss of 0.05."""


def metric_of(signature: str) -> str:
    """The metric that a signature names; empty where it names none."""
    return signature.removeprefix(BREACH) if signature.startswith(BREACH) else ""


def metrics_answered_for(rule: Rule) -> tuple[str, ...]:
    """What a rule may be measured by, the most authoritative first.

    The outcome, the rule's own metric, then those of its signatures.
    """
    named = [OUTCOME_METRIC, rule.metric, *map(metric_of, rule.signatures)]
    return tuple(dict.fromkeys(metric for metric in named if metric))


def target_of(rule: Rule, case: Case) -> str | None:
    """The most authoritative metric that replay and baseline have; None where there is none.

    Of the rule's signatures only those count that the case has too, where the case names any.
    """
    if case.signatures:
        triggering = tuple(name for name in rule.signatures if name in case.signatures)
        rule = rule.model_copy(update={"signatures": triggering})
    both = deltas(case)
    return next((metric for metric in metrics_answered_for(rule) if metric in both), None)


def deltas(case: Case) -> dict[str, float]:
    """Replay minus baseline, of each metric that both have."""
    replayed = case.replay_scores or {}
    shared = sorted(case.baseline_scores.keys() & replayed.keys())
    return {metric: replayed[metric] - case.baseline_scores[metric] for metric in shared}


def why_no_verdict(case: Case) -> PendingReason | None:
    """Why a case is evidence of nothing; None where it counts."""
    if not case.started:
        return PendingReason.NOT_STARTED
    if not case.exercised:
        return PendingReason.NOT_EXERCISED
    if not case.replay_scores:
        return PendingReason.NO_VERDICT
    if not deltas(case):
        return PendingReason.NO_SHARED_METRIC
    return None


def weigh(rule: Rule, case: Case, policy: Policy) -> CaseEvidence:
    """What a case says, each metric by itself."""
    missing = why_no_verdict(case)
    if missing is not None:
        return CaseEvidence(
            case_id=case.case_id, kind=case.kind, held_out=case.held_out, no_verdict=missing
        )
    changes = deltas(case)
    lost = [
        metric for metric, change in changes.items() if change <= -policy.regress_margin + ROUNDING
    ]
    answered_for = metrics_answered_for(rule)
    retiring = [metric for metric in lost if case.kind == "win" or metric in answered_for]
    target = target_of(rule, case)
    return CaseEvidence(
        case_id=case.case_id,
        kind=case.kind,
        held_out=case.held_out,
        target=target,
        before=case.baseline_scores[target] if target else None,
        after=(case.replay_scores or {})[target] if target else None,
        gain=changes[target] if target else None,
        deltas=changes,
        retired_by=tuple(retiring),
        lost_elsewhere=tuple(metric for metric in lost if metric not in retiring),
        repetition=_repetition(case, target) if target else None,
    )


def _repetition(case: Case, target: str) -> float | None:
    scores = [attempt[target] for attempt in case.baseline_attempts if target in attempt]
    if len(scores) < case.attempts:
        return None
    return best_to_expect(scores, case.attempts)


def best_to_expect(scores: list[float], tries: int) -> float:
    """Mean of the best over all choices of so many of the scores: without bias, like pass@k.

    Raises:
        ValueError: fewer scores than tries, or no try.
    """
    if not 1 <= tries <= len(scores):
        raise ValueError(f"best of {tries} of {len(scores)} scores: from 1 to their number")
    ranked = sorted(scores)
    weights = [comb(below, tries - 1) for below in range(len(ranked))]
    return fsum(w * s for w, s in zip(weights, ranked, strict=True)) / comb(len(ranked), tries)
