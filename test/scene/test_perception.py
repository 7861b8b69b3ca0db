# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import gc
import json
import math
import multiprocessing
import os
import random
import signal
import time

import pytest

from harness_ros.config import EvaluationConfig
from harness_ros.contract import Status, Verdict
from harness_ros.ledger import Ledger
from harness_ros.scene import Outcome, SceneError, Source
from harness_ros.scene.brief import to_json
from harness_ros.scene.perception import SeenPose, Sighting
from harness_ros.scene.store import SceneStore

FORK = multiprocessing.get_context("fork")
SECOND = 10**9
NOW = 1000 * SECOND


def configuration(relations=("on", "inside", "near"), **perception):
    argument = {"arguments": {"object": {}, "place": {}}}
    tool = {"post_condition": "as wanted", "judge": "eyes", "signals": ["gripper"], **argument}
    everywhere = [["holding", "robot", "*"], ["on", "{object}", "*"], ["inside", "{object}", "*"]]
    return EvaluationConfig.model_validate(
        {
            "version": 1,
            "judges": {"eyes": {}},
            "objects": {"red": {}, "green": {}, "bin": {"container": True}, "shelf": {}},
            "tools": {
                "pick": {
                    **tool,
                    "effects": {"delete": everywhere, "add": [["holding", "robot", "{object}"]]},
                },
                "shelve": {**tool, "effects": {"add": [["on", "{object}", "shelf"]]}},
                "place": {
                    **tool,
                    "effects": {"delete": everywhere, "add": [["inside", "{object}", "{place}"]]},
                },
                "grab": {**tool, "effects": {"add": [["holding", "robot", "{object}"]]}},
                "close": {**tool, "effects": {"state": {"{place}": "closed"}}},
                "look": {**tool, "effects": {"add": [["on", "{object}", "table"]]}},
            },
            "scene": {
                "relations": [["on", "red", "table"], ["on", "green", "table"]],
                "states": {"bin": "open"},
                "perception": {"relations": list(relations), **perception},
            },
        }
    )


CONFIG = configuration()


def verdict(run_id, tool="pick", at=NOW, observed=None, status=Status.SUCCESS, **arguments):
    return Verdict(
        run_id=run_id,
        call_id=run_id,
        tool_name=tool,
        arguments={"object": "red", "place": "bin", **arguments},
        segment=1,
        status=status,
        given_at_ns=at,
        observed_at_ns=at if observed is None else observed,
    )


def sighting(at=NOW, holds=(), gone=(), poses=(), confidence=0.8):
    return Sighting(
        stamp_ns=at, seen_by="eyes", confidence=confidence, holds=holds, gone=gone, poses=poses
    )


def on_shelf(at=NOW, ref="red", **more):
    return sighting(at, holds=(("on", ref, "shelf"),), gone=(("on", ref, "*"),), **more)


def pose(ref="red", at=NOW, position=(1.0, 2.0, 3.0), frame_id="map"):
    return SeenPose(ref=ref, frame_id=frame_id, stamp_ns=at, position=position)


def triples(store):
    return {relation.triple for relation in store.graph.relations}


def relation(graph, *triple):
    (found,) = [item for item in graph.relations if item.triple == triple]
    return found


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(path):
    with Ledger(path) as ledger:
        yield ledger


@pytest.fixture
def store(ledger):
    return SceneStore(ledger, CONFIG)


def test_nothing_is_taken_where_the_configuration_does_not_say_so(ledger):
    store = SceneStore(ledger, configuration(relations=()))
    before = store.graph
    assert store.perceive(on_shelf(), NOW) is None
    assert store.graph == before
    assert len(list(ledger.scene_events())) == 1


def test_what_is_seen_changes_the_graph_and_is_told_as_seen(store):
    change = store.perceive(on_shelf(at=NOW - SECOND), NOW)
    assert (change.outcome, change.seen_by, change.confidence) == (Outcome.PERCEIVED, "eyes", 0.8)
    assert triples(store) == {("on", "red", "shelf"), ("on", "green", "table")}
    (told,) = [r for r in json.loads(to_json(store.graph))["relations"] if r["subject"] == "red"]
    assert told["source"] == "perception"
    assert told["confidence"] == 0.8
    assert told["run_id"] == ""
    assert told["stamp_ns"] == NOW - SECOND


