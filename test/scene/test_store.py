# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import gc
import multiprocessing
import os
import random
import signal
import sqlite3
import threading
import time

import pytest
from dying import die_at

from harness_ros.config import EvaluationConfig
from harness_ros.contract import Kind, Status, Verdict
from harness_ros.ledger import Ledger
from harness_ros.scene import Effects, Outcome, SceneError, SceneGraph
from harness_ros.scene.store import SceneStore

FORK = multiprocessing.get_context("fork")
BLOCKS = ("red_block", "green_block")


def configuration(**changes):
    tool = {
        "post_condition": "the world is as wanted",
        "judge": "eyes",
        "signals": ["gripper"],
        "arguments": {"object": {}, "destination": {}},
    }
    raw = {
        "version": 1,
        "judges": {"eyes": {}},
        "objects": {
            "red_block": {},
            "green_block": {},
            "bin": {"relation": "inside", "container": True},
            "shelf": {"relation": "on"},
            "hook": {"relation": "under"},
            "scale": {"relation": 7},
        },
        "tools": {
            "pick": {
                **tool,
                "arguments": {"object": {}},
                "effects": {
                    "delete": [["on", "{object}", "*"], ["inside", "{object}", "*"]],
                    "add": [["holding", "robot", "{object}"]],
                },
            },
            "place": {
                **tool,
                "effects": {
                    "delete": [["holding", "robot", "{object}"]],
                    "state": {"bin": "open"},
                    "add": [["{destination.relation}", "{object}", "{destination}"]],
                },
            },
            "look": {**tool, "arguments": {}},
        },
        "scene": {"relations": [["on", block, "table"] for block in BLOCKS]},
    }
    return EvaluationConfig.model_validate({**raw, **changes})


CONFIG = configuration()


def verdict(run_id, tool="pick", status=Status.SUCCESS, **changes):
    arguments = {"object": "red_block", "destination": "bin"}
    return Verdict(
        **{
            "run_id": run_id,
            "call_id": run_id,
            "tool_name": tool,
            "arguments": arguments,
            "segment": 1,
            "status": status,
            "given_at_ns": 1000,
            **changes,
        }
    )


