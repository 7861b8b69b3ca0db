# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import gc
import math
import multiprocessing
import sqlite3
import threading
import time

import pytest

from harness_ros.contract import (
    Clearance,
    Kind,
    Observation,
    Run,
    Signal,
    Status,
    Verdict,
    View,
)
from harness_ros.ledger import Ledger, LedgerError
from harness_ros.scene import Effects, Outcome, SceneChange

# Forked: a spawned child could not import a test module that is in no package.
FORK = multiprocessing.get_context("fork")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(path):
    with Ledger(path) as ledger:
        yield ledger


def a_run(run_id="run-1", **changes):
    fields = {
        "run_id": run_id,
        "call_id": "call-1",
        "segment": 1,
        "tool_name": "pick",
        "arguments": {"object": "red_block", "force_n": 2.5, "hints": [1, None, {"a": True}]},
        "started_at_ns": 5_000_000_000,
    }
    return Run(**{**fields, **changes})


def a_verdict(run_id="run-1", status=Status.SUCCESS, **changes):
    fields = {
        "run_id": run_id,
        "call_id": "call-1",
        "tool_name": "pick",
        "arguments": {"object": "red_block"},
        "segment": 1,
        "status": status,
        "evidence": ("tag 7 is 0.12 m above the table",),
        "given_at_ns": 7_000_000_000,
    }
    return Verdict(**{**fields, **changes})


def an_observation(run_id="run-1", **changes):
    def view(name, data):
        return View(
            name=name,
            stamp_ns=6_300_000_000,
            frame_id=f"{name}_optical",
            height=4,
            width=8,
            encoding="rgb8",
            step=24,
            is_bigendian=False,
            data=data,
            topic=f"/{name}/image",
            publisher="/sim",
        )

    fields = {
        "run_id": run_id,
        "captured_at_ns": 6_300_000_000,
        "views": (view("wrist", bytes(range(96))), view("top", b"\xff" * 96)),
        "signals": (Signal(name="grip", value=0.03, unit="m", stamp_ns=6_310_000_000),),
        "clearance": Clearance(front=0.4, left=math.inf, right=1.0, rear=2.0),
        "summary": "2 views",
        "provenance": {"slop_s": 0.1, "spread_s": 0.02},
    }
    return Observation(**{**fields, **changes})


def a_change(number, run_id, **changes):
    effects = Effects(add=(("holding", "robot", "red_block"),))
    fields = {"number": number, "position": number, "outcome": Outcome.APPLIED, "run_id": run_id}
    return SceneChange(**{**fields, "effects": effects, **changes})


def test_a_run_is_read_as_it_was_recorded(ledger):
    assert ledger.record_run(a_run()) == a_run()
    assert ledger.run("run-1") == a_run()
    assert ledger.run("run-2") is None


def test_a_finished_run_has_its_end(ledger):
    ledger.record_run(a_run())
    ledger.record_run(a_run(ended_at_ns=6_000_000_000))
    assert ledger.run("run-1") == a_run(ended_at_ns=6_000_000_000)


def test_a_run_whose_start_was_missed_is_recorded_with_its_end(ledger):
    ledger.record_run(a_run(ended_at_ns=6_000_000_000))
    assert ledger.run("run-1").ended_at_ns == 6_000_000_000


@pytest.mark.parametrize("ended_at_ns", [None, 9_000_000_000])
def test_a_finished_run_is_never_reopened_and_its_end_stays(ledger, ended_at_ns):
    ledger.record_run(a_run(ended_at_ns=6_000_000_000))
    ledger.record_run(a_run(ended_at_ns=ended_at_ns))
    assert ledger.run("run-1").ended_at_ns == 6_000_000_000


@pytest.mark.parametrize(
    "change",
    [
        {"tool_name": "place"},
        {"arguments": {"object": "green_block"}},
        {"call_id": "call-2"},
        {"segment": 2},
        {"started_at_ns": 1},
    ],
)
def test_a_run_id_that_is_used_again_changes_nothing_and_the_caller_can_see_it(ledger, change):
    ledger.record_run(a_run())
    again = a_run(**change)
    assert ledger.record_run(again) == a_run() != again
    assert ledger.run("run-1") == a_run()


def test_open_runs_are_those_without_a_verdict_in_the_order_of_their_start(ledger):
    for run_id in ("c", "a", "b"):
        ledger.record_run(a_run(run_id))
    ledger.record_run(a_run("c", ended_at_ns=6_000_000_000))
    assert [run.run_id for run in ledger.open_runs()] == ["c", "a", "b"]
    ledger.record_verdict(a_verdict("a", Status.FAILURE))
    assert [run.run_id for run in ledger.open_runs()] == ["c", "b"]


