# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import json

import pytest

from harness_ros.scene import Effects, SceneError, SceneGraph, Source
from harness_ros.scene.brief import brief, to_json
from harness_ros.scene.query import ask

REFS = ("robot", "table", "drawer", "box", "cup", "plate", "kitchen")
CONTAINERS = ("drawer", "box", "kitchen")


def scene(*relations, **states):
    return SceneGraph.initial(REFS, relations, states, CONTAINERS)


def triples(graph):
    return {relation.triple for relation in graph.relations}


OPEN_DRAWER = Effects(state={"drawer": "open"})
CLOSE_DRAWER = Effects(state={"drawer": "closed"})
TAKE_CUP = Effects(
    delete=(("on", "cup", "*"), ("inside", "cup", "*")), add=(("holding", "robot", "cup"),)
)
PUT_CUP = Effects(delete=(("holding", "robot", "cup"),), add=(("inside", "cup", "drawer"),))
FULL = (("inside", "cup", "drawer"), ("on", "drawer", "table"))


def test_a_state_is_set_and_names_the_run_that_confirmed_it():
    graph = scene(*FULL, drawer="closed").apply(OPEN_DRAWER, "run-1", 10)
    state = graph.state("drawer")
    assert (state.state, state.run_id, state.stamp_ns) == ("open", "run-1", 10)
    assert state.source is Source.VERDICT
    assert graph.revision == 1
    assert graph.changed_by == {"drawer": "run-1"}


def test_what_is_not_said_to_be_open_or_closed_is_neither():
    assert scene(*FULL).state("drawer") is None
    assert scene(*FULL).apply(TAKE_CUP, "run-1", 1).holding() == "cup"


@pytest.mark.parametrize(
    ("effects", "words"),
    [
        (TAKE_CUP, "'cup' would be taken out of 'drawer', which is closed"),
        (Effects(delete=(("inside", "cup", "*"),)), "'cup' would be taken out of 'drawer'"),
        (
            Effects(add=(("holding", "robot", "cup"),)),
            "'robot' would hold 'cup' inside 'drawer', which is closed",
        ),
        (
            Effects(add=(("inside", "plate", "drawer"),)),
            "'plate' would be put into 'drawer', which is closed",
        ),
        (
            Effects(delete=(("inside", "cup", "*"),), add=(("inside", "cup", "box"),)),
            "'cup' would be taken out of 'drawer'",
        ),
        (
            Effects(state={"drawer": "closed"}, add=(("inside", "plate", "drawer"),)),
            "'plate' would be put into 'drawer'",
        ),
    ],
)
def test_nothing_gets_into_a_closed_container_nor_out_of_it(effects, words):
    graph = scene(*FULL, drawer="closed")
    before = graph.model_copy(deep=True)
    with pytest.raises(SceneError, match=words):
        graph.apply(effects, "run-1", 1)
    assert graph == before


def test_effects_that_open_a_container_may_take_out_of_it():
    graph = scene(*FULL, drawer="closed")
    both = Effects(delete=TAKE_CUP.delete, state={"drawer": "open"}, add=TAKE_CUP.add)
    assert graph.apply(both, "run-1", 1).holding() == "cup"


def test_effects_that_close_an_open_container_may_put_into_it_first():
    graph = scene(("on", "cup", "table"), drawer="open").apply(TAKE_CUP, "run-1", 1)
    both = Effects(delete=PUT_CUP.delete, state={"drawer": "closed"}, add=PUT_CUP.add)
    after = graph.apply(both, "run-2", 2)
    assert after.contents("drawer") == ("cup",)
    assert after.state("drawer").state == "closed"


def test_a_thing_put_into_an_open_drawer_stays_in_it_when_it_is_closed():
    graph = scene(("on", "cup", "table"), drawer="open")
    for number, effects in enumerate((TAKE_CUP, PUT_CUP, CLOSE_DRAWER)):
        graph = graph.apply(effects, f"run-{number}", number)
    with pytest.raises(SceneError, match="closed"):
        graph.apply(TAKE_CUP, "run-3", 3)
    assert graph.apply(OPEN_DRAWER, "run-3", 3).apply(TAKE_CUP, "run-4", 4).holding() == "cup"


def test_a_container_closed_around_a_closed_one_keeps_what_is_inside_of_that():
    graph = scene(("inside", "cup", "box"), ("inside", "box", "drawer"), drawer="closed")
    with pytest.raises(SceneError, match="'cup' would be taken out of 'drawer'"):
        graph.apply(TAKE_CUP, "run-1", 1)
    with pytest.raises(SceneError) as caught:
        graph.apply(Effects(delete=(("inside", "box", "*"),)), "run-1", 1)
    assert str(caught.value) == "'box' would be taken out of 'drawer', which is closed"


def test_what_stands_on_a_thing_inside_is_inside_too():
    graph = scene(("on", "cup", "plate"), ("inside", "plate", "drawer"), drawer="closed")
    assert graph.contents("drawer") == ("cup", "plate")
    with pytest.raises(SceneError, match="'cup' would be taken out of 'drawer'"):
        graph.apply(TAKE_CUP, "run-1", 1)


