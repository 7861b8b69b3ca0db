# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What replays of cases say of a rule: each rule of docs/promotion.md by itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness_ros.sidecar import Case, Decision, Policy, decide
from harness_ros.sidecar.promotion.evidence import ReplayEvidence
from harness_ros.sidecar.promotion.records import PendingReason
from harness_ros.sidecar.promotion.targets import best_to_expect, metrics_answered_for

sys.path.append(str(Path(__file__).parent))

from rule_cases import RULE, failure, win

BETTER = failure("f", 0.0, 1.0)


def pending(decision: Decision) -> PendingReason | None:
    assert decision.outcome == "pending", decision.reason
    return decision.pending_reason


def evidence(decision: Decision) -> ReplayEvidence:
    """Read back as a store would."""
    return ReplayEvidence.model_validate(json.loads(json.dumps(decision.evidence)))


# Targets


def test_the_outcome_comes_before_the_metric_of_the_rule_and_that_before_its_signatures() -> None:
    assert metrics_answered_for(RULE) == ("outcome_correct", "tool_correctness", "grounding")
    both = {"grounding": 0.1, "tool_correctness": 0.1, "outcome_correct": 0.1, "brevity": 0.1}
    found = []
    while len(both) > 1:
        decision = decide(RULE, [failure("f", both, both)])
        found.append(decision.targets["f"])
        del both[found[-1]]
    assert found == ["outcome_correct", "tool_correctness", "grounding"]


def test_a_missing_outcome_falls_back_for_that_case_alone() -> None:
    before = {"outcome_correct": 0.0, "tool_correctness": 0.5}
    decision = decide(
        RULE,
        [
            failure("judged", before, {"outcome_correct": 0.5, "tool_correctness": 0.5}),
            failure("not_judged", before, {"tool_correctness": 0.5}),
        ],
    )
    assert decision.targets == {"judged": "outcome_correct", "not_judged": "tool_correctness"}


def test_an_outcome_that_only_the_replay_has_is_no_target() -> None:
    decision = decide(
        RULE,
        [failure("f", {"grounding": 0.2}, {"grounding": 0.9, "outcome_correct": 0.0})],
    )
    assert decision.targets == {"f": "grounding"}
    assert decision.outcome == "promote"


def test_a_case_that_names_its_signatures_is_decided_by_one_of_those() -> None:
    rule = RULE.model_copy(update={"metric": ""})
    both = {"tool_correctness": 0.5, "grounding": 0.5}
    named = failure("named", both, both, signatures=("breach:grounding",))
    assert decide(rule, [named, failure("any", both, both)]).targets == {
        "named": "grounding",
        "any": "tool_correctness",
    }


def test_a_signature_that_is_no_breach_names_no_metric() -> None:
    rule = RULE.model_copy(update={"metric": "", "signatures": ("error:time_out",)})
    assert metrics_answered_for(rule) == ("outcome_correct",)


# Promote and retire


@pytest.mark.parametrize(("after", "promoted"), [(0.85, False), (0.9, True), (1.0, True)])
def test_a_failure_case_promotes_from_the_margin_on(after: float, promoted: bool) -> None:
    # 0.9 - 0.85 is a little less than 0.05 in floating point.
    decision = decide(RULE, [failure("f", 0.85, after)])
    assert (decision.outcome == "promote") is promoted


def test_a_win_case_retires_by_any_metric_whatever_was_gained() -> None:
    lost = win(
        "w", {"outcome_correct": 0.5, "brevity": 0.9}, {"outcome_correct": 1, "brevity": 0.85}
    )
    decision = decide(RULE, [BETTER, lost])
    assert decision.outcome == "retire"
    assert decision.reason == "win case w lost 0.05 of brevity"


def test_a_win_case_may_lose_less_than_the_margin() -> None:
    assert decide(RULE, [BETTER, win("w", 1.0, 0.96)]).outcome == "promote"


@pytest.mark.parametrize("metric", ["outcome_correct", "tool_correctness", "grounding"])
def test_a_failure_case_retires_by_what_the_rule_answers_for(metric: str) -> None:
    decision = decide(RULE, [BETTER, failure("g", {metric: 0.5}, {metric: 0.4})])
    assert decision.outcome == "retire"
    assert metric in decision.reason