def test_a_run_that_is_recorded_after_its_verdict_is_not_open(ledger):
    ledger.record_verdict(a_verdict(status=Status.FAILURE, kind=Kind.INVALID_RUN))
    ledger.record_run(a_run())
    ledger.record_run(a_run(ended_at_ns=6_000_000_000))
    assert ledger.open_runs() == []
    assert ledger.counts()["open_runs"] == 0


def test_a_verdict_is_read_as_it_was_recorded(ledger):
    verdict = a_verdict(
        status=Status.FAILURE,
        kind=Kind.JUDGE_UNAVAILABLE,
        failure_reason="no answer in 10 s – “timeout”",
        arguments={"object": "red_block", "nested": {"limit": math.inf}},
        judge="eyes",
        criteria_hash="ab" * 32,
        observed_at_ns=6_300_000_000,
    )
    assert ledger.record_verdict(verdict)
    read = ledger.verdict("run-1")
    assert read == verdict
    assert isinstance(read.status, Status)
    assert isinstance(read.kind, Kind)
    assert ledger.verdict("run-2") is None


def test_a_run_gets_exactly_one_verdict_and_the_first_one_stays(ledger):
    first = a_verdict(status=Status.FAILURE)
    assert ledger.record_verdict(first)
    assert not ledger.record_verdict(a_verdict(status=Status.SUCCESS))
    assert ledger.verdict("run-1") == first
    assert [verdict for _, verdict in ledger.verdicts_after(0)] == [first]


def test_a_verdict_without_run_id_is_refused(ledger):
    with pytest.raises(LedgerError, match="'pick' without run_id"):
        ledger.record_verdict(a_verdict(""))
    assert ledger.counts()["verdicts"] == 0


def test_verdicts_of_runs_come_in_the_order_in_which_they_were_given(ledger):
    for run_id in ("b", "a", "c"):
        ledger.record_verdict(a_verdict(run_id))
    found = ledger.verdicts_of(["a", "none", "c", "a", "b"])
    assert [verdict.run_id for verdict in found] == ["b", "a", "c"]


def test_the_runs_of_a_call_are_its_segments_in_order(ledger):
    for run_id, call_id in (("z", "push"), ("a", "push"), ("other", "pick")):
        ledger.record_run(a_run(run_id, call_id=call_id))
    ledger.record_run(a_run("named alike", call_id="pick", arguments={"call_id": "push"}))
    ledger.record_verdict(a_verdict("without a run", call_id="push"))
    assert ledger.run_ids_of_call("push") == ["z", "a", "without a run"]
    assert ledger.run_ids_of_call("none") == []


def test_verdicts_come_after_a_position_in_the_order_in_which_they_were_given(ledger):
    wanted = [f"run-{number * 7919 % 1000}" for number in range(600)]
    for run_id in wanted:
        ledger.record_verdict(a_verdict(run_id))
    numbered = list(ledger.verdicts_after(0))
    positions = [position for position, _ in numbered]
    assert [verdict.run_id for _, verdict in numbered] == wanted
    assert positions == sorted(set(positions))
    assert positions[0] > 0
    assert list(ledger.verdicts_after(positions[254])) == numbered[255:]
    assert list(ledger.verdicts_after(positions[-1])) == []


def test_verdicts_may_be_given_while_others_are_read(ledger):
    ledger.record_verdict(a_verdict("run-1"))
    reader = ledger.verdicts_after(0)
    next(reader)
    ledger.record_verdict(a_verdict("run-2"))
    list(reader)
    assert [verdict.run_id for _, verdict in ledger.verdicts_after(1)] == ["run-2"]


def test_looking_up_a_verdict_uses_an_index(ledger, path):
    connection = sqlite3.connect(path)
    for table in ("run", "verdict", "observation"):
        query = f"EXPLAIN QUERY PLAN SELECT record FROM {table} WHERE run_id = ?"
        (plan,) = connection.execute(query, ("x",)).fetchall()
        assert "SEARCH" in plan[-1]
        assert "USING INDEX" in plan[-1]
    (plan,) = connection.execute(
        "EXPLAIN QUERY PLAN SELECT record FROM run WHERE open = 1 ORDER BY number"
    ).fetchall()
    assert "USING INDEX run_open" in plan[-1]
    connection.close()


def test_an_observation_is_read_as_it_was_recorded(ledger):
    assert ledger.record_observation(an_observation(), views_kept=1)
    assert ledger.observation("run-1") == an_observation()
    assert ledger.observation("run-2") is None


