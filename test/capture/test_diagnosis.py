# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Why a run has no Observation, in the words that a person at the robot reads."""

import dataclasses
import itertools
import random

import pytest

from harness_ros.capture.counts import STAMPS_KEPT
from harness_ros.capture.diagnosis import ClockState, Transport, nearest_spread_ns, why_not
from harness_ros.capture.sample import Sample
from harness_ros.capture.session import CaptureRule, CaptureSession

MS = 1_000_000
S = 1000 * MS
RULE = CaptureRule(
    cameras=("front",),
    signals=(),
    settle_ns=200 * MS,
    slop_ns=50 * MS,
    window_ns=3 * S,
    queue_size=5,
)
ENDED = 1_700_000_000 * S
FIRST = ENDED + RULE.settle_ns
LAST = FIRST + RULE.window_ns
TWO = {"cameras": ("front", "top")}
INFO = "front.camera_info"
FRONT = Transport(
    topic="/robot/front",
    publishers=("/driver",),
    offered="reliable, volatile",
    asked="best effort, volatile",
    images=True,
)


def finished(**changes):
    session = CaptureSession(dataclasses.replace(RULE, **changes))
    session.finish(ENDED)
    return session


def feed(session, source, *stamps, late_ns=None, size=10):
    """Samples that arrive `late_ns` after their stamps; None: the time of arrival is not known."""
    for stamp_ns in stamps:
        received_ns = 0 if late_ns is None else stamp_ns + late_ns
        session.add(Sample(source, stamp_ns, b"x" * size, received_ns))


def why(session, transport=FRONT, clock=None):
    transports = {"front": transport} if isinstance(transport, Transport) else transport
    return why_not(session, transports, clock)


# Nothing came


def test_a_source_that_nobody_publishes_is_named_with_its_topic():
    assert why(finished(), Transport(topic="/robot/front")) == (
        "camera 'front' (/robot/front): no message while the tool ran and after; "
        "nobody publishes it: does its driver run, is its `topic` right?"
    )


def test_without_a_middleware_silence_is_all_that_is_known():
    assert why_not(finished()) == "camera 'front': no message while the tool ran and after"


def test_a_silent_publisher_is_named_with_the_quality_of_service():
    assert why(finished()) == (
        "camera 'front' (/robot/front): no message while the tool ran and after, although /driver "
        "publishes it (QoS fits: offered reliable, volatile, asked best effort, volatile)"
    )


def test_several_silent_publishers_are_all_named():
    two = dataclasses.replace(FRONT, publishers=("/left", "/right"))
    assert "although /left, /right publish it (QoS fits" in why(finished(), two)


@pytest.mark.parametrize("images", [True, False])
@pytest.mark.parametrize("shared_memory", [True, False])
def test_the_limit_of_shared_memory_is_told_of_images_where_there_is_one(images, shared_memory):
    transport = dataclasses.replace(FRONT, images=images, shared_memory=shared_memory)
    hint = (
        "; images above 512 KiB are lost unless their publisher was started with a larger "
        "shared-memory segment: set FASTRTPS_DEFAULT_PROFILES_FILE to config/fastdds_shm.xml for it"
    )
    assert why(finished(), transport).endswith(hint) is (images and shared_memory)
    assert ("512" in why(finished(), transport)) is (images and shared_memory)


def test_quality_of_service_that_does_not_fit_is_told_with_what_to_set():
    transport = dataclasses.replace(
        FRONT,
        offered="best effort, volatile",
        asked="reliable, volatile",
        mismatch="Best effort publisher and reliable subscription",
        shared_memory=True,
    )
    assert why(finished(), transport) == (
        "camera 'front' (/robot/front): no message while the tool ran and after, although /driver "
        "publishes it: QoS does not fit (Best effort publisher and reliable subscription): offered "
        "is best effort, volatile, asked was reliable, volatile; set `qos` of it in eval.yaml"
    )


@pytest.mark.parametrize(("number", "words"), [(1, "1 message"), (3, "3 messages")])
def test_messages_without_a_readable_stamp_are_counted(number, words):
    session = finished()
    session.counts["front"].malformed = number
    assert why(session) == (
        f"camera 'front' (/robot/front): {words}, none with a readable stamp: "
        "is its `type` in eval.yaml that of the topic?"
    )


