# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The rule store on real SQLite files."""

import multiprocessing
import sqlite3
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from rule_world import BREACH, a_failure, a_rule, a_win

from harness_ros.ledger import Ledger, LedgerError
from harness_ros.sidecar.promotion.decide import decide
from harness_ros.sidecar.promotion.records import Decision, PendingReason
from harness_ros.sidecar.promotion.store import RuleStore
from harness_ros.sidecar.promotion.store_schema import TABLES, StoreError
from harness_ros.sidecar.promotion.stored import Round, State, utc_now

# Forked: a spawned child could not import a test module that is in no package.
FORK = multiprocessing.get_context("fork")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rules.sqlite"


@pytest.fixture
def store(path):
    with RuleStore(path) as store:
        yield store


def a_round(rule, cases, decision=None, **changes):
    fields = {"validator": "bench", "started_at": utc_now(), "seconds": 1.5}
    decision = decision or decide(rule, cases)
    made = {"rule_id": rule.rule_id, "cases": tuple(cases), "decision": decision}
    return Round(**{**fields, **made, **changes})


PROMOTE = Decision(outcome="promote", reason="better", evidence={"trial": "replay"})
PENDING = Decision(outcome="pending", pending_reason=PendingReason.NO_CASES, reason="no case")


def test_a_submitted_rule_is_a_candidate_and_is_read_as_it_was_submitted(store):
    kept = store.submit(a_rule())
    status = store.rule("rule-1")
    assert status.rule == kept
    assert kept == a_rule(submitted_at=kept.submitted_at)
    assert kept.submitted_at.endswith("+00:00")
    assert (status.state, status.reason, status.rounds) == (State.CANDIDATE, "submitted", 0)
    assert store.rule("rule-2") is None


def test_the_same_rule_submitted_again_is_the_one_of_before(store):
    first = store.submit(a_rule())
    store.report(a_failure("s1"))
    assert store.submit(a_rule()) == first
    assert len(store.history("rule-1")) == 1


def test_another_rule_under_a_known_id_is_refused(store, path):
    store.submit(a_rule())
    with pytest.raises(StoreError, match=rf"{path}: rule_id 'rule-1' is that of another rule"):
        store.submit(a_rule(text="Never look."))
    assert store.rule("rule-1").rule.text == a_rule().text


def test_the_baseline_is_the_breach_rate_of_the_sessions_so_far(store):
    for session in (a_failure("s1"), a_win("s2"), a_win("s3", protected=False), a_failure("s4")):
        store.report(session)
    rule = store.submit(a_rule())
    assert (rule.baseline_breach_rate, rule.baseline_sessions) == (0.5, 4)


def test_without_sessions_there_is_no_baseline_rate(store):
    rule = store.submit(a_rule())
    assert (rule.baseline_breach_rate, rule.baseline_sessions) == (None, 0)


def test_a_session_is_kept_once(store):
    assert store.report(a_failure("s1"))
    assert not store.report(a_failure("s1"))
    with pytest.raises(StoreError, match=r"session 's1' was reported .* with other contents"):
        store.report(a_failure("s1", score=0.3))
    assert [session.session_id for session in store.sessions()] == ["s1"]


def test_a_protected_session_with_a_breach_is_refused(store):
    with pytest.raises(StoreError, match=f"'s1' is protected and has signatures .{BREACH}"):
        store.report(a_failure("s1", protected=True))
    assert store.sessions() == []


def test_the_cases_of_a_rule_are_the_newest_three_failures_of_its_kind_and_two_protected_wins(
    store,
):
    for number in range(5):
        store.report(a_failure(f"failure-{number}"))
        store.report(a_failure(f"other-{number}", signatures=("breach:tone",)))
        store.report(a_win(f"win-{number}"))
        store.report(a_win(f"unprotected-{number}", protected=False))
    cases = store.cases_for(a_rule())
    assert [(case.case_id, case.kind) for case in cases] == [
        ("failure-4", "failure"),
        ("failure-3", "failure"),
        ("failure-2", "failure"),
        ("win-4", "win"),
        ("win-3", "win"),
    ]
    assert not any(case.started or case.exercised or case.replay_scores for case in cases)


