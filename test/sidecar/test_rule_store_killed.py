# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A writer of the rule store is killed: what it acknowledged is there, nothing is half there."""

import gc
import multiprocessing
import os
import random
import signal
import sqlite3
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from dying import die_at

sys.path.append(str(Path(__file__).parent))

from rule_world import a_failure, a_rule, a_win

from harness_ros.sidecar.promotion.decide import decide
from harness_ros.sidecar.promotion.store import RuleStore
from harness_ros.sidecar.promotion.stored import Round, State, utc_now

# Forked: a spawned child could not import a test module that is in no package.
FORK = multiprocessing.get_context("fork")
KILLS = 200


def promoting_round(store, rule):
    cases = []
    for case in store.cases_for(rule):
        scores = {"outcome_correct": 1.0}
        told = {"started": True, "exercised": True, "replay_scores": scores}
        cases.append(case.model_copy(update=told))
    decision = decide(rule, cases)
    assert decision.outcome == "promote"
    return Round(
        rule_id=rule.rule_id,
        validator="bench",
        started_at=utc_now(),
        seconds=0.1,
        cases=tuple(cases),
        decision=decision,
    )


def work(path, pipe, first, last=10**9):
    """Writes until it is killed, and says into the pipe what the store has acknowledged."""
    # What earlier tests left in this process, such as DDS participants, is not the child's to free.
    gc.freeze()

    def acknowledged(what):
        os.write(pipe, f"{what}\n".encode())

    store = RuleStore(path)
    acknowledged("open")
    for number in range(first, last):
        for session in (a_failure(f"failure-{number}"), a_win(f"win-{number}")):
            store.report(session)
            acknowledged(f"session {session.session_id}")
        for kind in ("decided", "tried"):
            rule = store.submit(a_rule(f"{kind}-{number}"))
            acknowledged(f"rule {rule.rule_id}")
        store.record_round(promoting_round(store, a_rule(f"decided-{number}")))
        acknowledged(f"active decided-{number}")
        store.begin_trial(f"tried-{number}")
        acknowledged(f"trial tried-{number}")


def present(path):
    """What the store holds, in the words of the acknowledgements; whole, or the test fails."""
    with RuleStore(path) as store:
        found = {"open", *(f"session {item.session_id}" for item in store.sessions())}
        for status in store.rules():
            rule_id = status.rule.rule_id
            found.add(f"rule {rule_id}")
            history, rounds = store.history(rule_id), store.rounds_of(rule_id)
            assert history[0].state is State.CANDIDATE
            # A round that promotes and the state that it gives are there together or not at all.
            assert [change.state for change in history[1:]] == [State.ACTIVE] * len(rounds)
            if status.state is State.ACTIVE:
                found.add(f"active {rule_id}")
            if status.on_trial:
                found.add(f"trial {rule_id}")
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    (rules,) = db.execute("SELECT count(*) FROM rule").fetchone()
    (stated,) = db.execute("SELECT count(DISTINCT rule_id) FROM state").fetchone()
    assert rules == stated
    signed = db.execute(
        "SELECT session_id FROM session JOIN session_signature ON session = session.number"
    )
    failures = [name.split()[1] for name in found if name.startswith("session failure-")]
    assert Counter(name for (name,) in signed) == Counter(failures)
    db.close()
    return found


def acknowledgements(reading):
    with os.fdopen(reading) as lines:
        return [line.rstrip("\n") for line in lines]


def test_killed_at_any_moment_nothing_acknowledged_is_lost_and_nothing_is_half_written(tmp_path):
    moments = random.Random(11)
    path = tmp_path / "rules.sqlite"
    acknowledged, killed_between = set(), Counter()
    number = 0
    for round_ in range(KILLS):
        # A small file keeps the look at all of it quick; each file lives through ten kills.
        if round_ % 10 == 0:
            path, acknowledged = tmp_path / f"{round_}.sqlite", set()
        reading, writing = os.pipe()
        child = FORK.Process(target=work, args=(path, writing, number))
        child.start()
        os.close(writing)
        assert os.read(reading, len("open\n")) == b"open\n"
        time.sleep(moments.uniform(0, 0.02))
        os.kill(child.pid, signal.SIGKILL)
        child.join(30)
        assert child.exitcode == -signal.SIGKILL
        told = acknowledgements(reading)
        acknowledged.update(told)
        killed_between[told[-1].split("-")[0] if told else "open"] += 1
        assert acknowledged <= present(path)
        number += 1000
    assert killed_between.total() == KILLS
    # The kills came at different places, or this shows nothing.
    assert len(killed_between) >= 4


def work_until(path, pipe, statement):
    die_at(statement)
    work(path, pipe, 0, 1)


@pytest.mark.parametrize("quarter", range(4))
def test_killed_before_any_statement_the_store_is_whole(tmp_path, quarter):
    ended = 0
    for statement in range(quarter, 400, 4):
        path = tmp_path / f"{statement}.sqlite"
        reading, writing = os.pipe()
        child = FORK.Process(target=work_until, args=(path, writing, statement))
        child.start()
        os.close(writing)
        told = acknowledgements(reading)
        child.join(30)
        assert set(told) <= present(path)
        if child.exitcode == 0:
            ended = statement
            break
        assert child.exitcode == -signal.SIGKILL
    assert 60 < ended < 400