def test_messages_that_were_all_lost_are_told():
    lost = dataclasses.replace(FRONT, lost=12)
    assert why(finished(), lost).endswith("; 12 messages lost on the way")


# Stamps


def test_zero_stamps_are_told_with_what_helps():
    session = finished()
    feed(session, "front", 0, 0)
    assert why(session) == (
        "camera 'front' (/robot/front): 2 messages, the last with a zero stamp: the publisher does "
        "not stamp its messages (`stamp: receive` in eval.yaml takes the time of reception)"
    )


def test_stamps_that_do_not_advance_are_told():
    session = finished()
    feed(session, "front", *[FIRST - 1500 * MS] * 3)
    assert why(session) == (
        "camera 'front' (/robot/front): 3 messages, the last stamped 1.500 s before the evidence "
        "may begin; its stamps do not advance"
    )


def test_one_old_message_is_no_stamp_that_does_not_advance():
    session = finished()
    feed(session, "front", FIRST - 1500 * MS)
    assert why(session) == (
        "camera 'front' (/robot/front): 1 message, the last stamped 1.500 s before the evidence "
        "may begin; it stopped, or its clock is not the tool's"
    )


def test_stamps_after_the_window_are_told():
    session = finished()
    feed(session, "front", LAST + 2 * S)
    assert why(session) == (
        "camera 'front' (/robot/front): 1 message, none stamped within the 3 s of evidence, the "
        "last 5.000 s after it began; its clock is not the tool's"
    )


OFFSETS = {
    "uptime": (
        (1234 * S,),
        ENDED,
        "its stamps are in another time base, -1699998766.000 s from their reception: "
        "is use_sim_time the same for it?",
    ),
    "an hour ahead": (
        (ENDED + 3600 * S,),
        ENDED,
        "its stamps are in another time base, +3600.000 s from their reception: "
        "is use_sim_time the same for it?",
    ),
    "ahead": (
        (ENDED + 9 * S, ENDED + 10 * S),
        ENDED,
        "2 of its stamps lie in the future, the last by 10.000 s",
    ),
    "a little ahead": ((LAST + 1,), LAST + 1 - 400 * MS, "its clock is not the tool's"),
    "behind": (
        (FIRST - 4 * S,),
        ENDED,
        "it comes 3.800 s after its stamps: its clock or its driver is behind",
    ),
    "a little behind": (
        (FIRST - 900 * MS,),
        FIRST - 100 * MS,
        "it stopped, or its clock is not the tool's",
    ),
}


@pytest.mark.parametrize(("stamps", "received_ns", "words"), OFFSETS.values(), ids=list(OFFSETS))
def test_a_clock_that_is_another_is_told_with_its_offset(stamps, received_ns, words):
    session = finished()
    for stamp_ns in stamps:
        session.add(Sample("front", stamp_ns, b"", received_ns))
    assert why(session).endswith(f"; {words}")


def test_a_stamp_of_long_ago_from_the_future_is_not_spoken_of():
    session = finished()
    feed(session, "front", FIRST - 500 * MS, late_ns=-2 * S)
    feed(session, "front", FIRST - 450 * MS, late_ns=0)
    assert session.counts["front"].future == 1
    assert why(session).endswith("; it stopped, or its clock is not the tool's")


# Clock


def test_simulated_time_without_a_clock_comes_first():
    why_simulated = why(finished(), clock=ClockState(simulated=True, started=False))
    assert why_simulated.startswith(
        "use_sim_time is true and no /clock has come: start what publishes it, or set use_sim_time "
        "to false; camera 'front' (/robot/front): no message"
    )


@pytest.mark.parametrize(
    "clock", [None, ClockState(), ClockState(simulated=True), ClockState(started=False)]
)
def test_a_clock_that_runs_is_not_spoken_of(clock):
    assert why(finished(), clock=clock).startswith("camera 'front'")


@pytest.mark.parametrize(("jumped_s", "words"), [(-12.5, "-12.500"), (0.75, "+0.750")])
def test_a_clock_that_jumped_is_told_with_how_far(jumped_s, words):
    assert why(finished(), clock=ClockState(jumped_s=jumped_s)).startswith(
        f"the clock jumped by {words} s while the run was open; camera 'front'"
    )


# Losses and rates


