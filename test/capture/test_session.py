# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import dataclasses
import itertools
import random

import pytest

from harness_ros.capture.counts import JUMP_NS
from harness_ros.capture.diagnosis import why_not
from harness_ros.capture.sample import Sample
from harness_ros.capture.session import CaptureRule, CaptureSession

MS = 1_000_000
RULE = CaptureRule(
    cameras=("front", "top"),
    signals=("width",),
    settle_ns=200 * MS,
    slop_ns=50 * MS,
    window_ns=3000 * MS,
    queue_size=5,
)
ENDED = 10_000 * MS
FIRST = ENDED + RULE.settle_ns
LAST = FIRST + RULE.window_ns


def a_session(**changes):
    return CaptureSession(dataclasses.replace(RULE, **changes))


def cameras_only(**changes):
    return a_session(signals=(), **changes)


def feed(session, *samples):
    for source, stamp_ns in samples:
        session.add(Sample(source, stamp_ns, b"%s %d" % (source.encode(), stamp_ns)))


def chosen(session):
    selection = session.selection()
    return [(sample.source, sample.stamp_ns) for sample in (*selection.frames, *selection.signals)]


def test_a_set_of_frames_and_a_signal_after_the_end_are_the_evidence():
    session = a_session()
    session.finish(ENDED)
    feed(session, ("width", FIRST), ("top", FIRST + 20 * MS), ("front", FIRST + 10 * MS))
    assert session.complete
    assert chosen(session) == [
        ("front", FIRST + 10 * MS),
        ("top", FIRST + 20 * MS),
        ("width", FIRST),
    ]


def test_frames_kept_before_the_finish_event_are_used():
    session = a_session()
    feed(session, ("front", FIRST + MS), ("top", FIRST + 2 * MS), ("width", FIRST + 3 * MS))
    assert not session.complete
    session.finish(ENDED)
    assert chosen(session) == [
        ("front", FIRST + MS),
        ("top", FIRST + 2 * MS),
        ("width", FIRST + 3 * MS),
    ]


def test_kept_and_later_frames_form_one_set():
    session = cameras_only()
    feed(session, ("front", FIRST))
    session.finish(ENDED)
    assert not session.complete
    feed(session, ("top", FIRST))
    assert chosen(session) == [("front", FIRST), ("top", FIRST)]


@pytest.mark.parametrize("before_finish", [True, False])
def test_a_frame_stamped_before_the_end_and_settle_is_not_evidence(before_finish):
    session = cameras_only()
    if not before_finish:
        session.finish(ENDED)
    feed(session, ("front", FIRST - 1), ("top", FIRST - 1))
    if before_finish:
        session.finish(ENDED)
    assert not session.complete
    feed(session, ("front", FIRST), ("top", FIRST))
    assert chosen(session) == [("front", FIRST), ("top", FIRST)]


def test_a_young_frame_is_never_paired_with_one_from_before_the_settle_time():
    session = cameras_only()
    session.finish(ENDED)
    feed(session, ("front", FIRST - 1), ("top", FIRST))
    assert not session.complete


@pytest.mark.parametrize(("stamp_ns", "complete"), [(LAST, True), (LAST + 1, False)])
def test_the_window_ends_with_its_last_nanosecond(stamp_ns, complete):
    session = cameras_only(cameras=("front",))
    session.finish(ENDED)
    feed(session, ("front", stamp_ns))
    assert session.complete is complete


def test_frames_that_come_after_the_set_change_nothing():
    session = cameras_only()
    session.finish(ENDED)
    feed(session, *itertools.product(("front", "top"), (FIRST, FIRST + 100 * MS)))
    feed(session, *itertools.product(("front", "top"), (FIRST + 200 * MS,)))
    assert chosen(session) == [("front", FIRST), ("top", FIRST)]


def test_the_first_sample_of_a_signal_inside_the_window_is_used():
    session = a_session(cameras=())
    feed(session, ("width", FIRST - 1))
    session.finish(ENDED)
    assert not session.complete
    feed(session, ("width", FIRST + 7), ("width", FIRST + 8))
    assert chosen(session) == [("width", FIRST + 7)]


def test_without_cameras_the_signals_alone_are_the_evidence():
    session = a_session(cameras=(), signals=("width", "force"))
    session.finish(ENDED)
    feed(session, ("force", FIRST))
    assert not session.complete
    feed(session, ("width", FIRST + 5 * MS))
    selection = session.selection()
    assert selection.frames == ()
    assert [sample.source for sample in selection.signals] == ["width", "force"]


def test_evidence_that_is_not_complete_cannot_be_selected():
    session = a_session()
    session.finish(ENDED)
    feed(session, ("front", FIRST), ("top", FIRST))
    with pytest.raises(ValueError, match="not complete"):
        session.selection()


def test_before_the_end_there_is_no_window():
    with pytest.raises(ValueError, match="not finished"):
        _ = a_session().window_ns


# Memory