def test_what_is_seen_is_no_confirmed_change(store):
    store.perceive(on_shelf(), NOW)
    assert store.graph.revision == 0
    assert store.graph.changed_by == {}


def test_relations_that_are_not_listed_are_passed_over(ledger):
    store = SceneStore(ledger, configuration(relations=["near"]))
    both = sighting(holds=(("near", "robot", "shelf"), ("on", "red", "shelf")))
    assert store.perceive(both, NOW).effects.add == (("near", "robot", "shelf"),)
    assert ("on", "red", "table") in triples(store)


def test_what_is_seen_survives_a_restart(path, ledger, store):
    ledger.record_verdict(verdict("run-1", at=NOW - SECOND))
    store.catch_up()
    store.perceive(on_shelf(ref="green"), NOW)
    with Ledger(path) as again:
        assert SceneStore(again, CONFIG).graph == store.graph


def test_what_was_assumed_and_is_seen_stands_on_the_word_of_perception(store):
    store.perceive(sighting(holds=(("on", "red", "table"),)), NOW)
    assert relation(store.graph, "on", "red", "table").source is Source.PERCEPTION
    assert relation(store.graph, "on", "green", "table").source is Source.INITIAL


def test_what_a_verdict_confirmed_stays_on_its_word_when_it_is_seen_too(ledger, store):
    ledger.record_verdict(verdict("run-1", tool="look", at=NOW - 5 * SECOND))
    assert store.perceive(sighting(holds=(("on", "red", "table"),)), NOW) is None
    assert relation(store.graph, "on", "red", "table").run_id == "run-1"


# Which evidence is younger


@pytest.mark.parametrize("late", [0, 1, 30 * SECOND])
def test_a_picture_no_younger_than_a_verdicts_observation_undoes_nothing(ledger, store, late):
    ledger.record_verdict(verdict("run-1", observed=NOW - 60 * SECOND, at=NOW - 50 * SECOND))
    store.catch_up()
    after = store.graph
    old = sighting(
        at=NOW - 60 * SECOND - late,
        holds=(("on", "red", "table"), ("on", "red", "shelf")),
        gone=(("holding", "robot", "*"), ("on", "*", "*")),
    )
    config = configuration(relations=["on", "holding"])
    change = SceneStore(ledger, config).perceive(old, NOW)
    # Of green, the verdict has said nothing.
    assert change.effects.delete == (("on", "green", "table"),)
    assert change.effects.add == ()
    assert store.catch_up() == []
    assert store.graph.holding() == after.holding() == "red"


def test_a_picture_taken_while_the_judge_was_thinking_is_younger_than_the_verdict(ledger):
    store = SceneStore(ledger, configuration(relations=["holding"]))
    ledger.record_verdict(verdict("run-1", observed=NOW - 9 * SECOND, at=NOW - 2 * SECOND))
    dropped = sighting(at=NOW - 5 * SECOND, gone=(("holding", "robot", "red"),))
    assert store.perceive(dropped, NOW) is not None
    assert store.graph.holding() is None


def test_a_verdict_without_an_observation_counts_from_when_it_was_given(ledger):
    store = SceneStore(ledger, configuration(relations=["holding"]))
    ledger.record_verdict(verdict("run-1", observed=0, at=NOW - 2 * SECOND))
    dropped = sighting(at=NOW - 5 * SECOND, gone=(("holding", "robot", "red"),))
    assert store.perceive(dropped, NOW) is None
    assert store.graph.holding() == "red"


def test_a_place_beside_that_of_a_later_verdict_is_passed_over(ledger, store):
    ledger.record_verdict(verdict("run-1", tool="look", at=NOW - 5 * SECOND))
    assert store.perceive(on_shelf(at=NOW - 6 * SECOND), NOW) is None
    assert ("on", "red", "table") in triples(store)


