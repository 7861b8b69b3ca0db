# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rounds of validation: turns, budgets, and the forward trial after them."""

import math
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

sys.path.append(str(Path(__file__).parent))

from rule_world import Client, Clock, a_failure, a_rule, a_win

from harness_ros.sidecar.promotion.records import PendingReason, Policy
from harness_ros.sidecar.promotion.rounds import Budgets, ReplayOutcome, Validation
from harness_ros.sidecar.promotion.store import RuleStore
from harness_ros.sidecar.promotion.store_schema import StoreError
from harness_ros.sidecar.promotion.stored import State

BUDGETS = Budgets(environment_s=5, replay_s=25, round_s=150)
CASES = ["win-1", "win-0", "failure-3", "failure-2", "failure-1"]


@pytest.fixture
def store(tmp_path):
    with RuleStore(tmp_path / "rules.sqlite") as store:
        for number in range(4):
            store.report(a_failure(f"failure-{number}"))
        for number in range(2):
            store.report(a_win(f"win-{number}"))
        yield store


@pytest.fixture
def clock():
    return Clock()


def validation(store, client, **options):
    options = {"budgets": BUDGETS, "validator": "bench", **options}
    return Validation(store, client, clock=client.clock, **options)


def scores(failures, wins=1.0):
    return {name: wins if name.startswith("win") else failures for name in CASES}


def test_a_rule_that_betters_its_failures_and_costs_no_win_is_promoted(store, clock):
    store.submit(a_rule())
    client = Client(clock, scores(0.9))
    made = validation(store, client).validate("rule-1")
    assert client.asked == [("rule-1", name) for name in CASES]
    assert made.decision.outcome == "promote"
    assert made.decision.targets == dict.fromkeys(CASES, "outcome_correct")
    assert made.seconds == 50
    status = store.rule("rule-1")
    assert (status.state, status.validator) == (State.ACTIVE, "bench")
    assert store.rounds_of("rule-1") == [made]


def test_a_rule_that_costs_a_win_is_retired(store, clock):
    store.submit(a_rule())
    made = validation(store, Client(clock, scores(1.0, wins=0.8))).validate()
    assert made.decision.outcome == "retire"
    assert store.rule("rule-1").state is State.RETIRED


def test_wins_are_replayed_first_so_no_end_of_a_budget_leaves_a_loss_unseen(store, clock):
    store.submit(a_rule())
    slow = Client(clock, scores(1.0, wins=0.2), takes_s=30)
    made = validation(store, slow, budgets=Budgets(environment_s=5, replay_s=25, round_s=60))
    decided = made.validate("rule-1")
    assert [case_id for _, case_id in slow.asked] == ["win-1", "win-0"]
    assert decided.decision.outcome == "retire"
    assert decided.problems == dict.fromkeys(
        CASES[2:], "not replayed: the budget of the round had ended"
    )


def test_no_replay_starts_that_could_end_after_the_round(store, clock):
    store.submit(a_rule())
    client = Client(clock, {}, takes_s=26)
    begun = clock.now
    validation(store, client, budgets=Budgets(environment_s=5, replay_s=25, round_s=100)).validate()
    assert len(client.asked) == 3
    assert clock.now - begun <= 100


def test_every_replay_is_given_its_budgets(store, clock):
    seen = []

    class Noting(Client):
        def replay(self, rule, case, limits):
            seen.append((limits.environment_s, limits.replay_s))
            return super().replay(rule, case, limits)

    store.submit(a_rule())
    validation(store, Noting(clock)).validate()
    assert seen == [(5, 25)] * 5


def test_budgets_that_no_replay_fits_are_refused():
    with pytest.raises(ValidationError, match=r"round_s is 30: at least .* which is 40"):
        Budgets(environment_s=10, replay_s=30, round_s=30)


def test_an_answer_that_comes_after_its_budget_is_evidence_of_nothing(store, clock):
    store.submit(a_rule())
    client = Client(clock, scores(1.0), takes_s=36)
    made = validation(store, client, budgets=Budgets(environment_s=5, replay_s=25, round_s=900))
    decided = made.validate()
    assert decided.decision.pending_reason is PendingReason.NO_VERDICT
    assert decided.problems["win-1"] == "the answer came after 36 s; 30 s are allowed"
    assert all(case.replay_scores is None for case in decided.cases)


@pytest.mark.parametrize("error", [RuntimeError("no simulator"), OSError("gone")])
def test_a_client_that_raises_costs_one_case_and_not_the_round(store, clock, error):
    store.submit(a_rule())
    made = validation(store, Client(clock, {**scores(0.9), "failure-3": error})).validate()
    assert made.problems == {"failure-3": f"{type(error).__name__}: {error}"}
    by_id = {case.case_id: case for case in made.cases}
    assert not by_id["failure-3"].started
    assert made.decision.outcome == "promote"


def test_a_score_that_is_no_number_is_evidence_of_nothing(store, clock):
    store.submit(a_rule())
    made = validation(store, Client(clock, scores(math.nan))).validate()
    assert made.decision.outcome == "pending"
    assert made.decision.pending_reason is PendingReason.NO_FAILURE_CASE
    assert set(made.problems) == set(CASES[2:])


def test_replays_that_never_start_leave_the_rule_pending_with_what_the_client_says(store, clock):
    store.submit(a_rule())
    client = Client(clock, started=False, reason="the arm is in use")
    made = validation(store, client).validate()
    assert made.decision.pending_reason is PendingReason.NOT_STARTED
    assert made.problems == dict.fromkeys(CASES, "the arm is in use")


