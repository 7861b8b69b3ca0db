# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The scene graph as markers: what a viewer gets of them."""

from __future__ import annotations

import math

import pytest
from visualization_msgs.msg import Marker, MarkerArray

from harness_ros.ros.scene.markers import COLOURS, FAINTEST, markers
from harness_ros.scene import Effects, SceneGraph, Source
from harness_ros.scene.confidence import Confidence
from harness_ros.scene.layout import lay_out
from harness_ros.scene.perception import SeenPose

SECOND = 10**9
NOW = 100 * SECOND
REFS = ("robot", "table", "bin", "red", "green", "blue")
BEGAN = tuple(("on", ref, "table") for ref in ("bin", "red", "green", "blue"))


@pytest.fixture
def graph() -> SceneGraph:
    """Red is held on a verdict's word, green was seen in the bin, blue is assumed."""
    start = SceneGraph.initial(REFS, BEGAN, {"bin": "open"}, ["bin"])
    held = Effects(delete=(("on", "red", "*"),), add=(("holding", "robot", "red"),))
    seen = Effects(delete=(("on", "green", "table"),), add=(("inside", "green", "bin"),))
    return start.apply(held, "run-1", NOW - 60 * SECOND).perceive(seen, NOW - 3 * SECOND, 0.8)


def drawn(
    graph: SceneGraph, confidence: Confidence | None = None, **poses: SeenPose
) -> MarkerArray:
    boxes = lay_out(graph, {}, BEGAN, poses, "map")
    return markers(graph, boxes, confidence or Confidence(), NOW)


def of(array: MarkerArray, namespace: str) -> list[Marker]:
    return [marker for marker in array.markers if marker.ns == namespace]


def colour(marker: Marker) -> tuple[float, ...]:
    return tuple(round(c, 2) for c in (marker.color.r, marker.color.g, marker.color.b))


def relations(array: MarkerArray) -> dict[int, Marker]:
    return {marker.id: marker for marker in of(array, "relations")}


def test_every_array_clears_first_and_names_each_marker_once(graph: SceneGraph) -> None:
    (first, *others) = drawn(graph).markers
    assert (first.action, first.ns) == (Marker.DELETEALL, "")
    assert {marker.action for marker in others} == {Marker.ADD}
    names = [(marker.ns, marker.id) for marker in others]
    assert len(set(names)) == len(names)
    assert "" not in {namespace for namespace, _ in names}


def test_the_same_graph_gives_the_same_markers(graph: SceneGraph) -> None:
    assert drawn(graph) == drawn(graph.model_copy(deep=True))


def test_every_thing_has_a_cube_and_a_label_that_tells_its_state(graph: SceneGraph) -> None:
    array = drawn(graph)
    assert [label.text for label in of(array, "labels")] == [
        "bin (open)",
        "blue",
        "green",
        "red",
        "robot",
        "table",
    ]
    cubes = of(array, "things")
    assert [cube.type for cube in cubes] == [Marker.CUBE] * 6
    assert all(min(c.scale.x, c.scale.y, c.scale.z) > 0 for c in cubes)
    assert all(cube.pose.orientation.w == 1.0 for cube in cubes)


def test_what_things_are_in_or_on_can_be_seen_through(graph: SceneGraph) -> None:
    labels = [label.text for label in of(drawn(graph), "labels")]
    alphas = dict(zip(labels, (m.color.a for m in of(drawn(graph), "things")), strict=True))
    assert {name for name, alpha in alphas.items() if alpha < 0.5} == {"bin (open)", "table"}


def test_relations_have_the_colour_of_their_source_and_a_name(graph: SceneGraph) -> None:
    array = drawn(graph)
    names = of(array, "relation_labels")
    assert [name.text for name in names] == [item.relation for item in graph.relations]
    expected = [tuple(round(c, 2) for c in COLOURS[item.source]) for item in graph.relations]
    assert [colour(name) for name in names] == expected
    assert len({COLOURS[source] for source in Source}) == 3
    for number, arrow in relations(array).items():
        assert arrow.type == Marker.ARROW
        assert colour(arrow) == expected[number]


def test_relations_fade_with_age_where_they_have_a_half_life(graph: SceneGraph) -> None:
    holding = next(n for n, item in enumerate(graph.relations) if item.relation == "holding")
    fresh = relations(drawn(graph))[holding].color.a
    faded = relations(drawn(graph, Confidence(half_life_s=60)))[holding].color.a
    gone = relations(drawn(graph, Confidence(half_life_s=0.001)))[holding].color.a
    assert (fresh, gone) == (pytest.approx(1.0), pytest.approx(FAINTEST))
    assert faded == pytest.approx(FAINTEST + (1 - FAINTEST) / 2, abs=0.01)


def test_stamps_are_zero_in_the_frame_of_the_scene_and_the_pictures_in_others(
    graph: SceneGraph,
) -> None:
    seen = SeenPose(ref="bin", frame_id="camera", stamp_ns=NOW, position=(1.0, 2.0, 3.0))
    stamps = {m.header.frame_id: m.header.stamp.sec for m in of(drawn(graph, bin=seen), "things")}
    assert stamps == {"map": 0, "camera": 100}


def test_between_two_frames_there_is_a_name_and_no_arrow(graph: SceneGraph) -> None:
    seen = SeenPose(ref="bin", frame_id="camera", stamp_ns=NOW, position=(1.0, 2.0, 3.0))
    apart = next(n for n, r in enumerate(graph.relations) if r.triple == ("on", "bin", "table"))
    array = drawn(graph, bin=seen)
    assert apart not in relations(array)
    assert [m.text for m in of(array, "relation_labels") if m.id == apart] == ["on"]


def test_no_number_is_anything_but_a_number_and_no_arrow_is_without_length(
    graph: SceneGraph,
) -> None:
    for marker in drawn(graph).markers:
        position = marker.pose.position
        assert all(math.isfinite(value) for value in (position.x, position.y, position.z))
    for arrow in relations(drawn(graph)).values():
        (start, end) = arrow.points
        assert math.dist((start.x, start.y, start.z), (end.x, end.y, end.z)) > 0.001
