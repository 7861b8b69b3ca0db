# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Promote, retire or wait: what replays of cases say of a rule, as a pure function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from harness_ros.sidecar.promotion.checks import (
    REASONS,
    checks,
    failing,
    gain_over_repetition,
    mean_in_words,
    permutation_of,
)
from harness_ros.sidecar.promotion.evidence import CaseEvidence, ReplayEvidence
from harness_ros.sidecar.promotion.records import Case, Decision, PendingReason, Policy, Rule
from harness_ros.sidecar.promotion.significance import drop_between, mean_gain, pass_hat_table
from harness_ros.sidecar.promotion.targets import ROUNDING, weigh

FURTHEST = (
    PendingReason.NO_SHARED_METRIC,
    PendingReason.NO_VERDICT,
    PendingReason.NOT_EXERCISED,
    PendingReason.NOT_STARTED,
)
"""Of several reasons why cases have no verdict, that of the replay which got furthest is told."""


def decide(rule: Rule, cases: Iterable[Case], policy: Policy | None = None) -> Decision:
    """What the replays of these cases say of a rule.

    Retire where a win case lost any metric by `regress_margin`, or a failure case one that the
    rule answers for. Promote where a failure case gained `promote_margin` of its target, nothing
    regressed and every check that gates is passed. Otherwise the rule is pending. The order of the
    cases never matters, and a case without a verdict changes nothing.

    Raises:
        ValueError: a case_id twice.
    """
    policy = policy or Policy()
    ordered = sorted(cases, key=lambda case: case.case_id)
    twice = [name for name, n in Counter(case.case_id for case in ordered).items() if n > 1]
    if twice:
        raise ValueError(f"case_id {twice[0]!r} twice: one Case for each case")
    evidence = _evidence(rule, ordered, policy)
    outcome, pending, reason = _outcome(evidence, policy)
    return Decision.model_validate(
        {
            "outcome": outcome,
            "pending_reason": pending,
            "targets": {case.case_id: case.target for case in evidence.cases if case.target},
            "reason": reason,
            "evidence": evidence.model_dump(mode="json"),
        }
    )


def _evidence(rule: Rule, cases: Sequence[Case], policy: Policy) -> ReplayEvidence:
    weighed = tuple(weigh(rule, case, policy) for case in cases)
    failures = [case for case in weighed if case.kind == "failure" and case.target]
    held_out = mean_gain(_gains(case for case in failures if case.held_out), policy)
    shown = mean_gain(_gains(case for case in failures if not case.held_out), policy)
    drop, drop_error = drop_between(shown, held_out)
    permutation = permutation_of(failures, policy)
    over_repetition = gain_over_repetition(failures, policy)
    made = checks(failures, held_out, drop, over_repetition, permutation, policy)
    limits = [check.says for check in made.values() if check.passed is None]
    if not any(case.kind == "win" and case.no_verdict is None for case in weighed):
        limits.append("no win case was judged: nothing says what the rule costs")
    targets = {case.case_id: case.target for case in failures if case.target}
    return ReplayEvidence(
        cases=weighed,
        failures=mean_gain(_gains(failures), policy),
        wins=mean_gain(_gains(case for case in weighed if case.kind == "win"), policy),
        shown=shown,
        held_out=held_out,
        drop=drop,
        drop_standard_error=drop_error,
        permutation=permutation,
        over_repetition=over_repetition,
        checks=made,
        pass_hat_k=pass_hat_table(
            [(case, targets[case.case_id]) for case in cases if case.case_id in targets], policy
        ),
        limits=tuple(limits),
    )


def _outcome(evidence: ReplayEvidence, policy: Policy) -> tuple[str, PendingReason | None, str]:
    retiring = [case for case in evidence.cases if case.retired_by]
    if retiring:
        losses = [_loss(case, metric) for case in retiring for metric in case.retired_by]
        return "retire", None, "; ".join(losses)
    elsewhere = [case for case in evidence.cases if case.lost_elsewhere]
    failures = [case for case in evidence.cases if case.kind == "failure" and case.target]
    if elsewhere:
        losses = [_loss(case, metric) for case in elsewhere for metric in case.lost_elsewhere]
        words = "; ".join(losses) + ": the rule does not answer for that, nor may it be promoted"
        return "pending", PendingReason.REGRESSED_ELSEWHERE, words
    if not failures:
        return "pending", *_nothing_to_improve(evidence.cases)
    improved = [case for case in failures if _gain(case) >= policy.promote_margin - ROUNDING]
    if not improved:
        best = max(failures, key=_gain)
        words = f"no failure case gained {policy.promote_margin:g}; the most: {_change(best)}"
        return "pending", PendingReason.BELOW_MARGIN, words
    gained = "; ".join(map(_change, improved))
    check = failing(evidence.checks)
    if check is not None:
        return "pending", REASONS[check], f"{gained}; but {evidence.checks[check].says}"
    mean = evidence.failures
    if mean is not None and mean.cases > 1:
        gained += f"; {mean.cases} failure cases gained {mean_in_words(mean)} on average"
    words = f"{gained}; nothing regressed"
    if evidence.limits:
        words += f". What these cases cannot show: {'; '.join(evidence.limits)}"
    return "promote", None, words


def _nothing_to_improve(cases: Sequence[CaseEvidence]) -> tuple[PendingReason, str]:
    if not cases:
        return PendingReason.NO_CASES, "there is no case to replay"
    judged = [case for case in cases if case.no_verdict is None]
    if any(case.kind == "failure" for case in judged):
        words = "no failure case has a metric of replay and baseline that the rule answers for"
        return PendingReason.NO_SHARED_METRIC, words
    if judged:
        return PendingReason.NO_FAILURE_CASE, "only win cases were judged: nothing can improve"
    why = {case.case_id: case.no_verdict for case in cases}
    furthest = next(reason for reason in FURTHEST if reason in why.values())
    words = ", ".join(f"{name}: {reason.value}" for name, reason in why.items() if reason)
    return furthest, f"no replay is evidence of anything ({words})"


def _gains(cases: Iterable[CaseEvidence]) -> list[float]:
    return [case.gain for case in cases if case.gain is not None]


def _gain(case: CaseEvidence) -> float:
    return 0.0 if case.gain is None else case.gain


def _loss(case: CaseEvidence, metric: str) -> str:
    return f"{case.kind} case {case.case_id} lost {-case.deltas[metric]:.2f} of {metric}"


def _change(case: CaseEvidence) -> str:
    return (
        f"failure case {case.case_id} gained {_gain(case):.2f} of {case.target} "
        f"({case.before:.2f} to {case.after:.2f})"
    )
