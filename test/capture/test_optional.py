# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Sources beside the required ones: optional, standing, and samples that turn out to be none."""

import dataclasses
import itertools
import random

import pytest

from harness_ros.capture.counts import JUMP_NS
from harness_ros.capture.sample import Sample
from harness_ros.capture.session import CaptureRule, CaptureSession

MS = 1_000_000
RULE = CaptureRule(
    cameras=("front", "wrist", "top"),
    signals=("width", "force"),
    settle_ns=200 * MS,
    slop_ns=50 * MS,
    window_ns=3000 * MS,
    queue_size=5,
    optional=frozenset({"wrist", "force"}),
    optional_wait_ns=300 * MS,
)
ENDED = 10_000 * MS
FIRST = ENDED + RULE.settle_ns
LAST = FIRST + RULE.window_ns
INFO = "front.camera_info"


def finished(**changes):
    rule = dataclasses.replace(RULE, **changes)
    optional = rule.optional & {*rule.sources}
    session = CaptureSession(dataclasses.replace(rule, optional=optional))
    session.finish(ENDED)
    return session


def cameras_only(**changes):
    changes = {"signals": (), "optional": frozenset({"wrist"}), **changes}
    return finished(**changes)


def calibrated(**changes):
    changes = {"signals": (INFO,), "optional": frozenset(), **changes}
    return finished(cameras=("front",), standing=frozenset({INFO}), **changes)


def feed(session, *samples):
    for source, stamp_ns in samples:
        session.add(Sample(source, stamp_ns, b""))


def chosen(session):
    selection = session.selection()
    return {sample.source: sample.stamp_ns for sample in (*selection.frames, *selection.signals)}


def chosen_sample(session, source):
    selection = session.selection()
    return next(item for item in (*selection.frames, *selection.signals) if item.source == source)


# Optional cameras


def test_an_optional_frame_in_time_joins_the_set_in_the_order_of_the_rule():
    session = cameras_only()
    feed(session, ("front", FIRST), ("top", FIRST), ("wrist", FIRST + 20 * MS))
    assert session.complete
    selection = session.selection()
    assert [frame.source for frame in selection.frames] == ["front", "wrist", "top"]
    assert selection.absent == ()


def test_an_optional_frame_that_came_before_the_set_joins_it():
    session = cameras_only()
    feed(session, ("wrist", FIRST + 20 * MS), ("front", FIRST), ("top", FIRST))
    assert chosen(session)["wrist"] == FIRST + 20 * MS


def test_a_set_waits_for_the_optional_frame():
    session = cameras_only()
    feed(session, ("front", FIRST), ("top", FIRST))
    assert not session.complete


@pytest.mark.parametrize("source", ["front", "top", "wrist"])
@pytest.mark.parametrize(("later", "complete"), [(0, False), (1, True)])
def test_a_set_is_complete_without_it_once_stamps_are_younger_by_the_wait(source, later, complete):
    session = cameras_only()
    feed(session, ("front", FIRST + 9), ("top", FIRST))
    feed(session, (source, FIRST + 9 + RULE.optional_wait_ns + later))
    assert session.complete is complete
    if complete:
        assert session.selection().absent == ("wrist",)


def test_stamps_from_before_the_set_do_not_end_the_wait():
    session = cameras_only()
    feed(session, ("front", FIRST + 900 * MS), ("top", FIRST + 900 * MS), ("wrist", FIRST))
    assert not session.complete


def test_a_stamp_beyond_the_window_ends_the_wait():
    session = cameras_only()
    feed(session, ("front", LAST), ("top", LAST), ("front", LAST + RULE.optional_wait_ns + 1))
    assert chosen(session) == {"front": LAST, "top": LAST}


def test_time_that_is_up_ends_the_wait():
    session = cameras_only()
    feed(session, ("front", FIRST), ("top", FIRST))
    assert session.wait_no_longer()
    assert chosen(session) == {"front": FIRST, "top": FIRST}


def test_time_that_is_up_does_not_complete_what_lacks_a_required_source():
    session = cameras_only()
    feed(session, ("front", FIRST), ("wrist", FIRST))
    assert not session.wait_no_longer()
    with pytest.raises(ValueError, match="not complete"):
        session.selection()
    feed(session, ("top", FIRST))
    assert chosen(session) == {"front": FIRST, "wrist": FIRST, "top": FIRST}