def test_a_session_with_two_signatures_of_a_rule_is_one_case(store):
    store.report(a_failure("s1", signatures=(BREACH, "breach:tone", BREACH)))
    cases = store.cases_for(a_rule(signatures=("breach:tone", BREACH)))
    assert [case.case_id for case in cases] == ["s1"]


def test_a_rule_without_signatures_has_the_failures_of_its_metric(store):
    store.report(a_failure("s1"))
    store.report(a_failure("s2", signatures=("breach:tone",)))
    assert [case.case_id for case in store.cases_for(a_rule(signatures=()))] == ["s1"]
    assert store.cases_for(a_rule(signatures=(), metric="")) == []


def test_a_case_has_all_that_was_reported(store):
    attempts = ({"outcome_correct": 0.4}, {"outcome_correct": 0.1})
    store.report(a_failure("s1", attempts=attempts, held_out=True))
    (case,) = store.cases_for(a_rule())
    assert case.baseline_attempts == attempts
    assert case.held_out
    assert case.baseline_scores == {"outcome_correct": 0.2}


def test_a_promoting_round_and_the_new_state_are_one_commit(store):
    store.submit(a_rule())
    change = store.record_round(a_round(a_rule(), [], PROMOTE))
    assert store.history("rule-1")[-1] == change
    assert (change.state, change.reason, change.validator) == (State.ACTIVE, "better", "bench")
    assert change.evidence["round"] == 1
    assert change.evidence["decision"]["outcome"] == "promote"


def test_a_pending_round_changes_no_state_and_is_counted(store):
    store.submit(a_rule())
    assert store.record_round(a_round(a_rule(), [], PENDING)) is None
    assert store.record_round(a_round(a_rule(), [], PENDING, counted=False)) is None
    status = store.rule("rule-1")
    assert (status.state, status.rounds, status.inconclusive) == (State.CANDIDATE, 1, 1)
    assert len(store.rounds_of("rule-1")) == 2


def test_a_round_is_read_as_it_was_recorded(store):
    store.submit(a_rule())
    store.report(a_failure("s1"))
    cases = [
        case.model_copy(
            update={"started": True, "exercised": True, "replay_scores": {"outcome_correct": 0.9}}
        )
        for case in store.cases_for(a_rule())
    ]
    made = a_round(a_rule(), cases, problems={"s1": "slow"})
    store.record_round(made)
    assert store.rounds_of("rule-1") == [made]


def test_a_round_that_ends_after_a_decision_is_kept_and_changes_nothing(store):
    store.submit(a_rule())
    store.change("rule-1", State.RETIRED, "it quotes a customer", "ann")
    assert store.record_round(a_round(a_rule(), [], PROMOTE)) is None
    assert store.rule("rule-1").state is State.RETIRED
    assert len(store.rounds_of("rule-1")) == 1


@pytest.mark.parametrize("state", list(State))
def test_a_retired_rule_stays_retired(store, state):
    store.submit(a_rule())
    store.change("rule-1", State.RETIRED, "too long", "ann")
    with pytest.raises(StoreError, match=f"is retired and cannot become {state.value}"):
        store.change("rule-1", state, "again", "ann")


def test_an_active_rule_can_be_retired_and_never_be_a_candidate_again(store):
    store.submit(a_rule())
    store.change("rule-1", State.ACTIVE, "by hand", "ann")
    with pytest.raises(StoreError, match="is active and cannot become candidate"):
        store.change("rule-1", State.CANDIDATE, "doubts", "ann")
    store.change("rule-1", State.RETIRED, "harm", "ann", {"ticket": 7})
    assert [change.state.value for change in store.history("rule-1")] == [
        *("candidate", "active", "retired")
    ]
    assert store.history("rule-1")[-1].evidence == {"ticket": 7}


def test_a_change_needs_a_known_rule_and_a_reason(store):
    with pytest.raises(StoreError, match="no rule 'rule-1'"):
        store.change("rule-1", State.ACTIVE, "good", "ann")
    store.submit(a_rule())
    with pytest.raises(StoreError, match="needs a reason"):
        store.change("rule-1", State.ACTIVE, "", "ann")