def move(number):
    """The n-th verdict on a robot that moves one block round for ever and fails now and then."""
    run_id = f"run-{number}"
    if number % 5 == 4:
        return verdict(run_id, status=Status.FAILURE, failure_reason="it fell")
    step = number - number // 5
    arguments = {"object": "red_block", "destination": ("bin", "shelf")[step // 2 % 2]}
    tool = ("pick", "place")[step % 2]
    return verdict(run_id, tool=tool, arguments=arguments, given_at_ns=number)


def straight_fold(path, config=CONFIG):
    """The graph that the verdicts in the file lead to, found without a store."""
    graph = SceneGraph.initial(
        {*config.objects, "robot", "table"},
        [("on", block, "table") for block in BLOCKS],
        containers=config.containers,
    )
    connection = sqlite3.connect(path)
    records = connection.execute("SELECT record FROM verdict ORDER BY position").fetchall()
    connection.close()
    for (record,) in records:
        item = Verdict.model_validate_json(record)
        if item.status is Status.SUCCESS:
            effects = config.effects(item.tool_name, item.arguments)
            graph = graph.apply(effects, item.run_id, item.given_at_ns)
    return graph


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(path):
    with Ledger(path) as ledger:
        yield ledger


def test_a_success_changes_the_graph(ledger):
    store = SceneStore(ledger, CONFIG)
    ledger.record_verdict(verdict("run-1"))
    (change,) = store.catch_up()
    assert change.outcome is Outcome.APPLIED
    assert (change.run_id, change.tool_name, change.stamp_ns) == ("run-1", "pick", 1000)
    assert store.graph.holding() == "red_block"


def test_the_graph_begins_with_the_relations_of_the_configuration(ledger):
    graph = SceneStore(ledger, CONFIG).graph
    assert [r.triple for r in graph.relations] == [
        ("on", "green_block", "table"),
        ("on", "red_block", "table"),
    ]
    assert graph.revision == 0


def test_a_success_is_applied_once_however_often_the_bell_rings(ledger):
    store = SceneStore(ledger, CONFIG)
    assert ledger.record_verdict(verdict("run-1"))
    assert not ledger.record_verdict(verdict("run-1"))
    assert len(store.catch_up()) == 1
    after = store.graph
    assert store.catch_up() == []
    assert store.graph == after
    assert after.revision == 1


def test_a_success_is_applied_once_also_after_a_restart(path, ledger):
    ledger.record_verdict(verdict("run-1"))
    first = SceneStore(ledger, CONFIG)
    first.catch_up()
    with Ledger(path) as again:
        second = SceneStore(again, CONFIG)
        assert second.graph == first.graph
        assert second.catch_up() == []
        assert second.graph == first.graph


def test_a_message_without_a_verdict_in_the_ledger_changes_nothing(ledger):
    store = SceneStore(ledger, CONFIG)
    before = store.graph
    forged = verdict("run-1")
    ledger.record_verdict(verdict("run-2", status=Status.FAILURE))
    assert store.catch_up() == []
    assert ledger.verdict(forged.run_id) is None
    assert store.graph == before


def test_a_forged_success_after_the_failure_of_a_run_changes_nothing(ledger):
    store = SceneStore(ledger, CONFIG)
    before = store.graph
    ledger.record_verdict(verdict("run-1", status=Status.FAILURE))
    assert not ledger.record_verdict(verdict("run-1"))
    assert store.catch_up() == []
    assert store.graph == before


@pytest.mark.parametrize(
    ("status", "kind"),
    [(Status.PROCESS, Kind.JUDGED), *((Status.FAILURE, kind) for kind in Kind)],
)
def test_whatever_is_not_success_changes_nothing(ledger, status, kind):
    store = SceneStore(ledger, CONFIG)
    before = store.graph
    ledger.record_verdict(verdict("run-1", status=status, kind=kind))
    assert store.catch_up() == []
    assert store.graph == before


def test_verdicts_are_applied_in_the_order_in_which_they_were_given(ledger):
    ledger.record_verdict(verdict("z"))
    ledger.record_verdict(verdict("a", tool="place"))
    ledger.record_verdict(verdict("m"))
    store = SceneStore(ledger, CONFIG)
    assert [(c.run_id, c.outcome) for c in store.catch_up()] == [
        (run_id, Outcome.APPLIED) for run_id in "zam"
    ]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (verdict("bad", arguments={"object": "green_block"}), "hold both"),
        (verdict("bad", arguments={"object": "blue_block"}), "'blue_block'"),
        (verdict("bad", arguments={}), "'object'"),
        (verdict("bad", arguments={"object": "x\nsuccess!"}), "'object'"),
        (verdict("bad", tool="fly"), "'fly'"),
        (
            verdict("bad", tool="place", arguments={"object": "red_block", "destination": "hook"}),
            "'under'",
        ),
        (
            verdict("bad", tool="place", arguments={"object": "red_block", "destination": "scale"}),
            "string",
        ),
    ],
)
def test_a_success_that_does_not_fit_is_reported_and_changes_nothing(path, ledger, bad, words):
    store = SceneStore(ledger, CONFIG)
    ledger.record_verdict(verdict("run-1"))
    ledger.record_verdict(bad)
    ledger.record_verdict(verdict("run-3", tool="place"))
    good, rejected, after = store.catch_up()
    assert (good.outcome, after.outcome) == (Outcome.APPLIED, Outcome.APPLIED)
    assert (rejected.outcome, rejected.run_id) == (Outcome.REJECTED, "bad")
    assert words in rejected.reason
    assert rejected in ledger.scene_events()
    assert store.graph.revision == 2
    assert not [r for r in store.graph.relations if r.run_id == "bad"]
    with Ledger(path) as again:
        assert SceneStore(again, CONFIG).graph == store.graph