def test_no_more_samples_of_a_source_are_kept_than_the_queue_holds():
    # One frame of the slow camera is kept, however many the fast one sends.
    session = cameras_only(queue_size=3)
    feed(session, ("top", FIRST))
    feed(session, *(("front", FIRST + number) for number in range(1000)))
    assert {source: len(kept) for source, kept in session._kept.items()} == {"front": 3, "top": 1}
    session.finish(ENDED)
    assert chosen(session) == [("front", FIRST + 997), ("top", FIRST)]


def test_no_more_than_the_queue_is_kept_after_the_end():
    session = a_session()
    feed(session, ("front", FIRST))
    session.finish(ENDED)
    feed(session, *(("front", FIRST + number) for number in range(100)))
    assert len(session._kept["front"]) == RULE.queue_size


def test_sources_are_counted_apart():
    session = a_session()
    feed(session, ("front", 1), ("front", 2), ("top", 1))
    received = {source: count.received for source, count in session.counts.items()}
    assert received == {"front": 2, "top": 1, "width": 0}


# Jumps back in time


def test_frames_kept_before_a_jump_back_are_no_evidence():
    session = cameras_only()
    feed(session, ("front", FIRST), ("top", FIRST), ("front", 100 * MS))
    session.finish(ENDED)
    assert not session.complete


def test_frames_queued_for_matching_before_a_jump_back_are_no_evidence():
    session = cameras_only()
    session.finish(ENDED)
    feed(session, ("front", FIRST + 200 * MS), ("front", FIRST + 10 * MS), ("top", FIRST + 20 * MS))
    assert chosen(session) == [("front", FIRST + 10 * MS), ("top", FIRST + 20 * MS)]


def test_a_set_found_before_a_jump_back_is_no_evidence_while_a_signal_is_missing():
    session = a_session()
    session.finish(ENDED)
    late = FIRST + 500 * MS
    feed(session, ("front", late), ("top", late), ("front", FIRST), ("width", FIRST + 9))
    assert not session.complete
    feed(session, ("top", FIRST + 10))
    assert chosen(session) == [("front", FIRST), ("top", FIRST + 10), ("width", FIRST + 9)]


def test_a_signal_from_before_a_jump_back_is_no_evidence():
    session = a_session(cameras=(), signals=("width", "force"))
    session.finish(ENDED)
    feed(session, ("width", FIRST + 9), ("force", FIRST - 1), ("force", FIRST - 500 * MS))
    feed(session, ("force", FIRST))
    assert not session.complete
    feed(session, ("width", FIRST + 10))
    assert chosen(session) == [("width", FIRST + 10), ("force", FIRST)]


def test_complete_evidence_outlives_a_jump_back():
    session = cameras_only()
    session.finish(ENDED)
    feed(session, ("front", FIRST), ("top", FIRST), ("front", 5))
    assert chosen(session) == [("front", FIRST), ("top", FIRST)]


def test_a_whole_run_after_a_jump_back_is_judged_by_its_own_frames():
    session = cameras_only()
    feed(session, *itertools.product(("front", "top"), range(90_000 * MS, 90_300 * MS, 100 * MS)))
    feed(session, *((c, t) for t in range(MS, 200 * MS, 40 * MS) for c in ("front", "top")))
    session.finish(100 * MS - RULE.settle_ns)
    assert chosen(session) == [("front", 121 * MS), ("top", 121 * MS)]


def test_the_disorder_of_two_publishers_is_no_jump_back():
    session = cameras_only()
    session.finish(ENDED)
    feed(session, ("front", FIRST + 30 * MS), ("top", FIRST), ("top", FIRST + 100 * MS))
    feed(session, ("top", FIRST + 100 * MS - JUMP_NS))
    assert chosen(session) == [("front", FIRST + 30 * MS), ("top", FIRST)]
    assert session.counts["top"].jumps == 0


def test_a_repeated_stamp_is_no_jump_back():
    session = cameras_only()
    session.finish(ENDED)
    feed(session, ("front", FIRST), ("front", FIRST), ("top", FIRST))
    assert session.complete
    assert session.counts["front"].jumps == 0


# Random streams: what is chosen is evidence, whatever arrives


def a_random_stream(draw, sources):
    clocks = dict.fromkeys(sources, ENDED - 300 * MS)
    for _ in range(120):
        source = draw.choice(sources)
        clocks[source] += draw.randint(0, 40) * MS
        if draw.random() < 0.02:
            clocks[source] -= draw.randint(1, 400) * MS
        yield source, clocks[source] + draw.randint(-1, 1)