def test_a_failure_case_that_loses_what_the_rule_does_not_answer_for_holds_back_alone() -> None:
    before = {"outcome_correct": 0.0, "brevity": 0.9}
    decision = decide(RULE, [failure("f", before, {"outcome_correct": 1.0, "brevity": 0.2})])
    assert pending(decision) is PendingReason.REGRESSED_ELSEWHERE
    assert "0.70 of brevity" in decision.reason


def test_a_gain_of_another_metric_promotes_nothing() -> None:
    before = {"outcome_correct": 0.0, "brevity": 0.1}
    decision = decide(RULE, [failure("f", before, {"outcome_correct": 0.0, "brevity": 1.0})])
    assert pending(decision) is PendingReason.BELOW_MARGIN


def test_a_gain_of_a_win_case_promotes_nothing() -> None:
    assert pending(decide(RULE, [win("w", 0.5, 1.0)])) is PendingReason.NO_FAILURE_CASE


# Evidence of nothing


@pytest.mark.parametrize(
    ("cases", "reason"),
    [
        ([], PendingReason.NO_CASES),
        ([failure("f", 0.0, 1.0, started=False)], PendingReason.NOT_STARTED),
        ([failure("f", 0.0, 1.0, exercised=False)], PendingReason.NOT_EXERCISED),
        ([failure("f", 0.0, None)], PendingReason.NO_VERDICT),
        ([failure("f", 0.0, {})], PendingReason.NO_VERDICT),
        ([failure("f", 0.0, {"brevity": 1.0})], PendingReason.NO_SHARED_METRIC),
        ([failure("f", {"brevity": 0.1}, {"brevity": 1.0})], PendingReason.NO_SHARED_METRIC),
    ],
)
def test_what_is_evidence_of_nothing_leaves_the_rule_pending(
    cases: list[Case], reason: PendingReason
) -> None:
    assert pending(decide(RULE, cases)) is reason


@pytest.mark.parametrize("field", ["started", "exercised"])
def test_a_win_case_whose_replay_never_read_the_rule_costs_it_nothing(field: str) -> None:
    decision = decide(RULE, [BETTER, win("w", 1.0, 0.0, **{field: False})])
    assert decision.outcome == "promote"
    assert "w" not in decision.targets
    assert evidence(decision).cases[1].no_verdict is not None


def test_of_several_replays_the_one_that_got_furthest_says_why() -> None:
    cases = [
        failure("a", 0.0, 1.0, started=False),
        failure("b", 0.0, None),
        failure("c", 0.0, 1.0, exercised=False),
    ]
    decision = decide(RULE, cases)
    assert pending(decision) is PendingReason.NO_VERDICT
    assert "a: not_started, b: no_verdict, c: not_exercised" in decision.reason


def test_a_case_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match="case_id 'f' twice"):
        decide(RULE, [BETTER, BETTER])


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_a_score_that_is_no_number_is_refused(score: float) -> None:
    with pytest.raises(ValidationError, match="finite"):
        failure("f", 0.0, score)


def test_a_decision_is_pending_with_a_reason_or_not_at_all() -> None:
    with pytest.raises(ValidationError, match="pending_reason"):
        Decision(outcome="pending", reason="")
    with pytest.raises(ValidationError, match="pending_reason"):
        Decision(outcome="promote", pending_reason=PendingReason.NO_CASES, reason="")


# Beyond margins


def test_a_promotion_says_what_its_cases_cannot_show() -> None:
    decision = decide(RULE, [BETTER])
    assert decision.outcome == "promote"
    assert "nothing says what the rule costs" in decision.reason
    assert "1 failure case can reach p = 0.5 at best" in decision.reason
    assert "no held-out failure case" in decision.reason
    assert "trying again without the rule may gain as much" in decision.reason
    assert len(evidence(decision).limits) == 4


@pytest.mark.parametrize("check", ["significance", "matched_budget", "held_out"])
def test_a_check_that_is_always_asked_for_holds_back_what_cannot_pass_it(check: str) -> None:
    policy = Policy.model_validate({check: "always"})
    assert decide(RULE, [BETTER], policy).outcome == "pending"
    assert evidence(decide(RULE, [BETTER], policy)).checks[check].gates


def lucky(of: int) -> list[Case]:
    """One replay went well, the others as before."""
    return [failure(f"f{number}", 0.0, float(number == 0)) for number in range(of)]