@pytest.mark.parametrize("stamp_ns", [FIRST - 1, LAST + 1])
@pytest.mark.parametrize("first", [True, False], ids=["before the set", "after the set"])
def test_an_optional_frame_outside_of_the_window_is_no_evidence(stamp_ns, first):
    near = FIRST if stamp_ns < FIRST else LAST
    session = cameras_only()
    feed(session, ("front", near), ("top", near), ("wrist", stamp_ns))
    if first:
        session = cameras_only()
        feed(session, ("wrist", stamp_ns), ("front", near), ("top", near))
    assert session.wait_no_longer()
    assert session.selection().absent == ("wrist",)


@pytest.mark.parametrize(("apart", "joins"), [(RULE.slop_ns - 1, True), (RULE.slop_ns, False)])
@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("first", [True, False], ids=["before the set", "after the set"])
def test_an_optional_frame_lies_within_slop_of_each_frame_of_the_set(
    apart, joins, direction, first
):
    at = FIRST + 1000 * MS
    farther = ("top", at - direction * 10 * MS)
    wrist = ("wrist", at - direction * 10 * MS + direction * apart)
    session = cameras_only()
    feed(session, *([wrist] if first else []), ("front", at), farther, *([] if first else [wrist]))
    session.wait_no_longer()
    assert ("wrist" in chosen(session)) is joins


def test_optional_frames_lie_within_slop_of_each_other():
    optional = frozenset({"wrist", "side"})
    session = cameras_only(cameras=("front", "wrist", "side"), optional=optional)
    feed(session, ("front", FIRST + 40 * MS), ("wrist", FIRST), ("side", FIRST + 80 * MS))
    assert not session.complete
    feed(session, ("side", FIRST + 49 * MS))
    assert chosen(session) == {
        "front": FIRST + 40 * MS,
        "wrist": FIRST,
        "side": FIRST + 49 * MS,
    }


def test_of_the_optional_frames_that_came_first_the_closest_joins():
    session = cameras_only()
    feed(session, *(("wrist", FIRST + number * 10 * MS) for number in range(5)))
    feed(session, ("front", FIRST + 22 * MS), ("top", FIRST + 30 * MS))
    assert chosen(session)["wrist"] == FIRST + 30 * MS


def test_an_optional_frame_that_comes_after_the_set_was_complete_changes_nothing():
    session = cameras_only()
    feed(session, ("front", FIRST), ("top", FIRST), ("top", FIRST + 301 * MS), ("wrist", FIRST))
    assert session.selection().absent == ("wrist",)


def test_cameras_that_are_all_optional_join_a_required_signal():
    every = frozenset({"front", "wrist", "top"})
    session = finished(signals=("width",), optional=every)
    feed(session, ("front", FIRST), ("width", FIRST), ("top", FIRST + 10 * MS))
    assert not session.complete
    feed(session, ("width", FIRST + 301 * MS))
    assert chosen(session) == {"front": FIRST, "top": FIRST + 10 * MS, "width": FIRST}
    assert session.selection().absent == ("wrist",)


def test_cameras_that_are_all_optional_may_all_be_absent():
    session = finished(signals=("width",), optional=frozenset(RULE.cameras))
    feed(session, ("front", FIRST - 1), ("width", FIRST), ("width", FIRST + 301 * MS))
    assert chosen(session) == {"width": FIRST}
    assert session.selection().frames == ()


def test_frames_of_optional_cameras_far_apart_are_no_set():
    cameras = ("front", "top")
    session = finished(cameras=cameras, signals=("width",), optional=frozenset(cameras))
    feed(session, ("front", FIRST), ("width", FIRST), ("top", FIRST + RULE.slop_ns))
    assert not session.complete
    assert session.wait_no_longer()
    assert chosen(session) == {"front": FIRST, "width": FIRST}


# Optional signals


def test_an_optional_signal_in_time_joins():
    session = finished(cameras=())
    feed(session, ("force", FIRST - 1), ("width", FIRST))
    feed(session, ("force", FIRST + 5), ("force", FIRST + 6))
    assert chosen(session) == {"width": FIRST, "force": FIRST + 5}


def test_an_optional_signal_is_waited_for_and_then_done_without():
    session = finished(cameras=())
    feed(session, ("width", FIRST), ("width", FIRST + RULE.optional_wait_ns))
    assert not session.complete
    feed(session, ("width", FIRST + RULE.optional_wait_ns + 1))
    assert chosen(session) == {"width": FIRST}
    assert session.selection().absent == ("force",)


def test_what_is_absent_is_named_in_the_order_of_the_rule():
    session = finished()
    feed(session, ("front", FIRST), ("top", FIRST), ("width", FIRST))
    assert session.wait_no_longer()
    assert session.selection().absent == ("wrist", "force")