def test_a_verdict_overrides_what_was_seen_before(ledger, store):
    store.perceive(on_shelf(at=NOW - 5 * SECOND), NOW)
    ledger.record_verdict(verdict("run-1", tool="place"))
    store.catch_up()
    assert relation(store.graph, "inside", "red", "bin").source is Source.VERDICT
    assert ("on", "red", "shelf") not in triples(store)


def test_a_verdict_confirms_what_was_seen(ledger, store):
    store.perceive(on_shelf(at=NOW - 5 * SECOND), NOW)
    ledger.record_verdict(verdict("run-1", tool="shelve"))
    store.catch_up()
    confirmed = relation(store.graph, "on", "red", "shelf")
    assert (confirmed.source, confirmed.run_id) == (Source.VERDICT, "run-1")


def test_what_was_seen_gives_way_to_a_verdict_that_does_not_fit_beside_it(path, ledger):
    config = configuration(relations=["on", "holding"])
    store = SceneStore(ledger, config)
    holds = (("holding", "robot", "green"), ("on", "red", "shelf"))
    store.perceive(sighting(at=NOW - 9 * SECOND, holds=holds, gone=(("on", "*", "table"),)), NOW)
    # Neither tool deletes: what it adds would be a second place, a second thing in the hand.
    ledger.record_verdict(verdict("run-1", tool="look"))
    ledger.record_verdict(verdict("run-2", tool="grab"))
    assert [change.outcome for change in store.catch_up()] == [Outcome.APPLIED] * 2
    assert triples(store) == {("on", "red", "table"), ("holding", "robot", "red")}
    with Ledger(path) as again:
        assert SceneStore(again, config).graph == store.graph


def test_what_was_assumed_gives_way_to_no_verdict(ledger, store):
    ledger.record_verdict(verdict("run-1", tool="shelve"))
    (change,) = store.catch_up()
    assert change.outcome is Outcome.REJECTED
    assert "both on 'shelf' and on 'table'" in change.reason


def test_a_thing_seen_inside_a_container_that_a_verdict_says_is_closed_was_seen_wrongly(ledger):
    store = SceneStore(ledger, CONFIG)
    seen = sighting(
        at=NOW - 9 * SECOND, holds=(("inside", "red", "bin"),), gone=(("on", "red", "*"),)
    )
    store.perceive(seen, NOW)
    ledger.record_verdict(verdict("run-1", tool="close"))
    ledger.record_verdict(verdict("run-2", tool="pick"))
    assert [change.outcome for change in store.catch_up()] == [Outcome.APPLIED] * 2
    assert store.graph.holding() == "red"
    assert store.graph.contents("bin") == ()


def test_an_older_picture_does_not_undo_a_younger_one(store):
    store.perceive(on_shelf(at=NOW - SECOND), NOW)
    assert store.perceive(sighting(at=NOW - 2 * SECOND, gone=(("on", "*", "*"),)), NOW)
    assert triples(store) == {("on", "red", "shelf")}


# What is not taken


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (on_shelf(confidence=math.nan), "confidence nan"),
        (on_shelf(confidence=-0.1), "confidence -0.1"),
        (on_shelf(confidence=1.5), "confidence 1.5"),
        (on_shelf(at=NOW + 2 * SECOND), "2.000 s ahead of the clock"),
        (on_shelf(at=0), "no stamp"),
        (on_shelf(at=-5), "no stamp"),
        (on_shelf(ref="blue"), "unknown ref 'blue'"),
        (sighting(holds=(("under", "red", "table"),)), "unknown relation 'under'"),
        (sighting(holds=(("on", "red", "*"),)), r"'\*' is allowed in `delete` only"),
        (on_shelf(poses=(pose("blue"),)), "pose of unknown ref 'blue'"),
        (on_shelf(poses=(pose(position=(0.0, math.nan, 0.0)),)), "pose of 'red' is .*nan"),
        (on_shelf(poses=(pose(position=(0.0, math.inf, 0.0)),)), "pose of 'red' is .*inf"),
        (on_shelf(poses=(pose(frame_id=""),)), "pose of 'red' has no frame_id"),
        (on_shelf(poses=(pose(at=NOW + 9 * SECOND),)), "pose of 'red' is stamped 9.000 s ahead"),
        (sighting(holds=(("on", "red", "shelf"),)), "both on 'shelf' and on 'table'"),
        (
            sighting(
                holds=(("on", "red", "shelf"), ("on", "shelf", "red")), gone=(("on", "*", "*"),)
            ),
            "would rest on itself",
        ),
    ],
)
def test_a_message_with_something_wrong_changes_nothing_at_all(ledger, store, bad, words):
    before = store.graph
    good = SeenPose(ref="green", frame_id="map", stamp_ns=NOW, position=(0.0, 0.0, 0.0))
    mixed = bad.model_copy(update={"poses": (*bad.poses, good)})
    with pytest.raises(SceneError, match=f"'eyes'.*{words}"):
        store.perceive(mixed, NOW)
    assert store.graph == store.present == before
    assert store.sightings.poses == {}
    assert len(list(ledger.scene_events())) == 1