def test_one_lucky_replay_of_five_does_not_promote() -> None:
    assert decide(RULE, lucky(4)).outcome == "promote"
    decision = decide(RULE, lucky(5))
    assert pending(decision) is PendingReason.NOT_SIGNIFICANT
    assert "p = 0.5" in decision.reason
    assert decide(RULE, lucky(5), Policy(significance="never")).outcome == "promote"


def test_five_that_all_gained_are_no_luck() -> None:
    decision = decide(RULE, [failure(f"f{number}", 0.0, 0.5) for number in range(5)])
    assert decision.outcome == "promote"
    assert "5 failure cases gained 0.50 (standard error 0.00) on average" in decision.reason
    assert evidence(decision).checks["significance"].passed


def test_a_gain_that_plain_repetition_has_too_does_not_promote() -> None:
    again = ({"outcome_correct": 1.0}, {"outcome_correct": 0.98})
    decision = decide(RULE, [failure("f", 0.0, 1.0, baseline_attempts=again)])
    assert pending(decision) is PendingReason.NO_BETTER_THAN_REPETITION
    assert evidence(decision).cases[0].repetition == pytest.approx(0.99)


def test_a_replay_of_three_tries_is_held_against_the_best_of_three_repetitions() -> None:
    again = tuple({"outcome_correct": score} for score in (0.0, 0.0, 1.0))
    one_try = failure("f", 0.0, 1.0, baseline_attempts=again)
    assert decide(RULE, [one_try]).outcome == "promote"
    three_tries = one_try.model_copy(update={"attempts": 3})
    decision = decide(RULE, [three_tries])
    assert pending(decision) is PendingReason.NO_BETTER_THAN_REPETITION


def test_fewer_repetitions_than_tries_are_no_matched_budget() -> None:
    again = ({"outcome_correct": 1.0}, {"brevity": 1.0})
    decision = decide(RULE, [failure("f", 0.0, 1.0, attempts=2, baseline_attempts=again)])
    assert decision.outcome == "promote"
    assert evidence(decision).over_repetition is None


def test_a_rule_that_knows_its_cases_by_heart_is_held_back_by_those_it_has_not_seen() -> None:
    shown = [failure(f"s{number}", 0.0, 1.0 - number / 10) for number in range(2)]
    unseen = [failure(f"u{number}", 0.0, number / 50, held_out=True) for number in range(2)]
    decision = decide(RULE, [*shown, *unseen])
    assert pending(decision) is PendingReason.HELD_OUT_NOT_IMPROVED
    assert "gained 0.01 (standard error 0.01) on average, 0.94 less than those shown" in (
        decision.reason
    )
    found = evidence(decision)
    assert found.drop == pytest.approx(0.95 - 0.01)
    assert found.drop_standard_error == pytest.approx((0.05**2 + 0.01**2) ** 0.5)


def test_pass_hat_k_shows_what_the_mean_hides() -> None:
    def tries(*outcomes: float) -> Any:
        return tuple({"outcome_correct": outcome} for outcome in outcomes)

    steady = failure("a", 0.0, 1.0, replay_attempts=tries(1, 1, 1), baseline_attempts=tries(0, 0))
    shaky = failure("b", 0.0, 1.0, replay_attempts=tries(1, 0, 1, 0))
    table = {
        (row.arm, row.k): (row.rate, row.standard_error)
        for row in evidence(decide(RULE, [steady, shaky])).pass_hat_k
    }
    assert table["with_rule", 1] == (0.75, 0.25)
    assert table["with_rule", 2] == (pytest.approx((1 + 1 / 6) / 2), pytest.approx(5 / 12))
    assert table["with_rule", 3] == (0.5, 0.5)
    assert table["plain", 1] == table["plain", 2] == (0.0, None)
    assert len(table) == 5


@pytest.mark.parametrize(("tries", "expected"), [(1, 0.4), (2, 0.7), (3, 1.0)])
def test_the_best_to_expect_is_the_mean_over_all_choices(tries: int, expected: float) -> None:
    assert best_to_expect([1.0, 0.1, 0.1], tries) == pytest.approx(expected)
    with pytest.raises(ValueError, match="best of 4 of 3"):
        best_to_expect([1.0, 0.1, 0.1], 4)