def test_rules_are_listed_in_order_of_submission_and_by_state(store):
    for number in range(3):
        store.submit(a_rule(f"rule-{number}"))
    store.change("rule-1", State.ACTIVE, "good", "ann")
    assert [item.rule.rule_id for item in store.rules()] == ["rule-0", "rule-1", "rule-2"]
    assert [item.rule.rule_id for item in store.rules(State.ACTIVE)] == ["rule-1"]


def test_the_turn_is_of_who_waits_longest(store):
    for number in range(3):
        store.submit(a_rule(f"rule-{number}"))
    store.record_round(a_round(a_rule("rule-0"), [], PENDING))
    store.record_round(a_round(a_rule("rule-1"), [], PENDING, counted=False))
    assert [item.rule.rule_id for item in store.candidates()] == ["rule-1", "rule-2", "rule-0"]


def test_a_trial_begins_once_and_with_the_next_session(store):
    store.submit(a_rule())
    store.report(a_failure("s1"))
    trial = store.begin_trial("rule-1")
    store.report(a_win("s2"))
    assert store.begin_trial("rule-1") == trial
    assert [item.session_id for item in store.sessions(trial.after_session)] == ["s2"]
    assert store.rule("rule-1").on_trial
    assert store.candidates() == []


def filled(path):
    with RuleStore(path) as store:
        store.report(a_failure("s1"))
        store.submit(a_rule())
        store.record_round(a_round(a_rule(), [], PENDING))
        store.begin_trial("rule-1")


STATEMENTS = [
    *(f"UPDATE {table} SET number = number + 100" for table in TABLES),
    *(f"DELETE FROM {table}" for table in TABLES),
    *(f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}" for table in TABLES),
    "REPLACE INTO rule (rule_id, record) VALUES ('rule-1', '{}')",
    "REPLACE INTO session (session_id, protected, record) VALUES ('s1', 1, '{}')",
    "REPLACE INTO trial (rule_id, session, at) VALUES ('rule-1', 0, 'now')",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_no_program_changes_or_deletes_a_row(path, statement):
    filled(path)
    db = sqlite3.connect(path)
    before = list(db.iterdump())
    with pytest.raises(sqlite3.IntegrityError, match=r"append-only|a candidate becomes"):
        db.execute(statement)
    db.rollback()
    assert list(db.iterdump()) == before
    db.close()


def test_a_ledger_is_no_rule_store_nor_the_other_way_round(tmp_path):
    Ledger(tmp_path / "ledger").close()
    RuleStore(tmp_path / "rules").close()
    with pytest.raises(StoreError, match="ledger: an SQLite file, but no rule store"):
        RuleStore(tmp_path / "ledger")
    with pytest.raises(LedgerError, match="rules: an SQLite file, but no ledger"):
        Ledger(tmp_path / "rules")


def test_a_store_of_another_schema_is_refused_with_its_path(path):
    RuleStore(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 9")
    db.close()
    with pytest.raises(StoreError, match=rf"{path}: a rule store of schema 9; .* reads schema 1"):
        RuleStore(path)


def test_a_file_that_is_no_database_is_refused_with_its_path(path):
    path.write_text("rules, but in prose" * 100)
    with pytest.raises(StoreError, match=rf"{path}: file is not a database"):
        RuleStore(path)


def test_a_damaged_record_is_told_with_its_path(path):
    RuleStore(path).close()
    db = sqlite3.connect(path)
    db.execute("INSERT INTO session (session_id, protected, record) VALUES ('s1', 0, '{\"a\": 1}')")
    db.commit()
    db.close()
    with RuleStore(path) as store, pytest.raises(StoreError, match=rf"{path}: a damaged Session"):
        store.sessions()


def submit_many(path, name):
    with RuleStore(path) as store:
        for number in range(20):
            store.submit(a_rule(f"rule-{number}"))
            store.report(a_failure(f"{name}-{number}"))


def test_two_processes_share_a_store(path):
    children = [FORK.Process(target=submit_many, args=(path, name)) for name in ("one", "two")]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    with RuleStore(path) as store:
        assert len(store.rules()) == 20
        assert all(len(store.history(f"rule-{number}")) == 1 for number in range(20))
        assert len(store.sessions()) == 40
