# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import json
import random

import pytest
from pydantic import ValidationError

from harness_ros.scene import Effects, SceneError, SceneGraph
from harness_ros.scene.brief import brief, to_json

REFS = ("robot", "table", "bin", "red_block", "green_block")
PICK = Effects(delete=(("on", "red_block", "*"),), add=(("holding", "robot", "red_block"),))
DROP = Effects(delete=(("holding", "robot", "*"),), add=(("inside", "red_block", "bin"),))


@pytest.fixture
def graph():
    return SceneGraph.initial(REFS, [("on", "red_block", "table"), ("on", "green_block", "table")])


def triples(graph):
    return [relation.triple for relation in graph.relations]


def test_a_pick_moves_the_block_into_the_hand(graph):
    after = graph.apply(PICK, "run-1", 10)
    assert triples(after) == [("on", "green_block", "table"), ("holding", "robot", "red_block")]
    assert after.holding() == "red_block"
    assert after.revision == 1


def test_a_graph_is_a_value_that_apply_leaves_alone(graph):
    before = graph.model_copy(deep=True)
    graph.apply(PICK, "run-1", 10)
    assert graph == before
    assert graph.holding() is None
    with pytest.raises(ValidationError):
        graph.revision = 7


def test_deletes_are_done_before_adds(graph):
    moved = Effects(add=(("on", "red_block", "bin"),), delete=(("on", "red_block", "*"),))
    assert ("on", "red_block", "bin") in triples(graph.apply(moved, "run-1", 1))


def test_a_star_matches_every_subject(graph):
    cleared = graph.apply(Effects(delete=(("on", "*", "table"),)), "run-1", 1)
    assert cleared.relations == ()


def test_a_delete_takes_only_what_it_names(graph):
    after = graph.apply(Effects(delete=(("inside", "red_block", "*"),)), "run-1", 1)
    assert triples(after) == triples(graph)


def test_each_relation_names_the_run_that_confirmed_it(graph):
    after = graph.apply(PICK, "run-1", 10).apply(DROP, "run-2", 20)
    confirmed = {r.triple: (r.run_id, r.stamp_ns) for r in after.relations}
    assert confirmed == {
        ("on", "green_block", "table"): ("", 0),
        ("inside", "red_block", "bin"): ("run-2", 20),
    }


def test_an_add_of_what_holds_confirms_it_anew(graph):
    after = graph.apply(Effects(add=(("on", "red_block", "table"),)), "run-1", 5)
    (relation,) = after.relations_of("red_block")
    assert (relation.run_id, relation.stamp_ns) == ("run-1", 5)
    assert triples(after) == triples(graph)


def test_empty_effects_are_no_revision(graph):
    assert graph.apply(Effects(), "run-1", 5) == graph


def test_the_run_that_last_changed_a_thing_is_known_of_each(graph):
    after = graph.apply(PICK, "run-1", 10).apply(DROP, "run-2", 20)
    assert after.changed_by == {
        "red_block": "run-2",
        "bin": "run-2",
        "robot": "run-2",
        "table": "run-1",
    }


def test_a_delete_of_what_does_not_hold_changes_nothing_of_a_thing(graph):
    cleared = Effects(delete=(("inside", "*", "bin"), ("on", "red_block", "table")))
    assert set(graph.apply(cleared, "run-1", 10).changed_by) == {"red_block", "table"}


def test_the_order_of_relations_does_not_depend_on_the_order_of_adds(graph):
    adds = [("near", "robot", ref) for ref in REFS if ref != "robot"]
    texts = set()
    for seed in range(10):
        random.Random(seed).shuffle(adds)
        texts.add(to_json(graph.apply(Effects(add=tuple(adds)), "run", 1)))
        texts.add(to_json(SceneGraph.initial(REFS[::-1]).model_copy(update={"revision": seed})))
    assert len(texts) == 1 + 10