def test_every_try_of_a_replay_is_kept(store, clock):
    class Trying(Client):
        def replay(self, rule, case, limits):
            tries = ({"outcome_correct": 0.5}, {"outcome_correct": 0.7})
            return ReplayOutcome(started=True, exercised=True, scores=tries[1], attempts=tries)

    store.submit(a_rule())
    made = validation(store, Trying(clock)).validate()
    assert {case.attempts for case in made.cases} == {2}
    assert {len(case.replay_attempts) for case in made.cases} == {2}


def test_candidates_have_their_turns_one_after_the_other(store, clock):
    for number in range(3):
        store.submit(a_rule(f"rule-{number}"))
    validator = validation(store, Client(clock))
    turns = [validator.validate().rule_id for _ in range(6)]
    assert turns == ["rule-0", "rule-1", "rule-2"] * 2


def test_a_round_goes_on_with_the_next_candidates_while_its_budget_lasts(store, clock):
    for number in range(4):
        store.submit(a_rule(f"rule-{number}"))
    client = Client(clock, takes_s=10)
    validator = validation(store, client)
    first = validator.run_round()
    # 150 s, and a replay that could take 30 s starts at 120 s at the latest: 13 replays.
    assert [(made.rule_id, made.counted) for made in first] == [
        *(("rule-0", True), ("rule-1", True), ("rule-2", False))
    ]
    assert len(client.asked) == 13
    second = validator.run_round()
    assert [made.rule_id for made in second] == ["rule-2", "rule-3", "rule-0"]
    assert second[0].counted and len(second[0].problems) == 0


def test_slow_replays_starve_no_candidate(store, clock):
    for number in range(3):
        store.submit(a_rule(f"rule-{number}"))
    validator = validation(store, Client(clock, takes_s=30))
    for _ in range(3):
        validator.run_round()
    assert [status.rounds for status in store.rules()] == [1, 1, 1]


def test_turns_go_on_where_they_were_after_a_restart(store, clock):
    for number in range(3):
        store.submit(a_rule(f"rule-{number}"))
    validation(store, Client(clock)).validate()
    with RuleStore(store.path) as again:
        assert validation(again, Client(clock)).validate().rule_id == "rule-1"


def inconclusive(store, clock, rounds=3):
    store.submit(a_rule())
    validator = validation(store, Client(clock, scores(0.2)))
    for _ in range(rounds):
        assert validator.validate("rule-1").decision.outcome == "pending"
    return validator


def test_after_three_rounds_without_a_decision_the_forward_trial_decides(store, clock):
    validator = inconclusive(store, clock)
    assert store.rule("rule-1").on_trial
    assert validator.validate() is None
    with pytest.raises(StoreError, match="'rule-1' is on its forward trial after 3 rounds"):
        validator.validate("rule-1")
    for number in range(4):
        store.report(a_win(f"later-{number}", protected=False))
        assert validator.settle_trials() == []
    store.report(a_win("later-4", protected=False))
    (change,) = validator.settle_trials()
    assert (change.state, change.validator) == (State.ACTIVE, "bench, forward")
    assert "leaves a breach rate of up to 45% possible" in change.reason
    assert change.evidence["decision"]["evidence"]["session_ids"] == [
        f"later-{number}" for number in range(5)
    ]
    assert validator.settle_trials() == []


def test_a_trial_with_as_many_breaches_as_before_retires_the_rule(store, clock):
    validator = inconclusive(store, clock)
    for number in range(5):
        store.report(a_failure(f"later-{number}"))
    (change,) = validator.settle_trials()
    assert change.state is State.RETIRED


def test_two_rounds_without_a_decision_begin_no_trial(store, clock):
    inconclusive(store, clock, rounds=2)
    assert not store.rule("rule-1").on_trial


def test_a_round_that_was_cut_short_does_not_count_towards_the_trial(store, clock):
    for number in range(2):
        store.submit(a_rule(f"rule-{number}"))
    made = validation(store, Client(clock, takes_s=20), policy=Policy(inconclusive_rounds=1))
    made.run_round()
    assert [status.on_trial for status in store.rules()] == [True, False]
    assert [len(store.rounds_of(f"rule-{number}")) for number in range(2)] == [1, 1]


def test_a_crash_between_the_third_round_and_its_trial_loses_no_trial(store, clock):
    inconclusive(store, clock, rounds=2)
    # The third round is kept, and the process is gone before the trial begins.
    last = store.rounds_of("rule-1")[-1]
    store.record_round(last)
    assert not store.rule("rule-1").on_trial
    with RuleStore(store.path) as again:
        assert validation(again, Client(clock)).validate() is None
        assert again.rule("rule-1").on_trial


def test_a_rule_with_nothing_to_count_stays_with_replays(store, clock):
    store.submit(a_rule(signatures=(), metric=""))
    validator = validation(store, Client(clock, scores(0.2)))
    for _ in range(5):
        validator.validate("rule-1")
    assert not store.rule("rule-1").on_trial
    assert store.rule("rule-1").inconclusive == 5


def test_only_known_candidates_are_validated(store, clock):
    validator = validation(store, Client(clock))
    assert validator.validate() is None
    assert validator.run_round() == []
    with pytest.raises(StoreError, match="no rule 'rule-1'"):
        validator.validate("rule-1")
    store.submit(a_rule())
    store.change("rule-1", State.ACTIVE, "by hand", "ann")
    with pytest.raises(StoreError, match=r"is active since .*: only candidates are validated"):
        validator.validate("rule-1")