# The order of arrival


def a_stream(draw, sources, jumps=0.0):
    """Samples of each source in the order of their stamps, unless time goes back."""
    clocks = dict.fromkeys(sources, ENDED - 100 * MS)
    for position in range(100):
        source = draw.choice(sources)
        clocks[source] += draw.randint(1, 40) * MS
        if draw.random() < jumps:
            clocks[source] -= draw.randint(1, 400) * MS
        yield Sample(source, clocks[source], position.to_bytes(2, "big"))


def a_rule(draw):
    cameras = ("front", "wrist", "top", "side")[: draw.randint(0, 4)]
    signals = ("width", "force", INFO)[: draw.randint(0, 3)]
    sources = [*cameras, *signals]
    optional = {source for source in sources if draw.random() < 0.4}
    return CaptureRule(
        cameras=cameras,
        signals=signals,
        settle_ns=draw.choice([0, 100]) * MS,
        slop_ns=draw.choice([1, 20, 50]) * MS,
        window_ns=draw.choice([200, 600]) * MS,
        queue_size=draw.randint(1, 8),
        optional=frozenset(optional),
        standing=frozenset({INFO}) & frozenset(signals),
        optional_wait_ns=draw.choice([0, 50, 200]) * MS,
    )


def rules(seeds):
    """(seed, draw, rule) of rules that require something that is seen."""
    for seed in range(seeds):
        draw = random.Random(seed)
        rule = a_rule(draw)
        if {*rule.cameras, *rule.signals} - rule.optional - rule.standing:
            yield seed, draw, rule


def run_until_complete(rule, stream, finish_at):
    """The choice, or None; the end of the run is heard of before the sample at `finish_at`."""
    session = CaptureSession(rule)
    for position, sample in enumerate(stream):
        if position == finish_at:
            session.finish(ENDED)
        if position >= finish_at and session.complete:
            break
        session.add(sample)
    return session.selection() if session.complete else None


def test_the_choice_does_not_depend_on_when_the_end_of_the_run_is_heard_of():
    compared = 0
    for seed, draw, rule in rules(600):
        roomy = dataclasses.replace(rule, queue_size=100)
        stream = list(a_stream(draw, rule.sources))
        if rule.standing:
            # The last calibration counts: the later the end is heard of, the later it is.
            stream = [sample for sample in stream if sample.source != INFO]
            stream.insert(0, Sample(INFO, 0, b""))
        early = run_until_complete(roomy, stream, 0)
        if early is None:
            continue
        late = CaptureSession(roomy)
        for sample in stream:
            late.add(sample)
        late.finish(ENDED)
        assert late.selection() == early, seed
        assert run_until_complete(roomy, stream, draw.randint(0, 60)) == early, seed
        compared += bool(early.absent)
    assert compared > 50


def test_the_same_order_gives_the_same_choice():
    for seed, draw, rule in rules(300):
        stream, finish_at = list(a_stream(draw, rule.sources, 0.02)), draw.randint(0, 60)
        live = run_until_complete(rule, stream, finish_at)
        assert run_until_complete(rule, stream, finish_at) == live, seed


def test_optional_sources_change_nothing_of_what_is_required():
    found = 0
    for seed, draw, rule in rules(600):
        stream = list(a_stream(draw, rule.sources))
        required = [sample for sample in stream if sample.source not in rule.optional]

        def required_part(session, samples, optional=rule.optional):
            session.finish(ENDED)
            for sample in samples:
                session.add(sample)
            if not session.wait_no_longer():
                return None
            chosen = session.selection()
            return [
                sample
                for sample in (*chosen.frames, *chosen.signals)
                if sample.source not in optional | {INFO}
            ]

        bare = required_part(CaptureSession(rule), required)
        assert required_part(CaptureSession(rule), stream) == bare, seed
        found += bare is not None and bool(rule.optional)
    assert found > 100


# Standing sources


@pytest.mark.parametrize("stamp_ns", [0, FIRST - 1, FIRST, LAST + 1])
def test_a_calibration_of_any_stamp_counts(stamp_ns):
    session = calibrated()
    feed(session, (INFO, stamp_ns), ("front", FIRST))
    assert chosen(session) == {"front": FIRST, INFO: stamp_ns}


def test_a_calibration_from_before_the_end_of_the_run_counts():
    session = CaptureSession(calibrated().rule)
    feed(session, (INFO, 5), *(("front", stamp_ns) for stamp_ns in range(FIRST, FIRST + 50)))
    session.finish(ENDED)
    assert chosen(session)[INFO] == 5