def test_a_success_of_a_tool_without_effects_is_an_event_but_no_change(ledger):
    store = SceneStore(ledger, CONFIG)
    before = store.graph
    ledger.record_verdict(verdict("run-1", tool="look"))
    (change,) = store.catch_up()
    assert change.outcome is Outcome.APPLIED
    assert store.graph == before


def test_a_later_change_of_the_effects_does_not_change_the_past(ledger):
    ledger.record_verdict(verdict("run-1"))
    store = SceneStore(ledger, CONFIG)
    store.catch_up()
    tools = CONFIG.model_dump(mode="json")["tools"]
    tools["pick"]["effects"] = {}
    assert SceneStore(ledger, configuration(tools=tools)).graph == store.graph


def test_a_container_that_is_none_any_more_keeps_its_state_and_may_change_it(ledger):
    ledger.record_verdict(verdict("run-1"))
    ledger.record_verdict(verdict("run-2", tool="place"))
    SceneStore(ledger, CONFIG).catch_up()
    store = SceneStore(ledger, configuration(objects={**CONFIG.objects, "bin": {}}))
    assert store.graph.state("bin").run_id == "run-2"


def test_an_object_that_is_added_to_the_configuration_is_known_after_a_restart(ledger):
    ledger.record_verdict(verdict("run-1", arguments={"object": "blue_block"}))
    SceneStore(ledger, CONFIG)
    wider = configuration(objects={**CONFIG.objects, "blue_block": {}})
    store = SceneStore(ledger, wider)
    store.catch_up()
    assert store.graph.holding() == "blue_block"
    assert SceneStore(ledger, CONFIG).graph.holding() == "blue_block"


def test_other_relations_in_the_configuration_warn_and_take_effect_with_a_reset(path, ledger):
    SceneStore(ledger, CONFIG)
    emptied = configuration(scene={"relations": [["inside", "red_block", "bin"]]})
    store = SceneStore(ledger, emptied)
    assert str(path) in store.warning
    assert "red_block" in store.warning
    ledger.record_verdict(verdict("run-1"))
    store.reset()
    assert store.warning == ""
    assert [r.triple for r in store.graph.relations] == [("inside", "red_block", "bin")]
    assert store.catch_up() == []
    ledger.record_verdict(verdict("run-2"))
    assert len(store.catch_up()) == 1
    assert SceneStore(ledger, emptied).graph == store.graph


def test_the_same_relations_in_the_configuration_do_not_warn(ledger):
    SceneStore(ledger, CONFIG)
    reordered = configuration(scene={"relations": CONFIG.scene.relations[::-1]})
    assert SceneStore(ledger, reordered).warning == ""


def test_other_states_in_the_configuration_warn_and_take_effect_with_a_reset(ledger):
    relations = CONFIG.scene.relations
    SceneStore(ledger, CONFIG)
    closed = configuration(scene={"relations": relations, "states": {"bin": "closed"}})
    store = SceneStore(ledger, closed)
    assert "scene/reset" in store.warning
    store.reset()
    assert store.warning == ""
    assert store.graph.state("bin").state == "closed"
    assert SceneStore(ledger, closed).warning == ""


def test_a_success_that_reaches_into_a_closed_container_is_rejected_as_a_whole(path, ledger):
    closed = configuration(
        scene={"relations": [["inside", "red_block", "bin"]], "states": {"bin": "closed"}}
    )
    store = SceneStore(ledger, closed)
    before = store.graph
    ledger.record_verdict(verdict("run-1"))
    (change,) = store.catch_up()
    assert change.outcome is Outcome.REJECTED
    assert change.reason == "'red_block' would be taken out of 'bin', which is closed"
    assert store.graph == before
    with Ledger(path) as again:
        assert SceneStore(again, closed).graph == before


def test_relations_to_begin_with_that_contradict_each_other_are_an_error(ledger):
    twice = [["on", "red_block", "table"], ["inside", "red_block", "bin"]]
    with pytest.raises(SceneError, match="red_block"):
        SceneStore(ledger, configuration(scene={"relations": twice}))
    assert list(ledger.scene_events()) == []


