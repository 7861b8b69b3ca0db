# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What holds of every decision, whatever the rule, the cases and what they gained."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from harness_ros.sidecar import Case, Policy, Rule, decide
from harness_ros.sidecar.promotion.checks import REASONS
from harness_ros.sidecar.promotion.records import PendingReason
from harness_ros.sidecar.promotion.targets import metrics_answered_for, why_no_verdict

METRICS = ("outcome_correct", "tool_correctness", "grounding", "brevity")
BOUNDED = settings(max_examples=60, derandomize=True, deadline=None)

# Twentieths: margins are met exactly as often as they are missed.
scores = st.dictionaries(st.sampled_from(METRICS), st.integers(0, 20).map(lambda n: n / 20))
changes = st.sampled_from([0.0, 0.0, 0.0, 0.05, 0.05, 0.2, 0.5, 1.0, -0.04, -0.05, -0.2])
gates = st.sampled_from(["never", "where_possible", "where_possible", "always"])
policies = st.builds(
    Policy,
    promote_margin=st.sampled_from([0.05, 0.2]),
    regress_margin=st.sampled_from([0.05, 0.2]),
    significance=gates,
    matched_budget=gates,
    held_out=gates,
    resamples=st.just(100),
)
rules = st.builds(
    Rule,
    rule_id=st.just("r"),
    text=st.just("text"),
    metric=st.sampled_from(["", *METRICS]),
    signatures=st.lists(st.sampled_from([f"breach:{name}" for name in METRICS])).map(tuple),
)


@st.composite
def cases_named(draw: st.DrawFn, names: st.SearchStrategy[str]) -> Case:
    """A case whose replay is near its baseline: by scores at random, hardly any rule promotes."""
    before = draw(scores)
    kept = draw(st.sets(st.sampled_from(METRICS)))
    after = {metric: score + draw(changes) for metric, score in before.items() if metric in kept}
    return Case(
        case_id=draw(names),
        kind=draw(st.sampled_from(["failure", "failure", "win"])),
        baseline_scores=before,
        replay_scores=draw(st.just(after) | st.none() | scores.map(lambda new: {**new, **after})),
        exercised=draw(st.sampled_from([True, True, True, False])),
        started=draw(st.sampled_from([True, True, True, False])),
        held_out=draw(st.booleans()),
        attempts=draw(st.integers(1, 2)),
        baseline_attempts=tuple(draw(st.lists(scores, max_size=3))),
        replay_attempts=tuple(draw(st.lists(scores, max_size=3))),
    )


case_lists = st.lists(
    cases_named(st.sampled_from("abcdefgh")), max_size=7, unique_by=lambda case: case.case_id
)


@BOUNDED
@given(rules, case_lists, policies, st.randoms(use_true_random=False))
def test_the_order_of_cases_never_matters(rule, cases, policy, lot) -> None:
    shuffled = list(cases)
    lot.shuffle(shuffled)
    assert decide(rule, shuffled, policy) == decide(rule, cases, policy)


@BOUNDED
@given(
    rules,
    case_lists,
    cases_named(st.sampled_from(["0", "e_", "z"])),
    policies,
    st.sampled_from(["not_started", "not_exercised", "no_verdict", "no_shared_metric"]),
)
def test_a_case_without_a_verdict_changes_nothing(rule, cases, extra, policy, how) -> None:
    ways = {
        "not_started": {"started": False},
        "not_exercised": {"exercised": False},
        "no_verdict": {"replay_scores": None},
        "no_shared_metric": {"replay_scores": {"nobody_else_has_this": 0.0}},
    }
    nothing = extra.model_copy(update=ways[how])
    before, after = decide(rule, cases, policy), decide(rule, [*cases, nothing], policy)
    assert (after.outcome, after.targets) == (before.outcome, before.targets)
    if any(why_no_verdict(case) is None for case in cases):
        assert (after.pending_reason, after.reason) == (before.pending_reason, before.reason)


@BOUNDED
@given(rules, case_lists, policies, st.sampled_from(METRICS), st.booleans())
def test_a_regression_on_a_win_case_always_retires(rule, cases, policy, metric, held_out) -> None:
    lost = Case(
        case_id="w",
        kind="win",
        baseline_scores={metric: 1.0},
        replay_scores={metric: 1.0 - policy.regress_margin},
        exercised=True,
        started=True,
        held_out=held_out,
    )
    assert decide(rule, [*cases, lost], policy).outcome == "retire"


@BOUNDED
@given(rules, case_lists, policies)
def test_a_failure_case_only_retires_by_a_metric_the_rule_answers_for(rule, cases, policy) -> None:
    cases = [case.model_copy(update={"kind": "failure"}) for case in cases]
    decision = decide(rule, cases, policy)
    lost = {
        metric
        for case in cases
        if why_no_verdict(case) is None
        for metric, score in (case.replay_scores or {}).items()
        if case.baseline_scores.get(metric, score) - score > policy.regress_margin - 1e-6
    }
    answered_for = bool(lost & set(metrics_answered_for(rule)))
    assert (decision.outcome == "retire") is answered_for


@BOUNDED
@given(rules, case_lists, policies)
def test_a_promotion_has_a_gain_of_a_target_and_no_loss_at_all(rule, cases, policy) -> None:
    decision = decide(rule, cases, policy)
    gains = [
        (case, metric, score - case.baseline_scores[metric])
        for case in cases
        if why_no_verdict(case) is None
        for metric, score in (case.replay_scores or {}).items()
        if metric in case.baseline_scores
    ]
    lost = any(gain <= -policy.regress_margin + 1e-9 for _, _, gain in gains)
    improved = any(
        case.kind == "failure"
        and decision.targets.get(case.case_id) == metric
        and gain >= policy.promote_margin - 1e-9
        for case, metric, gain in gains
    )
    if decision.outcome == "promote":
        assert improved and not lost
    elif improved and not lost:
        # Only a check beyond margins holds such a rule back.
        assert decision.pending_reason in REASONS.values()


def test_cases_such_as_these_are_decided_in_every_way() -> None:
    seen = set()

    @settings(BOUNDED, max_examples=150, database=None)
    @given(rules, case_lists, policies)
    def collect(rule, cases, policy) -> None:
        decision = decide(rule, cases, policy)
        seen.add(decision.pending_reason or decision.outcome)

    collect()
    assert {"promote", "retire"} < seen
    assert {PendingReason.BELOW_MARGIN, PendingReason.REGRESSED_ELSEWHERE} < seen
    assert {PendingReason.NOT_STARTED, PendingReason.NOT_EXERCISED} < seen
    assert seen & set(REASONS.values())


@BOUNDED
@given(rules, case_lists, policies)
def test_every_decision_can_be_kept_as_json_and_says_why(rule, cases, policy) -> None:
    decision = decide(rule, cases, policy)
    assert decision.model_validate_json(decision.model_dump_json()) == decision
    assert json.loads(json.dumps(decision.evidence, allow_nan=False)) == decision.evidence
    assert decision.reason