def test_the_last_calibration_counts():
    session = calibrated()
    feed(session, (INFO, FIRST + 8), (INFO, FIRST + 9), (INFO, FIRST + 7), ("front", FIRST))
    assert chosen(session)[INFO] == FIRST + 7


def test_a_missing_calibration_is_waited_for():
    session = calibrated()
    feed(session, ("front", FIRST), ("front", FIRST + 1000 * MS))
    assert not session.complete
    assert not session.wait_no_longer()
    feed(session, (INFO, FIRST + 9))
    assert chosen(session) == {"front": FIRST, INFO: FIRST + 9}


def test_a_missing_optional_calibration_is_waited_for_and_then_done_without():
    session = calibrated(optional=frozenset({INFO}))
    feed(session, ("front", FIRST))
    assert not session.complete
    feed(session, ("front", FIRST + 301 * MS))
    assert session.selection().absent == (INFO,)


def test_the_stamp_of_a_calibration_ends_no_wait():
    session = calibrated(signals=(INFO, "force"), optional=frozenset({"force"}))
    feed(session, ("front", FIRST), (INFO, LAST + 1))
    assert not session.complete


def test_stamps_of_a_calibration_that_go_back_are_no_jump_of_time():
    session = calibrated(signals=(INFO, "width"))
    feed(session, (INFO, LAST), ("front", FIRST), (INFO, 0), ("width", FIRST))
    assert chosen(session) == {"front": FIRST, INFO: 0, "width": FIRST}


def test_a_calibration_outlives_a_jump_of_time():
    session = calibrated(signals=(INFO, "width"))
    feed(session, (INFO, 5), ("front", LAST), ("front", FIRST), ("width", FIRST))
    assert chosen(session) == {"front": FIRST, INFO: 5, "width": FIRST}


# Samples that turn out to be no evidence


def reject(session, source):
    sample = chosen_sample(session, source)
    session.reject(sample, f"{source} at {sample.stamp_ns}")


def test_the_next_set_takes_the_place_of_one_with_a_rejected_frame():
    session = cameras_only(cameras=("front", "top"), optional=frozenset())
    feed(session, ("front", FIRST), ("top", FIRST))
    reject(session, "top")
    assert not session.complete
    feed(session, ("top", FIRST + 10 * MS))
    assert chosen(session) == {"front": FIRST, "top": FIRST + 10 * MS}


def test_frames_that_are_kept_already_take_the_place_of_a_rejected_one():
    session = CaptureSession(
        dataclasses.replace(RULE, cameras=("front",), signals=(), optional=frozenset())
    )
    feed(session, *(("front", FIRST + number) for number in range(4)))
    session.finish(ENDED)
    for number in range(3):
        assert chosen(session) == {"front": FIRST + number}
        reject(session, "front")
    assert chosen(session) == {"front": FIRST + 3}
    reject(session, "front")
    assert not session.complete
    count = session.counts["front"]
    assert (count.rejected, count.rejected_reason) == (4, f"front at {FIRST + 3}")
    assert session.lacking == ("front",)


def test_a_rejected_frame_that_has_left_the_queue_is_replaced_by_a_younger_one():
    session = finished(cameras=("front",), signals=("width",), optional=frozenset())
    feed(session, *(("front", FIRST + number) for number in range(20)), ("width", FIRST))
    assert chosen(session)["front"] == FIRST
    reject(session, "front")
    assert chosen(session)["front"] == FIRST + 20 - RULE.queue_size


def test_the_next_signal_takes_the_place_of_a_rejected_one():
    session = finished(cameras=(), signals=("width",), optional=frozenset())
    feed(session, ("width", FIRST))
    reject(session, "width")
    assert not session.complete
    feed(session, ("width", FIRST + 1))
    assert chosen(session) == {"width": FIRST + 1}


def test_without_a_rejected_optional_frame_the_set_waits_and_is_then_complete():
    session = cameras_only()
    feed(session, ("front", FIRST), ("top", FIRST), ("wrist", FIRST))
    reject(session, "wrist")
    assert not session.complete
    feed(session, ("front", FIRST + 301 * MS))
    assert chosen(session) == {"front": FIRST, "top": FIRST}
    assert session.selection().absent == ("wrist",)


def test_an_optional_source_is_waited_for_anew_when_the_set_was_rejected():
    session = cameras_only()
    feed(session, ("front", FIRST), ("top", FIRST), ("front", FIRST + 301 * MS))
    reject(session, "front")
    feed(session, ("top", FIRST + 302 * MS))
    assert not session.complete
    feed(session, ("wrist", FIRST + 303 * MS))
    assert chosen(session)["wrist"] == FIRST + 303 * MS


