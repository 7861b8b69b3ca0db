# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import pytest

from harness_ros.scene import Effects, SceneGraph
from harness_ros.scene.brief import brief
from harness_ros.scene.confidence import NEVER, Confidence, age_s

SECOND = 10**9
REFS = ("robot", "table", "bin", "red", "blue", "green")
NOW = 1000 * SECOND
FADING = Confidence(half_life_s=60)


@pytest.fixture
def graph():
    """Red was put on the table 12 s ago; green was seen in the bin 3 s ago; blue is assumed."""
    start = SceneGraph.initial(REFS, [("on", "blue", "table"), ("on", "bin", "table")])
    put = Effects(add=(("on", "red", "table"),))
    seen = Effects(add=(("inside", "green", "bin"),))
    confirmed = start.apply(put, "run-1", NOW - 12 * SECOND)
    return confirmed.perceive(seen, NOW - 3 * SECOND, 0.8)


def of(graph, ref):
    return graph.relations_of(ref)[0]


def test_confidence_is_what_the_source_gave(graph):
    trust = Confidence(initial=0.4, verdict=0.95)
    assert trust.now(of(graph, "red"), NOW) == 0.95
    assert trust.now(of(graph, "blue"), NOW) == 0.4
    assert trust.now(of(graph, "green"), NOW) == 0.8


def test_confidence_halves_with_each_half_life(graph):
    red = of(graph, "red")
    for lives, left in ((0, 1.0), (1, 0.5), (3, 0.125)):
        assert FADING.now(red, red.stamp_ns + lives * 60 * SECOND) == pytest.approx(left)


def test_a_relation_fades_only_where_it_has_a_half_life(graph):
    inside = Confidence(half_life_s={"inside": 3})
    assert inside.now(of(graph, "green"), NOW) == pytest.approx(0.4)
    assert inside.now(of(graph, "red"), NOW) == 1.0


def test_what_the_configuration_began_with_has_no_age_and_does_not_fade(graph):
    assert age_s(of(graph, "blue"), NOW) == NEVER == -1.0
    assert FADING.now(of(graph, "blue"), NOW) == 0.5


def test_a_clock_behind_the_stamp_makes_no_age_below_zero(graph):
    assert age_s(of(graph, "red"), 0) == 0.0
    assert FADING.now(of(graph, "red"), 0) == 1.0


def test_the_brief_keeps_its_form_where_nothing_fades(graph):
    confirmed_alone = graph.apply(Effects(delete=(("inside", "*", "bin"),)), "run-2", NOW)
    assert brief(confirmed_alone, Confidence(), NOW) == (
        "robot holds: nothing\n"
        "on table: bin, blue, red\n"
        "nothing known of: green\n"
        "confirmed changes: 2"
    )


def test_the_brief_says_what_is_old_assumed_or_only_seen(graph):
    assert brief(graph, FADING, NOW) == (
        "robot holds: nothing\n"
        "inside bin: green (seen 3 s ago, not confirmed)\n"
        "on table: red (confirmed 12 s ago), "
        "bin, blue (both from the configuration, never confirmed)\n"
        "confirmed changes: 1"
    )


def test_the_brief_says_nothing_of_what_is_certain_still(graph):
    assert "on table: red, bin, blue (both" in brief(graph, FADING, NOW - 11 * SECOND)


def test_what_perception_saw_is_told_as_such_also_where_nothing_fades(graph):
    assert "inside bin: green (seen 3 s ago, not confirmed)" in brief(graph, Confidence(), NOW)


def test_what_the_robot_holds_is_told_with_its_age_too(graph):
    held = Effects(delete=(("on", "red", "*"),), add=(("holding", "robot", "red"),))
    graph = graph.apply(held, "run-2", NOW - 300 * SECOND)
    assert brief(graph, FADING, NOW).startswith("robot holds: red (confirmed 5 min ago)\n")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "0 s"),
        (119, "119 s"),
        (120, "2 min"),
        (7199, "119 min"),
        (7200, "2 h"),
        (2e5, "2 days"),
    ],
)
def test_an_age_is_told_in_the_unit_that_a_person_would_use(graph, seconds, words):
    now_ns = NOW - 3 * SECOND + int(seconds * SECOND)
    assert f"(seen {words} ago, not confirmed)" in brief(graph, Confidence(), now_ns)
