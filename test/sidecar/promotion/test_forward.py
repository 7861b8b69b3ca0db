# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The forward trial: what the next sessions say, and how little so few can say."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_ros.sidecar import Decision, Policy
from harness_ros.sidecar.promotion import Session, breach_counts, decide_forward
from harness_ros.sidecar.promotion.evidence import ForwardEvidence
from harness_ros.sidecar.promotion.records import PendingReason

sys.path.append(str(Path(__file__).parent))

from rule_cases import RULE

AT_HALF = RULE.model_copy(update={"baseline_breach_rate": 0.5, "baseline_sessions": 10})


def session(name: str, *, breach: bool = False, **fields: Any) -> Session:
    signatures = ("breach:tool_correctness",) if breach else ()
    return Session(session_id=name, signatures=signatures, **fields)


def trial_of(outcomes: str) -> list[Session]:
    """One session a letter: `x` breaches, `-` does not."""
    return [session(f"s{n}", breach=letter == "x") for n, letter in enumerate(outcomes)]


def evidence(decision: Decision) -> ForwardEvidence:
    return ForwardEvidence.model_validate(json.loads(json.dumps(decision.evidence)))


@pytest.mark.parametrize(
    ("baseline", "outcomes", "outcome"),
    [
        (0.5, "-----", "promote"),
        (0.0, "-----", "promote"),
        (0.5, "x-x--", "promote"),
        (0.45, "x-x--", "promote"),
        (0.44, "x-x--", "retire"),
        (0.5, "xxx--", "retire"),
        (1.0, "xxxxx", "retire"),
        (None, "-----", "promote"),
        (None, "x----", "retire"),
    ],
)
def test_no_breach_promotes_and_so_does_a_rate_below_the_baseline_by_the_margin(
    baseline: float | None, outcomes: str, outcome: str
) -> None:
    rule = RULE.model_copy(update={"baseline_breach_rate": baseline})
    assert decide_forward(rule, trial_of(outcomes)).outcome == outcome


def test_a_trial_goes_on_until_there_are_enough_sessions() -> None:
    decision = decide_forward(AT_HALF, trial_of("----"))
    assert decision.pending_reason is PendingReason.TOO_FEW_SESSIONS
    assert decision.reason == "4 of 5 sessions of the forward trial"
    assert decide_forward(AT_HALF, []).pending_reason is PendingReason.TOO_FEW_SESSIONS


def test_sessions_after_those_that_are_needed_change_nothing() -> None:
    assert decide_forward(AT_HALF, trial_of("-----xxxxx")).outcome == "promote"
    assert decide_forward(AT_HALF, trial_of("xxxxx-----")).outcome == "retire"


def test_a_session_that_is_reported_again_counts_once_and_breaches_if_any_report_does() -> None:
    again = [*trial_of("----"), session("s0", breach=True), session("s0")]
    assert decide_forward(AT_HALF, again).pending_reason is PendingReason.TOO_FEW_SESSIONS
    decision = decide_forward(AT_HALF, [*again, session("s4")])
    assert evidence(decision).breaches.count == 1
    assert evidence(decision).session_ids == ("s0", "s1", "s2", "s3", "s4")


def test_a_session_that_was_not_judged_by_what_the_rule_is_for_does_not_count() -> None:
    unjudged = session("unjudged", scores={"brevity": 0.9})
    judged = session("judged", scores={"grounding": 0.9})
    decision = decide_forward(AT_HALF, [unjudged, *trial_of("----")])
    assert decision.pending_reason is PendingReason.TOO_FEW_SESSIONS
    assert evidence(decision).not_scored == 1
    assert decide_forward(AT_HALF, [judged, *trial_of("----")]).outcome == "promote"
    assert breach_counts(RULE, [unjudged, judged, *trial_of("-x")]) == (1, 3)


def test_a_rule_with_a_metric_and_no_signature_is_tried_by_breaches_of_it() -> None:
    rule = AT_HALF.model_copy(update={"signatures": ()})
    assert decide_forward(rule, trial_of("xxxxx")).outcome == "retire"
    rule = rule.model_copy(update={"metric": ""})
    decision = decide_forward(rule, trial_of("-----"))
    assert decision.pending_reason is PendingReason.NO_SIGNATURE
    assert breach_counts(rule, trial_of("-x")) == (0, 2)


def test_the_evidence_says_what_so_few_sessions_leave_possible() -> None:
    decision = decide_forward(AT_HALF, trial_of("-----"))
    assert "0 of 5 sessions breached, which leaves a breach rate of up to 45% possible" in (
        decision.reason
    )
    found = evidence(decision)
    assert found.possible_rate == pytest.approx(0.4507, abs=1e-4)
    assert found.chance_at_baseline == pytest.approx(0.5**5)
    assert found.breaches.high == pytest.approx(0.4345, abs=1e-4)
    assert evidence(decide_forward(AT_HALF, trial_of("x----"))).standard_error == pytest.approx(0.2)


def test_the_number_of_sessions_follows_from_the_bound_that_is_wanted() -> None:
    policy = Policy(forward_bound=0.1)
    assert policy.sessions_needed == 29
    assert decide_forward(AT_HALF, trial_of("-" * 28), policy).outcome == "pending"
    decision = decide_forward(AT_HALF, trial_of("-" * 29), policy)
    assert decision.outcome == "promote"
    assert (evidence(decision).possible_rate or 1.0) <= 0.1


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.booleans()), max_size=20),
    st.none() | st.floats(0, 1),
    st.integers(1, 6),
)
def test_a_trial_ends_with_its_last_session_and_never_promotes_what_is_worse(
    reports: list[tuple[str, bool]], baseline: float | None, needed: int
) -> None:
    rule = RULE.model_copy(update={"baseline_breach_rate": baseline})
    sessions = [session(name, breach=breach) for name, breach in reports]
    decision = decide_forward(rule, sessions, Policy(min_sessions=needed))
    distinct = len({name for name, _ in reports})
    assert (decision.outcome == "pending") is (distinct < needed)
    if decision.outcome == "promote":
        rate = evidence(decision).breaches.rate
        assert rate == 0 or (baseline is not None and rate is not None and rate < baseline)
