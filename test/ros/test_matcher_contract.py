# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One contract for both matchers: the same frames in the same order give the same sets."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from harness_ros.capture.matcher import ApproximateMatcher, Matcher, MatcherFactory
from harness_ros.capture.sample import Sample
from harness_ros.ros import message_filters_matcher
from harness_ros.ros.message_filters_matcher import MessageFiltersMatcher

needs_message_filters = pytest.mark.skipif(
    message_filters_matcher.message_filters is None, reason="message_filters is not installed"
)
MATCHERS = [
    pytest.param(ApproximateMatcher, id="built_in"),
    pytest.param(MessageFiltersMatcher, id="message_filters", marks=needs_message_filters),
]
SLOP_NS = 100

Frame = tuple[str, int]
"""Camera and stamp in nanoseconds."""


def sets(matcher: Matcher, frames: Sequence[Frame]) -> list[tuple[int, dict[str, tuple[int, int]]]]:
    """(position of the frame that completed it, {camera: (stamp, position of its frame)})."""
    found = []
    for position, (camera, stamp_ns) in enumerate(frames):
        chosen = matcher.add(Sample(camera, stamp_ns, position.to_bytes(4, "big")))
        if chosen is not None:
            assert all(sample.source == key for key, sample in chosen.items())
            members = {
                key: (sample.stamp_ns, int.from_bytes(sample.data, "big"))
                for key, sample in chosen.items()
            }
            found.append((position, members))
    return found


def stamps(matcher: Matcher, frames: Sequence[Frame]) -> list[dict[str, int]]:
    return [
        {camera: stamp for camera, (stamp, _) in members.items()}
        for _, members in sets(matcher, frames)
    ]


@pytest.fixture(params=MATCHERS)
def factory(request: pytest.FixtureRequest) -> MatcherFactory:
    made: MatcherFactory = request.param
    return made


@pytest.fixture
def two(factory: MatcherFactory) -> Matcher:
    return factory(["a", "b"], 10, SLOP_NS)


def test_equal_stamps_are_a_set(two: Matcher) -> None:
    assert sets(two, [("a", 1000), ("b", 1000)]) == [(1, {"a": (1000, 0), "b": (1000, 1)})]


def test_one_camera_alone_gives_no_set(two: Matcher) -> None:
    assert sets(two, [("a", 1000), ("a", 1001), ("a", 1002)]) == []


def test_stamps_just_under_slop_apart_are_a_set(two: Matcher) -> None:
    assert stamps(two, [("a", 1000), ("b", 1099)]) == [{"a": 1000, "b": 1099}]


def test_stamps_exactly_slop_apart_are_no_set(two: Matcher) -> None:
    assert stamps(two, [("a", 1000), ("b", 1100)]) == []


@pytest.mark.parametrize("slop_ns", [1, 3, 126_614_243, 531_969_375, 33_333_333, 5_000_000_000])
def test_slop_is_exact_to_the_nanosecond(factory: MatcherFactory, slop_ns: int) -> None:
    start = 1_700_000_000 * 10**9
    near = [("a", start), ("b", start + slop_ns - 1)]
    far = [("a", start), ("b", start + slop_ns)]
    assert len(sets(factory(["a", "b"], 10, slop_ns), near)) == 1
    assert sets(factory(["a", "b"], 10, slop_ns), far) == []


def test_every_frame_of_a_single_camera_is_a_set(factory: MatcherFactory) -> None:
    frames = [("a", 5), ("a", 3), ("a", 3)]
    assert stamps(factory(["a"], 2, SLOP_NS), frames) == [{"a": 5}, {"a": 3}, {"a": 3}]


@pytest.mark.parametrize("order", ["abc", "bca", "cba"])
def test_a_set_holds_every_camera_in_the_order_of_the_cameras(
    factory: MatcherFactory, order: str
) -> None:
    matcher = factory(["c", "a", "b"], 10, SLOP_NS)
    found = stamps(matcher, [(camera, 1000) for camera in order])
    assert [list(chosen) for chosen in found] == [["c", "a", "b"]]


def test_three_cameras_need_the_spread_of_all_within_slop(factory: MatcherFactory) -> None:
    # b is near enough to a and to c, a and c are too far from each other.
    frames = [("a", 1000), ("c", 1120), ("b", 1060)]
    assert stamps(factory(["a", "b", "c"], 10, SLOP_NS), frames) == []


def test_a_frame_that_is_used_is_not_used_again(two: Matcher) -> None:
    frames = [("a", 1000), ("b", 1000), ("b", 1001), ("a", 1001)]
    assert stamps(two, frames) == [{"a": 1000, "b": 1000}, {"a": 1001, "b": 1001}]


def test_the_closest_queued_frame_is_taken(two: Matcher) -> None:
    frames = [("a", 1000), ("a", 1040), ("a", 1090), ("b", 1050)]
    assert stamps(two, frames) == [{"a": 1040, "b": 1050}]


def test_the_first_possible_set_is_taken_and_a_closer_one_is_not_waited_for(two: Matcher) -> None:
    frames = [("a", 1000), ("b", 1090), ("a", 1090)]
    assert sets(two, frames) == [(1, {"a": (1000, 0), "b": (1090, 1)})]


@pytest.mark.parametrize("queued", [(1000, 1040), (1040, 1000)])
def test_of_two_equally_near_frames_the_one_queued_first_is_taken(
    two: Matcher, queued: tuple[int, int]
) -> None:
    first, second = queued
    assert stamps(two, [("a", first), ("a", second), ("b", 1020)]) == [{"a": first, "b": 1020}]