def test_a_stamp_a_little_ahead_of_the_clock_is_taken(store):
    assert store.perceive(on_shelf(at=NOW + SECOND // 4), NOW) is not None


def test_what_is_seen_does_not_get_into_a_closed_container(ledger, store):
    ledger.record_verdict(verdict("run-1", tool="close", at=NOW - 9 * SECOND))
    seen = sighting(holds=(("inside", "red", "bin"),), gone=(("on", "red", "*"),))
    with pytest.raises(SceneError, match="put into 'bin', which is closed"):
        store.perceive(seen, NOW)
    assert ("on", "red", "table") in triples(store)


def test_a_verdict_that_was_applied_before_a_picture_is_still_told_of(ledger, store):
    ledger.record_verdict(verdict("run-1", tool="shelve", at=NOW - SECOND))
    store.perceive(sighting(holds=(("near", "robot", "bin"),)), NOW)
    assert [change.outcome for change in store.catch_up()] == [Outcome.REJECTED]
    assert store.catch_up() == []


def test_what_is_too_uncertain_is_passed_over_with_its_poses(ledger):
    store = SceneStore(ledger, configuration(min_confidence=0.6))
    assert store.perceive(on_shelf(confidence=0.59, poses=(pose(),)), NOW) is None
    assert store.sightings.poses == {}
    assert store.perceive(on_shelf(confidence=0.6), NOW) is not None


# Much of it


def test_a_publisher_at_30_hz_that_sees_the_same_writes_one_event(ledger, store):
    start = NOW - 100 * SECOND
    for frame in range(3000):
        store.perceive(on_shelf(at=start + frame * SECOND // 30), NOW)
    assert len(list(ledger.scene_events())) == 2


def test_what_is_seen_again_is_told_with_its_last_stamp_and_confidence(path, ledger, store):
    store.perceive(on_shelf(at=NOW - 60 * SECOND), NOW)
    store.perceive(on_shelf(at=NOW - SECOND, confidence=0.7), NOW)
    seen = relation(store.present, "on", "red", "shelf")
    assert (seen.stamp_ns, seen.confidence) == (NOW - SECOND, 0.7)
    kept = relation(store.graph, "on", "red", "shelf")
    assert (kept.stamp_ns, kept.confidence) == (NOW - 60 * SECOND, 0.8)
    late = sighting(at=NOW - 30 * SECOND, gone=(("on", "red", "shelf"),))
    assert store.perceive(late, NOW) is None


def test_a_detector_that_flickers_at_30_hz_writes_one_event_a_second(ledger, store):
    start = NOW - 100 * SECOND
    for frame in range(300):
        at = start + frame * SECOND // 30
        there = sighting(at=at, holds=(("near", "robot", "bin"),))
        gone = sighting(at=at, gone=(("near", "robot", "bin"),))
        store.perceive((there, gone)[frame % 2], NOW)
    assert 5 <= len(list(ledger.scene_events())) - 1 <= 10


def test_the_youngest_pose_of_each_thing_is_kept_in_memory(store):
    store.perceive(sighting(at=NOW - 3 * SECOND, poses=(pose(at=NOW - 3 * SECOND),)), NOW)
    newer = pose(at=NOW - SECOND, position=(4.0, 5.0, 6.0))
    store.perceive(sighting(at=NOW - SECOND, poses=(newer,)), NOW)
    store.perceive(sighting(at=NOW - 2 * SECOND, poses=(pose(at=NOW - 2 * SECOND),)), NOW)
    assert store.sightings.poses == {"red": newer}


# Beginning anew, and several processes


def test_after_a_reset_what_was_seen_before_says_nothing(path, ledger, store):
    store.perceive(on_shelf(at=NOW - 9 * SECOND, poses=(pose(at=NOW - 9 * SECOND),)), NOW)
    store.reset(NOW)
    assert triples(store) == {("on", "red", "table"), ("on", "green", "table")}
    assert store.sightings.poses == {}
    assert store.perceive(on_shelf(at=NOW), NOW) is None
    with Ledger(path) as again:
        after_restart = SceneStore(again, CONFIG)
        assert after_restart.perceive(on_shelf(at=NOW), NOW) is None
        assert after_restart.perceive(on_shelf(at=NOW + 1), NOW) is not None


def test_a_reset_restores_the_states_that_the_configuration_begins_with(ledger, store):
    ledger.record_verdict(verdict("run-1", tool="close"))
    store.catch_up()
    assert store.graph.state("bin").state == "closed"
    store.reset()
    assert store.graph.state("bin").state == "open"
    assert SceneStore(ledger, CONFIG).graph == store.graph


def test_two_processes_that_see_the_same_write_it_once_and_agree(path, ledger, store):
    with Ledger(path) as other_ledger:
        other = SceneStore(other_ledger, CONFIG)
        assert store.perceive(on_shelf(), NOW) is not None
        assert other.perceive(on_shelf(), NOW) is None
        assert other.graph == store.graph
        other.perceive(on_shelf(ref="green"), NOW)
        assert store.catch_up() == []
        assert store.graph == other.graph
    assert len(list(ledger.scene_events())) == 3


# Kill -9


def perceiving(path, started, done):
    """Judges, applies and perceives until it is killed, and says what it has done."""
    gc.freeze()
    ledger = Ledger(path)
    store = SceneStore(ledger, configuration(min_interval_s=0.0))
    started.set()
    first = len(list(ledger.scene_events()))
    for number in range(first, 10**9):
        at = number * SECOND
        if number % 3 == 0:
            ledger.record_verdict(verdict(f"run-{number}", tool="look", at=at))
            store.catch_up()
        elif number % 3 == 1:
            ledger.record_verdict(verdict(f"run-{number}", tool="close", at=at, place="bin"))
            store.catch_up()
        else:
            there = (("near", "robot", ("shelf", "bin")[number % 2]),)
            store.perceive(sighting(at, holds=there, gone=(("near", "*", "*"),)), at)
        done.value = number


def test_killed_at_any_moment_verdicts_states_and_sightings_are_there_after_a_restart(path):
    moments = random.Random(11)
    perceived = 0
    for _ in range(12):
        started, done = FORK.Event(), FORK.Value("l", 0)
        child = FORK.Process(target=perceiving, args=(path, started, done))
        child.start()
        assert started.wait(30)
        time.sleep(moments.uniform(0.01, 0.06))
        os.kill(child.pid, signal.SIGKILL)
        child.join(30)
        assert child.exitcode == -signal.SIGKILL
        with Ledger(path) as ledger:
            store = SceneStore(ledger, CONFIG)
            store.catch_up()
            assert SceneStore(ledger, CONFIG).graph == store.graph
            events = list(ledger.scene_events())
            verdicts = [item.run_id for _, item in ledger.verdicts_after(0)]
        assert [e.run_id for e in events if e.outcome is Outcome.APPLIED] == verdicts
        seen = [event for event in events if event.outcome is Outcome.PERCEIVED]
        stamps = {event.stamp_ns // SECOND for event in seen}
        claimed = [n for n in range(done.value + 1) if n % 3 == 2 and n >= min(stamps, default=n)]
        assert set(claimed[-1:]) <= stamps
        if verdicts:
            assert store.graph.state("bin") is not None
        perceived = len(seen)
    assert perceived > 5