def rated(session, transport, stamps, late_ns=0, size=10):
    feed(session, "front", *stamps, late_ns=late_ns, size=size)
    return why(session, transport)


AT_2_HZ = tuple(FIRST - 3 * S + number * S // 2 for number in range(4))


def test_losses_are_told():
    words = rated(finished(), dataclasses.replace(FRONT, lost=1), AT_2_HZ)
    assert words.endswith("not the tool's; 1 message lost on the way")


def test_a_rate_below_what_is_expected_is_told():
    words = rated(finished(), dataclasses.replace(FRONT, expected_rate_hz=30.0), AT_2_HZ)
    assert words.endswith("; 2.0 Hz came, 30 Hz are expected")


def test_a_rate_of_half_of_what_is_expected_is_not_spoken_of():
    assert "expected" not in rated(
        finished(), dataclasses.replace(FRONT, expected_rate_hz=4), AT_2_HZ
    )


def test_a_low_rate_of_large_messages_is_told_with_what_their_publisher_needs():
    transport = dataclasses.replace(FRONT, expected_rate_hz=30.0, shared_memory=True)
    large, small = 524_289, 524_288
    hint = f": at {large} bytes a message its publisher needs config/fastdds_shm.xml"
    assert rated(finished(), transport, AT_2_HZ, size=large).endswith(f"Hz are expected{hint}")
    assert rated(finished(), transport, AT_2_HZ, size=small).endswith("Hz are expected")
    elsewhere = dataclasses.replace(transport, shared_memory=False)
    assert rated(finished(), elsewhere, AT_2_HZ, size=large).endswith("Hz are expected")


def test_a_low_rate_is_told_of_cameras_whose_frames_do_not_fit():
    session = finished(**TWO)
    feed(session, "front", FIRST, FIRST + S, late_ns=0)
    feed(session, "top", FIRST + 500 * MS, late_ns=0)
    transport = dataclasses.replace(FRONT, expected_rate_hz=30.0, lost=4)
    assert why(session, transport) == (
        "frames of ['front', 'top'] never came within slop (0.05 s) of each other; the nearest "
        "were 0.500 s apart; camera 'front' (/robot/front): 4 messages lost on the way; "
        "1.0 Hz came, 30 Hz are expected"
    )


# Samples that were no evidence


def rejected(number):
    session = finished()
    for position in range(number):
        sample = Sample("front", FIRST + position, b"")
        session.add(sample)
        session.reject(sample, f"/robot/front: encoding 'rgb9' is unknown, frame {position}")
    return session


@pytest.mark.parametrize(
    ("number", "words"),
    [(1, "1 message is no evidence: "), (3, "3 messages are no evidence, the last one: ")],
)
def test_frames_that_are_no_evidence_are_told_with_the_last_reason(number, words):
    assert why(rejected(number)) == (
        f"camera 'front' (/robot/front): {words}encoding 'rgb9' is unknown, frame {number - 1}"
    )


def test_what_names_the_source_already_does_not_name_it_twice():
    session = finished(cameras=(), signals=("width",))
    sample = Sample("width", FIRST, b"")
    session.add(sample)
    session.reject(sample, "signal 'width' (joints): no 'finger' in this message")
    assert why(session, {"width": Transport(topic="/robot/joints")}) == (
        "signal 'width' (/robot/joints): 1 message is no evidence: no 'finger' in this message"
    )


def test_frames_that_are_no_evidence_are_told_also_where_others_do_not_fit():
    session = finished(**TWO)
    bad = Sample("front", FIRST, b"")
    session.add(bad)
    feed(session, "top", FIRST)
    session.reject(bad, "too short")
    feed(session, "front", FIRST + 80 * MS)
    assert why_not(session) == (
        "frames of ['front', 'top'] never came within slop (0.05 s) of each other; the nearest "
        "were 0.080 s apart; camera 'front': 1 message is no evidence: too short"
    )


# Frames that do not fit


def test_the_nearest_frames_of_three_cameras_are_told():
    session = finished(cameras=("front", "top", "wrist"))
    feed(session, "front", FIRST, FIRST + 300 * MS)
    feed(session, "top", FIRST + 100 * MS, FIRST + 400 * MS)
    feed(session, "wrist", FIRST + 250 * MS, FIRST + 475 * MS)
    assert why_not(session) == (
        "frames of ['front', 'top', 'wrist'] never came within slop (0.05 s) of each other; "
        "the nearest were 0.150 s apart"
    )


@pytest.mark.parametrize("apart_ns", [0, RULE.slop_ns - 1])
def test_frames_that_fit_and_came_too_far_apart_are_told_with_what_to_raise(apart_ns):
    session = finished(**TWO, queue_size=2)
    feed(session, "front", *(FIRST + number * 200 * MS for number in range(10)))
    feed(session, "top", FIRST + apart_ns)
    assert why_not(session) == (
        "frames of ['front', 'top'] within slop (0.05 s) of each other came, but never among the "
        "last 2 of each: one camera comes late, raise capture.queue_size"
    )


@pytest.mark.parametrize("cameras", [1, 2, 3, 4])
def test_the_nearest_spread_is_that_of_brute_force(cameras):
    draw = random.Random(cameras)
    for _ in range(200):
        stamps = [[draw.randint(0, 200) for _ in range(draw.randint(1, 6))] for _ in range(cameras)]
        spreads = [max(chosen) - min(chosen) for chosen in itertools.product(*stamps)]
        assert nearest_spread_ns(stamps) == min(spreads), stamps


@pytest.mark.parametrize("stamps", [[], [[]], [[1, 2], []]])
def test_without_a_frame_of_each_camera_there_is_no_spread(stamps):
    assert nearest_spread_ns(stamps) is None


def test_the_spread_is_that_of_the_last_frames():
    session = finished(**TWO, queue_size=1)
    feed(session, "front", FIRST, *(FIRST + (200 + n) * MS for n in range(STAMPS_KEPT)))
    feed(session, "top", FIRST + 10 * MS)
    assert why_not(session) == (
        "frames of ['front', 'top'] never came within slop (0.05 s) of each other; "
        "the nearest were 0.190 s apart"
    )


# Which sources are named


def test_each_source_that_lacks_is_named_by_its_kind():
    session = finished(
        signals=("width", "clearance.front", INFO), standing=frozenset({INFO}), **TWO
    )
    topics = {name: Transport(topic=f"/{name}") for name in session.rule.sources}
    words = why_not(session, topics)
    assert [part.split(":")[0] for part in words.split("; ")[::2]] == [
        "camera 'front' (/front)",
        "camera 'top' (/top)",
        "signal 'width' (/width)",
        "signal 'clearance.front' (/clearance.front)",
        "calibration 'front.camera_info' (/front.camera_info)",
    ]


def test_optional_sources_are_not_named():
    session = finished(signals=("width", "force"), optional=frozenset({"top", "force"}), **TWO)
    feed(session, "width", FIRST)
    assert why_not(session) == "camera 'front': no message while the tool ran and after"


def test_a_calibration_that_is_there_is_not_named_whatever_its_stamps():
    session = finished(signals=(INFO,), standing=frozenset({INFO}))
    feed(session, INFO, 900 * S, 5 * S, 5 * S)
    assert why_not(session) == "camera 'front': no message while the tool ran and after"


def test_a_calibration_that_was_rejected_is_named_with_the_reason():
    session = finished(signals=(INFO,), standing=frozenset({INFO}))
    sample = Sample(INFO, 5, b"")
    session.add(sample)
    feed(session, "front", FIRST)
    session.reject(sample, "for an image of 0x0 pixels")
    assert why_not(session) == (
        "calibration 'front.camera_info': 1 message is no evidence: for an image of 0x0 pixels"
    )


@pytest.mark.parametrize(("jumps", "words"), [(1, "once"), (3, "3 times")])
def test_stamps_that_went_back_are_told_after_what_lacks(jumps, words):
    session = finished(**TWO)
    feed(session, "top", *(FIRST - number * S for number in range(jumps + 1)))
    assert why_not(session).endswith(
        f"; stamps of 'top' went back {words}: what came before was dropped"
    )


def test_messages_of_a_time_that_is_gone_are_told():
    session = finished(**TWO)
    feed(session, "front", FIRST)
    feed(session, "top", FIRST + 2 * S, FIRST + 1 * S)
    assert why_not(session) == (
        "camera 'front': 1 message, none of them after time went back; "
        "stamps of 'top' went back once: what came before was dropped"
    )
