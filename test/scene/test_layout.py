# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import random

import pytest

from harness_ros.config import Thing
from harness_ros.scene import Effects, SceneGraph
from harness_ros.scene.layout import lay_out
from harness_ros.scene.perception import SeenPose

REFS = ("robot", "table", "bin", "tray", "red", "green", "blue")
BEGAN = (
    ("on", "red", "table"),
    ("on", "green", "table"),
    ("on", "bin", "table"),
    ("inside", "blue", "bin"),
)
THINGS = {
    "bin": Thing(container=True, pose=(0.3, 0.1, 0.03), size=(0.2, 0.2, 0.06)),
    "red": Thing(pose=(-0.1, 0.0, 0.025)),
    "table": Thing(pose=(0.0, 0.0, -0.02), size=(1.0, 0.6, 0.04)),
}
PICK = Effects(delete=(("on", "red", "*"),), add=(("holding", "robot", "red"),))
BACK = Effects(delete=(("holding", "robot", "*"),), add=(("on", "red", "table"),))


def graph_of(*relations):
    return SceneGraph.initial(REFS, relations, (), ["bin"])


@pytest.fixture
def graph():
    return graph_of(*BEGAN)


def boxes(graph, things=THINGS, poses=(), began=BEGAN):
    return lay_out(graph, things, began, {pose.ref: pose for pose in poses}, "map")


def seen(ref, position, at=100, frame_id="map"):
    return SeenPose(ref=ref, frame_id=frame_id, stamp_ns=at, position=position)


def within(box, carrier):
    return all(
        abs(box.centre[axis] - carrier.centre[axis]) <= carrier.size[axis] / 2 for axis in (0, 1)
    )


def test_every_ref_has_a_box(graph):
    assert list(boxes(graph)) == sorted(REFS)


def test_a_thing_is_where_the_configuration_puts_it_until_it_is_moved(graph):
    assert boxes(graph)["red"].centre == (-0.1, 0.0, 0.025)
    picked = graph.apply(PICK, "run-1", 10)
    assert boxes(picked)["red"].centre != (-0.1, 0.0, 0.025)
    # On the table again, but nobody knows where on it.
    back = picked.apply(BACK, "run-2", 20)
    assert boxes(back)["red"].centre != (-0.1, 0.0, 0.025)
    assert within(boxes(back)["red"], boxes(back)["table"])


def test_confirming_that_a_thing_is_where_it_was_does_not_move_it(graph):
    confirmed = graph.apply(Effects(add=(("on", "red", "table"),)), "run-1", 10)
    assert boxes(confirmed)["red"].centre == (-0.1, 0.0, 0.025)


def test_a_thing_is_where_it_was_last_seen_until_a_verdict_moves_it(graph):
    there = seen("red", (0.2, 0.2, 0.025), at=100)
    assert boxes(graph, poses=[there])["red"].centre == (0.2, 0.2, 0.025)
    held = graph.apply(PICK, "run-1", 99)
    assert boxes(held, poses=[there])["red"].centre == (0.2, 0.2, 0.025)
    held_since = graph.apply(PICK, "run-1", 101)
    assert boxes(held_since, poses=[there])["red"].centre != (0.2, 0.2, 0.025)


def test_what_is_in_a_thing_moves_along_with_it(graph):
    lift = Effects(delete=(("on", "bin", "*"),), add=(("holding", "robot", "bin"),))
    there = seen("blue", (0.3, 0.1, 0.03), at=100)
    lifted = boxes(graph.apply(lift, "run-1", 200), poses=[there])
    assert lifted["bin"].centre != THINGS["bin"].pose
    assert within(lifted["blue"], lifted["bin"])


def test_things_on_a_support_stand_on_it_side_by_side():
    on_tray = [("on", ref, "tray") for ref in ("red", "green", "blue", "bin")]
    placed = boxes(graph_of(*on_tray, ("on", "tray", "table")), things={})
    tray = placed["tray"]
    assert tray.bottom == pytest.approx(placed["table"].top)
    things = [placed[ref] for ref in ("red", "green", "blue", "bin")]
    for thing in things:
        assert thing.bottom == pytest.approx(tray.top)
        assert within(thing, tray)
    for index, one in enumerate(things):
        for other in things[index + 1 :]:
            apart = [abs(one.centre[axis] - other.centre[axis]) for axis in (0, 1)]
            sizes = [(one.size[axis] + other.size[axis]) / 2 for axis in (0, 1)]
            assert any(gap >= size for gap, size in zip(apart, sizes, strict=True))


def test_what_is_inside_a_container_lies_on_its_floor(graph):
    placed = boxes(graph)
    assert within(placed["blue"], placed["bin"])
    assert placed["blue"].bottom == pytest.approx(placed["bin"].bottom)


def test_what_the_robot_holds_is_above_it(graph):
    placed = boxes(graph.apply(PICK, "run-1", 10))
    assert placed["red"].bottom > placed["robot"].top
    assert within(placed["red"], placed["robot"])


def test_what_nothing_carries_stands_in_front_of_all_that_has_a_place(graph):
    placed = boxes(graph)
    front = placed["table"].centre[1] - placed["table"].size[1] / 2
    for ref in ("robot", "tray"):
        assert placed[ref].centre[1] + placed[ref].size[1] / 2 < front
    assert placed["robot"].centre[0] + placed["robot"].size[0] / 2 < (
        placed["tray"].centre[0] - placed["tray"].size[0] / 2
    )


def test_a_support_without_a_pose_lies_under_the_things_on_it_that_have_one(graph):
    placed = boxes(graph, things={"red": THINGS["red"], "bin": THINGS["bin"]})
    table = placed["table"]
    assert table.top == pytest.approx(0.0)
    for ref in ("red", "bin", "green"):
        assert within(placed[ref], table)


def test_what_a_thing_carries_is_drawn_in_the_frame_in_which_it_was_seen(graph):
    placed = boxes(graph, poses=[seen("bin", (0.0, 0.0, 1.0), at=77, frame_id="camera")])
    assert (placed["blue"].frame_id, placed["blue"].stamp_ns) == ("camera", 77)
    assert (placed["red"].frame_id, placed["red"].stamp_ns) == ("map", 0)


def test_a_tray_that_carries_the_robot_that_holds_it_has_a_place():
    graph = graph_of(("on", "robot", "tray"), ("holding", "robot", "tray"), ("on", "red", "tray"))
    placed = boxes(graph, things={})
    assert placed["red"].bottom == pytest.approx(placed["tray"].top)


def test_the_layout_depends_on_no_order(graph):
    relations, things = list(BEGAN), list(THINGS.items())
    for seed in range(10):
        random.Random(seed).shuffle(relations)
        random.Random(seed).shuffle(things)
        assert boxes(graph_of(*relations), things=dict(things)) == boxes(graph)