def test_moving_a_closed_container_moves_what_is_inside():
    graph = scene(("inside", "cup", "box"), ("on", "box", "table"), box="closed")
    lift = Effects(delete=(("on", "box", "*"),), add=(("holding", "robot", "box"),))
    put = Effects(delete=(("holding", "*", "*"),), add=(("inside", "box", "drawer"),))
    lifted = graph.apply(lift, "run-1", 1)
    assert lifted.contents("box") == ("cup",)
    moved = lifted.apply(put, "run-2", 2)
    assert moved.contents("drawer") == ("box", "cup")
    assert ("inside", "cup", "box") in triples(moved)


def test_an_add_of_what_is_inside_a_closed_container_confirms_it():
    graph = scene(*FULL, drawer="closed")
    seen = Effects(delete=(("inside", "cup", "*"),), add=(("inside", "cup", "drawer"),))
    assert graph.apply(seen, "run-1", 1).relations_of("cup")[0].run_id == "run-1"


def test_a_robot_inside_a_closed_room_takes_what_is_in_it():
    graph = scene(
        ("inside", "robot", "kitchen"),
        ("inside", "table", "kitchen"),
        ("on", "cup", "table"),
        kitchen="closed",
    )
    taken = graph.apply(TAKE_CUP, "run-1", 1)
    assert taken.contents("kitchen") == ("cup", "robot", "table")
    leave = Effects(delete=(("inside", "robot", "*"),))
    with pytest.raises(SceneError, match="'robot' would be taken out of 'kitchen'"):
        taken.apply(leave, "run-2", 2)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"sink": "open"}, "state: unknown ref 'sink'"),
        ({"cup": "open"}, "state.cup: 'cup' is no container"),
        ({"drawer": "ajar"}, "state.drawer: unknown state 'ajar'"),
        ([("drawer", "open"), ("drawer", "closed")], "state.drawer: both 'open' and 'closed'"),
    ],
)
def test_a_state_that_cannot_be_is_refused_with_words(state, words):
    with pytest.raises(SceneError, match=words):
        scene().apply(Effects(state=state), "run-1", 1)
    with pytest.raises(SceneError, match=words):
        SceneGraph.initial(REFS, (), state, CONTAINERS)


def test_a_scene_may_begin_with_a_full_and_closed_container_but_not_with_a_hand_in_it():
    assert scene(*FULL, drawer="closed").contents("drawer") == ("cup",)
    with pytest.raises(SceneError, match="would hold 'cup' inside 'drawer'"):
        scene(*FULL, ("holding", "robot", "cup"), drawer="closed")


def test_circles_through_the_hand_end():
    graph = scene(("on", "robot", "box"), ("holding", "robot", "box"), ("inside", "box", "drawer"))
    assert graph.contents("drawer") == ("box", "robot")
    assert graph.contents("box") == ()


def test_the_brief_says_what_is_open_and_what_is_closed():
    graph = scene(("inside", "cup", "drawer"), ("inside", "plate", "kitchen"), drawer="closed")
    assert brief(graph.apply(Effects(state={"box": "open"}), "run-1", 1)) == (
        "robot holds: nothing\n"
        "inside box (open): nothing known\n"
        "inside drawer (closed): cup\n"
        "inside kitchen: plate\n"
        "nothing known of: table\n"
        "confirmed changes: 1"
    )


def test_the_json_tells_each_state_with_the_run_that_confirmed_it():
    graph = scene(drawer="closed").apply(Effects(state={"box": "open"}), "run-1", 7)
    assert json.loads(to_json(graph))["states"] == {
        "box": {"state": "open", "source": "verdict", "run_id": "run-1", "stamp_ns": 7},
        "drawer": {"state": "closed", "source": "initial", "run_id": "", "stamp_ns": 0},
    }


def test_a_question_for_a_container_is_answered_with_state_and_contents():
    graph = scene(("inside", "cup", "box"), ("inside", "box", "drawer"), drawer="open")
    answer = ask(graph.apply(CLOSE_DRAWER, "run-1", 9), "drawer")
    assert [relation.triple for relation in answer.relations] == [("inside", "box", "drawer")]
    assert (answer.state, answer.contents, answer.confirmed_at_ns) == ("closed", ("box", "cup"), 9)


def test_a_question_may_name_a_thing_a_relation_both_or_nothing():
    graph = scene(("on", "cup", "table"), ("near", "robot", "table"), ("on", "plate", "table"))
    graph = graph.apply(TAKE_CUP, "run-1", 5)

    def asked(**question):
        return [relation.triple for relation in ask(graph, **question).relations]

    assert asked() == [
        ("on", "plate", "table"),
        ("holding", "robot", "cup"),
        ("near", "robot", "table"),
    ]
    assert asked(relation="near") == asked(ref="robot", relation="near")
    assert asked(ref="cup") == [("holding", "robot", "cup")]
    assert asked(ref="cup", relation="on") == []
    assert ask(graph, "table").confirmed_at_ns == 0
    assert ask(graph, "robot").confirmed_at_ns == 5


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"ref": "sink"}, r"unknown ref 'sink'; known are \['box', 'cup'"),
        ({"relation": "under"}, r"unknown relation 'under'; it is one of \['on', 'inside'"),
    ],
)
def test_a_question_for_the_unknown_is_answered_with_what_is_known(question, words):
    with pytest.raises(SceneError, match=words):
        ask(scene(), **question)