def test_ties_between_three_cameras_vary_the_last_camera_first(factory: MatcherFactory) -> None:
    # Every pair within slop of 1000, but b and c must be within slop of each other as well.
    frames = [("b", 950), ("b", 1050), ("c", 1060), ("c", 940), ("a", 1000)]
    found = stamps(factory(["a", "b", "c"], 10, SLOP_NS), frames)
    assert found == [{"a": 1000, "b": 950, "c": 940}]


def test_a_repeated_stamp_replaces_the_frame_that_is_queued(two: Matcher) -> None:
    assert sets(two, [("a", 1000), ("a", 1000), ("b", 1000)]) == [
        (2, {"a": (1000, 1), "b": (1000, 2)})
    ]


def test_a_repeated_stamp_keeps_the_place_in_the_queue(two: Matcher) -> None:
    frames = [("a", 1000), ("a", 1040), ("a", 1000), ("b", 1020)]
    assert sets(two, frames) == [(3, {"a": (1000, 2), "b": (1020, 3)})]


def test_frames_out_of_order_are_matched_as_they_come(two: Matcher) -> None:
    frames = [("a", 3000), ("a", 1000), ("b", 1010), ("b", 3010)]
    assert stamps(two, frames) == [{"a": 1000, "b": 1010}, {"a": 3000, "b": 3010}]


def test_a_full_queue_loses_its_smallest_stamp(factory: MatcherFactory) -> None:
    frames = [("a", 1000), ("a", 2000), ("a", 3000), ("b", 1000), ("b", 2000)]
    assert stamps(factory(["a", "b"], 2, SLOP_NS), frames) == [{"a": 2000, "b": 2000}]


def test_a_late_frame_that_is_the_smallest_of_a_full_queue_is_lost(
    factory: MatcherFactory,
) -> None:
    # What a jump back in time does to a queue that still holds later stamps.
    frames = [("b", 1000), ("a", 5000), ("a", 6000), ("a", 1000)]
    assert stamps(factory(["a", "b"], 2, SLOP_NS), frames) == []


def test_other_cameras_keep_their_frames_when_one_overflows(factory: MatcherFactory) -> None:
    frames = [("b", 4000), *(("a", stamp) for stamp in range(1000, 4001, 1000))]
    assert stamps(factory(["a", "b"], 1, SLOP_NS), frames) == [{"a": 4000, "b": 4000}]


def test_matchers_of_two_runs_share_nothing(factory: MatcherFactory) -> None:
    first, second = (factory(["a", "b"], 10, SLOP_NS) for _ in range(2))
    assert sets(first, [("a", 1000)]) == []
    assert sets(second, [("b", 1000)]) == []


def reference(
    cameras: Sequence[str], queue_size: int, slop_ns: int, frames: Sequence[Frame]
) -> list[tuple[int, dict[str, tuple[int, int]]]]:
    """The rule written out by search: no queue is kept sorted, nothing is shared with the code."""
    queued: list[tuple[str, int, int]] = []
    found = []
    for position, (camera, stamp_ns) in enumerate(frames):
        same = [i for i, entry in enumerate(queued) if entry[:2] == (camera, stamp_ns)]
        if same:
            queued[same[0]] = (camera, stamp_ns, position)
        else:
            queued.append((camera, stamp_ns, position))
        mine = [entry for entry in queued if entry[0] == camera]
        if len(mine) > queue_size:
            queued.remove(min(mine, key=lambda entry: entry[1]))
        newest = (camera, stamp_ns, position)
        if newest not in queued:
            continue
        combinations: list[list[tuple[str, int, int]]] = [[]]
        for name in cameras:
            choices = [entry for entry in queued if entry[0] == name]
            choices.sort(key=lambda entry: abs(entry[1] - stamp_ns))
            choices = [newest] if name == camera else choices
            combinations = [[*chosen, entry] for chosen in combinations for entry in choices]
        for chosen in combinations:
            times = [entry[1] for entry in chosen]
            if max(times) - min(times) < slop_ns:
                found.append((position, {name: (stamp, at) for name, stamp, at in chosen}))
                queued = [entry for entry in queued if entry not in chosen]
                break
    return found


def random_stream(seed: int) -> tuple[list[str], int, int, list[Frame]]:
    """Cameras, queue size, slop and frames; few distinct stamps, so that ties are common."""
    draw = random.Random(seed)
    cameras = ["a", "b", "c", "d"][: draw.choice([1, 2, 2, 3, 3, 4])]
    queue_size = draw.randint(1, 6)
    slop_ns = draw.choice([1, 2, 5, 20, 100])
    step = draw.choice([1, 2, 7, 20])
    now, frames = 1_000_000_000 - 50, []
    for _ in range(80):
        now += draw.choice([0, 0, 1, 1, 2, 3])
        if draw.random() < 0.02:
            now -= draw.randint(5, 60)
        stamp_ns = now + step * draw.randint(-2, 2)
        frames.append((draw.choice(cameras), stamp_ns))
    return cameras, queue_size, slop_ns, frames


@pytest.mark.parametrize("block", range(6))
def test_random_streams_give_the_sets_of_the_rule(factory: MatcherFactory, block: int) -> None:
    total = 0
    for seed in range(100 * block, 100 * (block + 1)):
        cameras, queue_size, slop_ns, frames = random_stream(seed)
        found = sets(factory(cameras, queue_size, slop_ns), frames)
        assert found == reference(cameras, queue_size, slop_ns, frames), f"seed {seed}"
        total += len(found)
    assert total > 500


@needs_message_filters
def test_the_matcher_of_a_ros_installation_is_message_filters() -> None:
    assert message_filters_matcher.matcher_factory() is MessageFiltersMatcher


def test_without_message_filters_the_built_in_matcher_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(message_filters_matcher, "message_filters", None)
    assert message_filters_matcher.matcher_factory() is ApproximateMatcher