def test_an_event_that_cannot_be_replayed_names_the_ledger_and_the_event(path, ledger):
    ledger.record_verdict(verdict("run-1"))
    SceneStore(ledger, CONFIG).catch_up()
    (event,) = [e for e in ledger.scene_events() if e.run_id == "run-1"]
    held = Effects(add=(("holding", "robot", "green_block"),))
    update = {"number": event.number + 1, "run_id": "run-2", "effects": held}
    assert ledger.record_scene_event(event.model_copy(update=update))
    with pytest.raises(SceneError, match=f"{path}: scene event 3 .*run-2.*hold both"):
        SceneStore(ledger, CONFIG)


def test_many_threads_that_catch_up_apply_each_success_once(ledger):
    store = SceneStore(ledger, CONFIG)
    for number in range(60):
        ledger.record_verdict(move(number))
    seen = []
    threads = [threading.Thread(target=lambda: seen.extend(store.catch_up())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == store.graph.revision == 48
    assert store.graph == straight_fold(ledger.path)


def test_two_stores_on_one_ledger_agree(path, ledger):
    one = SceneStore(ledger, CONFIG)
    with Ledger(path) as other_ledger:
        two = SceneStore(other_ledger, CONFIG)
        changes = []
        for number in range(0, 40, 4):
            for step in range(number, number + 4):
                ledger.record_verdict(move(step))
            turn = (one, two) if number % 8 else (two, one)
            for store in turn:
                changes += store.catch_up()
            assert one.graph == two.graph == straight_fold(path)
    assert len(changes) == one.graph.revision == 32


def work(path, first, started, crash_at=None):
    """Judges and applies until it is killed; with crash_at, a little, dying at that statement."""
    # What earlier tests left in this process, such as DDS participants, is not the child's to free.
    gc.freeze()
    if crash_at is not None:
        die_at(crash_at)
    ledger = Ledger(path)
    store = SceneStore(ledger, CONFIG)
    store.catch_up()
    started.set()
    for number in range(first, first + 3 if crash_at is not None else 10**9):
        ledger.record_verdict(move(number))
        store.catch_up()


def check_after_crash(path):
    """Restarts, and holds the graph against the straight fold; gives the number of verdicts."""
    with Ledger(path) as ledger:
        store = SceneStore(ledger, CONFIG)
        store.catch_up()
        events = list(ledger.scene_events())
        verdicts = [item for _, item in ledger.verdicts_after(0)]
        assert store.graph == straight_fold(path)
        assert SceneStore(ledger, CONFIG).graph == store.graph
    successes = [v.run_id for v in verdicts if v.status is Status.SUCCESS]
    assert [e.run_id for e in events if e.outcome is Outcome.APPLIED] == successes
    assert not [e for e in events if e.outcome is Outcome.REJECTED]
    assert [e.number for e in events] == list(range(1, len(events) + 1))
    return len(verdicts)


def test_killed_before_any_statement_the_graph_is_the_straight_fold_after_a_restart(tmp_path):
    for statement in range(1000):
        path = tmp_path / f"{statement}.sqlite"
        child = FORK.Process(target=work, args=(path, 0, FORK.Event(), statement))
        child.start()
        child.join(30)
        check_after_crash(path)
        if child.exitcode == 0:
            break
        assert child.exitcode == -signal.SIGKILL
    assert 40 < statement < 1000


def test_killed_at_any_moment_the_graph_is_the_straight_fold_after_a_restart(path):
    moments = random.Random(7)
    done = 0
    for _ in range(30):
        started = FORK.Event()
        child = FORK.Process(target=work, args=(path, done, started))
        child.start()
        assert started.wait(30)
        time.sleep(moments.uniform(0, 0.05))
        os.kill(child.pid, signal.SIGKILL)
        child.join(30)
        assert child.exitcode == -signal.SIGKILL
        done = check_after_crash(path)
    assert done > 30