def test_views_that_nobody_asked_for_are_left_out_and_named(ledger):
    ledger.record_observation(an_observation(), views_kept=1)
    observation = ledger.observation("run-1", with_views=False)
    assert observation.views == ()
    assert observation.provenance["views_left_out"] == ["wrist", "top"]


def test_old_views_are_pruned_and_the_numbers_stay(ledger, path):
    for number in range(10):
        ledger.record_observation(an_observation(f"run-{number}"), views_kept=3)
    for number in range(7):
        old = ledger.observation(f"run-{number}")
        assert old.views == ()
        assert old.signals == an_observation().signals
        assert old.clearance == an_observation().clearance
        assert old.provenance == {
            **an_observation().provenance,
            "views_left_out": ["wrist", "top"],
        }
    for number in range(7, 10):
        run_id = f"run-{number}"
        assert ledger.observation(run_id) == an_observation(run_id)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM view").fetchone() == (3 * 2,)
    connection.close()


def test_no_view_is_kept_where_none_is_wanted(ledger):
    ledger.record_observation(an_observation(), views_kept=0)
    assert ledger.observation("run-1").views == ()


def test_images_are_kept_compressed(ledger, path):
    view = an_observation().views[0].model_copy(update={"data": bytes(1_000_000)})
    ledger.record_observation(an_observation(views=(view,)), views_kept=1)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT length(data) FROM view").fetchone()[0] < 10_000
    connection.close()
    assert ledger.observation("run-1").views == (view,)


def test_an_observation_may_be_made_anew_until_the_verdict_and_not_after(ledger):
    ledger.record_observation(an_observation(summary="first"), views_kept=5)
    second = an_observation(summary="second", views=an_observation().views[:1])
    assert ledger.record_observation(second, views_kept=5)
    assert ledger.observation("run-1") == second
    ledger.record_verdict(a_verdict())
    assert not ledger.record_observation(an_observation(summary="third"), views_kept=5)
    assert ledger.observation("run-1") == second


def test_scene_events_are_read_in_order_with_the_position(ledger):
    assert ledger.scene_position() == 0
    changes = [a_change(1, "", outcome=Outcome.INITIAL, position=0), a_change(2, "run-1")]
    assert all(ledger.record_scene_event(change) for change in changes)
    assert list(ledger.scene_events()) == changes
    assert ledger.scene_position() == 2


@pytest.mark.parametrize("number", [1, 3])
def test_a_scene_event_whose_number_is_not_the_next_changes_nothing(ledger, number):
    ledger.record_scene_event(a_change(1, "run-1"))
    assert not ledger.record_scene_event(a_change(number, "run-2"))
    assert list(ledger.scene_events()) == [a_change(1, "run-1")]


def test_a_run_has_at_most_one_scene_event(ledger, path):
    ledger.record_scene_event(a_change(1, "run-1"))
    with pytest.raises(LedgerError, match=str(path)):
        ledger.record_scene_event(a_change(2, "run-1"))
    assert list(ledger.scene_events()) == [a_change(1, "run-1")]
    assert ledger.record_scene_event(a_change(2, "run-2"))


def test_the_counts_say_how_many_of_what(ledger):
    for number in range(6):
        ledger.record_run(a_run(f"run-{number}"))
        ledger.record_run(a_run(f"run-{number}", ended_at_ns=6_000_000_000))
    ledger.record_verdict(a_verdict("run-0"))
    ledger.record_verdict(a_verdict("run-1", Status.FAILURE))
    ledger.record_verdict(a_verdict("run-2", Status.FAILURE, kind=Kind.INTERRUPTED))
    ledger.record_verdict(a_verdict("run-3", Status.PROCESS))
    assert ledger.counts() == {
        "runs": 6,
        "open_runs": 2,
        "verdicts": 4,
        "verdicts.process": 1,
        "verdicts.success": 1,
        "verdicts.failure": 2,
        "kind.interrupted": 1,
    }


def test_everything_is_there_after_closing_and_opening(path):
    with Ledger(path) as ledger:
        ledger.record_run(a_run())
        ledger.record_observation(an_observation(), views_kept=1)
        ledger.record_verdict(a_verdict())
    with Ledger(str(path)) as ledger:
        assert ledger.run("run-1") == a_run()
        assert ledger.observation("run-1") == an_observation()
        assert ledger.verdict("run-1") == a_verdict()


def test_a_missing_folder_is_made(tmp_path):
    Ledger(tmp_path / "a" / "b" / "ledger.sqlite").close()
    assert (tmp_path / "a" / "b" / "ledger.sqlite").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match=r"file/ledger\.sqlite"):
        Ledger(tmp_path / "file" / "ledger.sqlite")