def test_relations_of_a_thing_are_those_on_either_side(graph):
    after = graph.apply(PICK, "run-1", 1)
    assert [r.triple for r in after.relations_of("red_block")] == [
        ("holding", "robot", "red_block")
    ]
    assert [r.triple for r in after.relations_of("table")] == [("on", "green_block", "table")]
    with pytest.raises(SceneError, match="blue_block"):
        after.relations_of("blue_block")


@pytest.mark.parametrize(
    ("adds", "words"),
    [
        ([("on", "blue_block", "table")], "unknown ref 'blue_block'"),
        ([("over", "red_block", "table")], "unknown relation 'over'"),
        ([("on", "*", "table")], r"'\*' is allowed in `delete` only"),
        (
            [("holding", "robot", "red_block"), ("holding", "robot", "green_block")],
            "'robot' would hold both 'green_block' and 'red_block'",
        ),
        ([("holding", "bin", "red_block")], "'bin' would hold 'red_block'; only 'robot' can hold"),
        ([("on", "red_block", "bin")], "'red_block' would be both on 'bin' and on 'table'"),
        ([("inside", "red_block", "bin")], "both on 'table' and inside 'bin'"),
        ([("on", "bin", "bin")], "'bin' would be in relation 'on' with itself"),
        ([("on", "table", "bin"), ("on", "bin", "red_block")], "would rest on itself"),
    ],
)
def test_effects_that_cannot_be_true_are_refused_with_words(graph, adds, words):
    with pytest.raises(SceneError, match=words):
        graph.apply(Effects(delete=(("on", "green_block", "*"),), add=tuple(adds)), "run-1", 1)


def test_a_second_thing_in_the_hand_is_refused_also_across_runs(graph):
    held = graph.apply(PICK, "run-1", 1)
    second = Effects(
        delete=(("on", "green_block", "*"),), add=(("holding", "robot", "green_block"),)
    )
    with pytest.raises(SceneError, match="hold both"):
        held.apply(second, "run-2", 2)


def test_a_chain_above_a_circle_ends():
    with pytest.raises(SceneError, match="rest on itself"):
        SceneGraph.initial(
            ("a", "b", "c"), [("on", "a", "b"), ("on", "b", "c"), ("inside", "c", "b")]
        )


def test_a_contradiction_at_the_start_is_refused():
    with pytest.raises(SceneError, match="both on 'bin' and on 'table'"):
        SceneGraph.initial(REFS, [("on", "red_block", "bin"), ("on", "red_block", "table")])


def test_the_brief_says_in_a_few_lines_what_is_known(graph):
    after = graph.apply(PICK, "run-1", 10).apply(DROP, "run-2", 20)
    near = Effects(
        delete=(("on", "green_block", "*"),),
        add=(("near", "robot", "bin"), ("holding", "robot", "green_block")),
    )
    assert brief(after.apply(near, "run-3", 30)) == (
        "robot holds: green_block\n"
        "inside bin: red_block\n"
        "near bin: robot\n"
        "nothing known of: table\n"
        "confirmed changes: 3"
    )
    assert brief(graph) == (
        "robot holds: nothing\n"
        "on table: green_block, red_block\n"
        "nothing known of: bin\n"
        "confirmed changes: 0"
    )


def test_the_json_names_for_each_relation_the_run_and_its_stamp(graph):
    text = to_json(graph.apply(PICK, "run-1", 10))
    told = json.loads(text)
    assert told == {
        "holding": "red_block",
        "objects": ["bin", "green_block", "red_block", "robot", "table"],
        "relations": [
            {
                "relation": "on",
                "subject": "green_block",
                "object": "table",
                "source": "initial",
                "run_id": "",
                "stamp_ns": 0,
                "confidence": 0.5,
            },
            {
                "relation": "holding",
                "subject": "robot",
                "object": "red_block",
                "source": "verdict",
                "run_id": "run-1",
                "stamp_ns": 10,
                "confidence": 1.0,
            },
        ],
        "revision": 1,
        "states": {},
    }
    assert text == json.dumps(told, sort_keys=True)
