# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The forward trial: what the next sessions say of a rule that no replay could decide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from harness_ros.sidecar.promotion.evidence import ForwardEvidence
from harness_ros.sidecar.promotion.records import (
    BREACH,
    Decision,
    PendingReason,
    Policy,
    Rule,
    Scores,
)
from harness_ros.sidecar.promotion.targets import ROUNDING, metric_of
from harness_ros.statistics import at_most, clustered_mean, rate_of, upper_bound


class Reported(Protocol):
    """What a forward trial reads of a session."""

    @property
    def session_id(self) -> str:
        """The same session may be reported again."""

    @property
    def signatures(self) -> tuple[str, ...]:
        """What went wrong in it."""

    @property
    def scores(self) -> Scores:
        """Its metrics; empty where only signatures are reported."""


def decide_forward(
    rule: Rule, sessions: Iterable[Reported], policy: Policy | None = None
) -> Decision:
    """What the sessions since the submission of a rule say of it.

    The first `sessions_needed` distinct ones that count are looked at. Promote where none of them
    breaches, or where their breach rate is at most the baseline rate minus `forward_margin`;
    otherwise retire.

    Args:
        rule: with the baseline rate at its submission, if there was one.
        sessions: in the order in which they were reported.
        policy: how many sessions, which margin.
    """
    policy = policy or Policy()
    signatures = breach_signatures(rule)
    if not signatures:
        words = f"rule {rule.rule_id} names neither signature nor metric: there is no breach of it"
        return _pending(PendingReason.NO_SIGNATURE, words, None)
    breached, not_scored = _breaches(signatures, sessions)
    looked_at = dict(list(breached.items())[: policy.sessions_needed])
    evidence = _evidence(rule, looked_at, not_scored, policy)
    if len(looked_at) < policy.sessions_needed:
        words = f"{len(looked_at)} of {policy.sessions_needed} sessions of the forward trial"
        return _pending(PendingReason.TOO_FEW_SESSIONS, words, evidence)
    promoted, words = _verdict(evidence, policy)
    return Decision(
        outcome="promote" if promoted else "retire",
        reason=words,
        evidence=evidence.model_dump(mode="json"),
    )


def breach_counts(rule: Rule, sessions: Iterable[Reported]) -> tuple[int, int]:
    """Distinct sessions that breach what the rule is for, and those that count at all.

    A baseline that is counted otherwise than the forward trial counts would say nothing.
    """
    breached, _ = _breaches(breach_signatures(rule), sessions)
    return sum(breached.values()), len(breached)


def breach_signatures(rule: Rule) -> tuple[str, ...]:
    """The signatures that are a breach of what the rule is for; its metric where it has none."""
    return rule.signatures or ((f"{BREACH}{rule.metric}",) if rule.metric else ())


def _breaches(
    signatures: Sequence[str], sessions: Iterable[Reported]
) -> tuple[dict[str, bool], int]:
    """Whether each session breaches, in order of first report, and how many do not count."""
    breached: dict[str, bool] = {}
    not_scored: set[str] = set()
    metrics = {metric_of(signature) for signature in signatures}
    for session in sessions:
        if any(signature in session.signatures for signature in signatures):
            breached[session.session_id] = True
        elif _is_scored(metrics, session.scores):
            breached.setdefault(session.session_id, False)
        else:
            not_scored.add(session.session_id)
    return breached, len(not_scored - breached.keys())


def _is_scored(metrics: set[str], scores: Scores) -> bool:
    """Whether no breach means that there was none.

    Who reports other scores but none of these has not looked. Who reports signatures alone has.
    """
    return not scores or "" in metrics or bool(metrics & scores.keys())


def _evidence(
    rule: Rule, breached: dict[str, bool], not_scored: int, policy: Policy
) -> ForwardEvidence:
    count, of = sum(breached.values()), len(breached)
    error = None
    if of:
        outcomes = {name: [float(breach)] for name, breach in breached.items()}
        error = clustered_mean(outcomes).standard_error_if_independent
    baseline = rule.baseline_breach_rate
    return ForwardEvidence(
        session_ids=tuple(breached),
        sessions_needed=policy.sessions_needed,
        not_scored=not_scored,
        breaches=rate_of(count, of, policy.confidence),
        standard_error=error,
        possible_rate=upper_bound(count, of, policy.confidence) if of else None,
        baseline_rate=baseline,
        baseline_sessions=rule.baseline_sessions,
        chance_at_baseline=None if baseline is None or not of else at_most(count, of, baseline),
    )


def _verdict(evidence: ForwardEvidence, policy: Policy) -> tuple[bool, str]:
    seen, baseline = evidence.breaches, evidence.baseline_rate
    count, rate = seen.count, seen.rate or 0.0
    words = (
        f"{count} of {seen.of} sessions breached, which leaves a breach rate of up to "
        f"{evidence.possible_rate:.0%} possible"
    )
    if baseline is None:
        words += "; no baseline rate was known at submission, so only no breach at all promotes"
        return count == 0, words
    words += (
        f"; the baseline was {baseline:.0%} of {evidence.baseline_sessions} sessions, at which a "
        f"rule that changes nothing has so few with a chance of {evidence.chance_at_baseline:.0%}"
    )
    return count == 0 or rate <= baseline - policy.forward_margin + ROUNDING, words


def _pending(reason: PendingReason, words: str, evidence: ForwardEvidence | None) -> Decision:
    return Decision(
        outcome="pending",
        pending_reason=reason,
        reason=words,
        evidence={} if evidence is None else evidence.model_dump(mode="json"),
    )