def test_a_path_that_is_a_folder_is_named(tmp_path):
    with pytest.raises(LedgerError, match=str(tmp_path)):
        Ledger(tmp_path)


def test_a_file_that_is_no_database_is_named_and_stays_as_it_is(path):
    path.write_text("cameras: {}\n" * 100)
    with pytest.raises(LedgerError, match=f"{path}: file is not a database"):
        Ledger(path)
    assert path.read_text() == "cameras: {}\n" * 100


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("PRAGMA user_version = 7", "schema 7; this version of harness_ros reads schema 2"),
        ("CREATE TABLE messages (id INTEGER)", "no ledger of harness_ros"),
    ],
)
def test_another_schema_is_named_and_stays_as_it_is(path, statement, words):
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=f"{path}.*{words}"):
        Ledger(path)
    assert path.read_bytes() == before


def test_a_record_that_cannot_be_read_names_the_file(ledger, path):
    ledger.record_verdict(a_verdict())
    connection = sqlite3.connect(path)
    connection.execute("UPDATE verdict SET record = '{}'")
    connection.commit()
    connection.close()
    with pytest.raises(LedgerError, match=f"{path}: holds a Verdict"):
        ledger.verdict("run-1")


def test_a_closed_ledger_says_so_with_its_path(path):
    ledger = Ledger(path)
    ledger.close()
    with pytest.raises(LedgerError, match=str(path)):
        ledger.record_verdict(a_verdict())


def test_many_threads_give_each_run_one_verdict(ledger):
    won = []

    def give(thread):
        for number in range(40):
            verdict = a_verdict(f"run-{number}", evidence=(f"thread {thread}",))
            if ledger.record_verdict(verdict):
                won.append(verdict)

    threads = [threading.Thread(target=give, args=(thread,)) for thread in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 40
    assert {v.run_id: v for v in won} == {v.run_id: v for _, v in ledger.verdicts_after(0)}


def rival(path, name, ready, go, results):
    """One of several processes that open the file and give the same runs their verdicts."""
    # What earlier tests left in this process, such as DDS participants, is not the child's to free.
    gc.freeze()
    ready.release()
    go.wait(60)
    with Ledger(path) as ledger:
        won = []
        for number in range(60):
            run_id = f"run-{number}"
            ledger.record_run(a_run(run_id, call_id=name))
            ledger.record_observation(an_observation(run_id, summary=name), views_kept=5)
            if ledger.record_verdict(a_verdict(run_id, evidence=(name,))):
                won.append(run_id)
        results.put((name, won))


def test_two_processes_that_write_at_the_same_time_give_each_run_one_verdict(path):
    ready, go, results = FORK.Semaphore(0), FORK.Event(), FORK.Queue()
    names = ("one", "two")
    children = [FORK.Process(target=rival, args=(path, name, ready, go, results)) for name in names]
    for child in children:
        child.start()
    for _ in children:
        assert ready.acquire(timeout=60)
    go.set()
    won = dict(results.get(timeout=60) for _ in children)
    for child in children:
        child.join(30)
        assert child.exitcode == 0
    with Ledger(path) as ledger:
        verdicts = [verdict for _, verdict in ledger.verdicts_after(0)]
        assert ledger.counts()["runs"] == 60
        assert ledger.open_runs() == []
    assert sorted(won["one"] + won["two"]) == sorted(f"run-{number}" for number in range(60))
    assert {v.run_id: v.evidence for v in verdicts} == {
        run_id: (name,) for name in names for run_id in won[name]
    }


def opener(path, together):
    # What earlier tests left in this process, such as DDS participants, is not the child's to free.
    gc.freeze()
    for item in range(150):
        together.wait(60)
        Ledger(f"{path}-{item}").close()


def test_processes_that_make_the_file_at_the_same_time_all_get_it(path):
    together = FORK.Barrier(6)
    children = [FORK.Process(target=opener, args=(path, together)) for _ in range(6)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    # One that fails breaks the barrier for the others.
    assert [child.exitcode for child in children] == [0] * 6


def test_readers_and_a_writer_in_other_processes_do_not_hold_each_other_up(ledger, path):
    ledger.record_verdict(a_verdict("run-1"))
    other = sqlite3.connect(path, isolation_level=None)
    before = time.monotonic()
    other.execute("BEGIN")
    assert other.execute("SELECT count(*) FROM verdict").fetchone() == (1,)
    assert ledger.record_verdict(a_verdict("run-2"))
    other.execute("ROLLBACK")
    other.execute("BEGIN IMMEDIATE")
    assert ledger.verdict("run-2") == a_verdict("run-2")
    assert time.monotonic() - before < 2.0
    other.close()