def test_time_that_is_up_stays_up_when_a_set_was_rejected():
    session = cameras_only()
    feed(session, ("front", FIRST), ("top", FIRST), ("front", FIRST + 20 * MS))
    session.wait_no_longer()
    reject(session, "front")
    assert chosen(session) == {"front": FIRST + 20 * MS, "top": FIRST}


def test_the_next_calibration_takes_the_place_of_a_rejected_one():
    session = calibrated()
    feed(session, ("front", FIRST), (INFO, 3))
    reject(session, INFO)
    assert not session.complete
    assert session.lacking == (INFO,)
    feed(session, (INFO, 4))
    assert chosen(session) == {"front": FIRST, INFO: 4}


def test_however_much_is_rejected_it_comes_to_an_end():
    ended = 0
    for seed, draw, rule in rules(200):
        session = CaptureSession(rule)
        stream, finish_at = list(a_stream(draw, rule.sources, 0.02)), draw.randint(0, 100)
        for position, sample in enumerate(stream):
            if position == finish_at:
                session.finish(ENDED)
            session.add(sample)
        if finish_at == 100:
            session.finish(ENDED)
        session.wait_no_longer()
        for _ in range(len(stream)):
            if not session.complete:
                ended += 1
                break
            selection = session.selection()
            victims = [
                item
                for item in (*selection.frames, *selection.signals)
                if item.source not in rule.optional
            ]
            session.reject(draw.choice(victims), "damaged")
        assert not session.complete, seed
    assert ended > 100


# Random streams: what is chosen is evidence, whatever arrives


def check_selection(rule, selection, given, rejected, last_jump):
    """What holds of every choice."""
    samples = (*selection.frames, *selection.signals)
    names = [sample.source for sample in samples]
    assert names == [name for name in rule.sources if name in names]
    assert selection.absent == tuple(name for name in rule.sources if name not in names)
    assert set(selection.absent) <= rule.optional
    for sample in samples:
        assert sample in given and sample not in rejected
        if sample.source in rule.standing:
            standing = [item for item in given if item.source == sample.source]
            assert sample is standing[-1]
            continue
        assert ENDED + rule.settle_ns <= sample.stamp_ns
        assert sample.stamp_ns <= ENDED + rule.settle_ns + rule.window_ns
        assert given.index(sample) >= last_jump
    stamps = [frame.stamp_ns for frame in selection.frames]
    assert not stamps or max(stamps) - min(stamps) < rule.slop_ns


def test_whatever_arrives_and_is_rejected_only_evidence_is_chosen():
    seen = {"complete": 0, "absent": 0, "standing": 0, "after a rejection": 0, "after a jump": 0}
    for seed, draw, rule in rules(800):
        session = CaptureSession(rule)
        given, rejected, latest, last_jump = [], [], {}, 0
        finish_at = draw.randint(0, 60)
        for position, sample in enumerate(a_stream(draw, rule.sources, 0.02)):
            if position == finish_at:
                session.finish(ENDED)
            while position >= finish_at and session.complete:
                selection = session.selection()
                check_selection(rule, selection, given, rejected, last_jump)
                if draw.random() < 0.5:
                    break
                rejected.append(draw.choice([*selection.frames, *selection.signals]))
                session.reject(rejected[-1], f"damaged, seed {seed}")
            if position >= finish_at and session.complete:
                seen["complete"] += 1
                seen["absent"] += bool(selection.absent)
                seen["standing"] += bool(rule.standing - set(selection.absent))
                seen["after a rejection"] += bool(rejected)
                seen["after a jump"] += last_jump > 0
                break
            standing = sample.source in rule.standing
            if not standing and sample.stamp_ns < latest.get(sample.source, 0) - JUMP_NS:
                last_jump = position
                latest = {}
            latest[sample.source] = sample.stamp_ns
            given.append(sample)
            session.add(sample)
            if position == draw.randint(finish_at, 100):
                session.wait_no_longer()
    assert all(count > 20 for count in seen.values()), seen


def test_the_order_in_which_sources_are_fed_to_a_small_example_is_of_no_matter():
    samples = [("front", FIRST), ("wrist", FIRST + 10 * MS), ("top", FIRST + 20 * MS)]
    for order in itertools.permutations(samples):
        session = cameras_only()
        feed(session, *order)
        assert chosen(session) == dict(samples)