def test_whatever_arrives_only_evidence_is_chosen():
    complete = 0
    for seed in range(400):
        draw = random.Random(seed)
        rule = CaptureRule(
            cameras=("front", "top", "wrist")[: draw.randint(0, 3)],
            signals=("width", "force")[: draw.randint(0, 2)],
            settle_ns=draw.choice([0, 100, 200]) * MS,
            slop_ns=draw.choice([1, 20, 50]) * MS,
            window_ns=draw.choice([100, 400]) * MS,
            queue_size=draw.randint(1, 6),
        )
        sources = [*rule.cameras, *rule.signals]
        if not sources:
            continue
        session = CaptureSession(rule)
        given, latest, last_jump = [], {}, 0
        finish_at = draw.randint(0, 100)
        for position, (source, stamp_ns) in enumerate(a_random_stream(draw, sources)):
            if position == finish_at:
                session.finish(ENDED)
            if session.complete:
                break
            if stamp_ns < latest.get(source, stamp_ns) - JUMP_NS:
                last_jump = position
            latest[source] = stamp_ns
            given.append(Sample(source, stamp_ns, position.to_bytes(2, "big")))
            session.add(given[-1])
        if not session.complete:
            continue
        complete += 1
        frames, signals = session.selection().frames, session.selection().signals
        first, last = ENDED + rule.settle_ns, ENDED + rule.settle_ns + rule.window_ns
        assert [sample.source for sample in frames] == list(rule.cameras), seed
        assert [sample.source for sample in signals] == list(rule.signals), seed
        for sample in (*frames, *signals):
            assert sample in given, seed
            assert first <= sample.stamp_ns <= last, seed
            assert int.from_bytes(sample.data, "big") >= last_jump, seed
        if frames:
            stamps = [sample.stamp_ns for sample in frames]
            assert max(stamps) - min(stamps) < rule.slop_ns, seed
    assert complete > 100


# Why there is no Observation


def why(session, ended=ENDED):
    session.finish(ended)
    return why_not(session)


def test_a_camera_without_a_message_is_named():
    session = cameras_only()
    feed(session, ("top", FIRST))
    assert why(session) == "camera 'front': no message while the tool ran and after"


def test_every_source_without_a_message_is_named():
    assert why(a_session()).split("; ") == [
        "camera 'front': no message while the tool ran and after",
        "camera 'top': no message while the tool ran and after",
        "signal 'width': no message while the tool ran and after",
    ]


def test_zero_stamps_are_named():
    session = cameras_only()
    feed(session, ("top", FIRST), ("front", 0), ("front", 0), ("front", 0))
    assert why(session).startswith("camera 'front': 3 messages, the last with a zero stamp")


def test_a_camera_that_is_behind_is_named_with_its_lag():
    session = cameras_only()
    feed(session, ("top", FIRST), ("front", FIRST - 900 * MS), ("front", FIRST - 250 * MS))
    assert why(session) == (
        "camera 'front': 2 messages, the last stamped 0.250 s before the evidence may begin; "
        "it stopped, or its clock is not the tool's"
    )


def test_stamps_that_do_not_advance_are_named():
    session = cameras_only()
    feed(session, ("top", FIRST), *[("front", FIRST - 1000 * MS)] * 4)
    assert why(session) == (
        "camera 'front': 4 messages, the last stamped 1.000 s before the evidence may begin; "
        "its stamps do not advance"
    )


def test_stamps_of_another_clock_are_named():
    session = cameras_only()
    feed(session, ("top", FIRST), ("front", LAST + 7000 * MS))
    assert why(session) == (
        "camera 'front': 1 message, none stamped within the 3 s of evidence, "
        "the last 10.000 s after it began; its clock is not the tool's"
    )


def test_a_slop_that_is_never_met_is_named():
    session = cameras_only()
    feed(session, ("top", FIRST), ("front", FIRST + 80 * MS))
    assert why(session) == (
        "frames of ['front', 'top'] never came within slop (0.05 s) of each other; "
        "the nearest were 0.080 s apart"
    )


def test_a_signal_that_is_there_is_not_named():
    session = a_session()
    feed(session, ("top", FIRST), ("width", FIRST))
    assert why(session) == "camera 'front': no message while the tool ran and after"


def test_a_signal_that_is_missing_is_named_when_the_frames_are_there():
    session = a_session()
    feed(session, ("front", FIRST), ("top", FIRST), ("width", FIRST - 1000 * MS))
    assert why(session).startswith("signal 'width': 1 message, the last stamped 1.000 s before")


def test_stamps_that_went_back_are_named_with_what_that_cost():
    session = a_session(cameras=(), signals=("width", "force"))
    session.finish(ENDED)
    feed(session, ("width", FIRST + 9), ("force", FIRST + 9), ("force", FIRST - 500 * MS))
    assert session.complete
    session = a_session(cameras=(), signals=("width", "force"))
    session.finish(ENDED)
    feed(session, ("width", FIRST + 9), ("force", FIRST - 1), ("force", FIRST - 500 * MS))
    assert why_not(session).split("; ") == [
        "signal 'width': 1 message, none of them after time went back",
        "signal 'force': 2 messages, the last stamped 0.500 s before the evidence may begin",
        "it stopped, or its clock is not the tool's",
        "stamps of 'force' went back once: what came before was dropped",
    ]
