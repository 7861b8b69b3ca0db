# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Why there is no Observation, in words that a person at the robot can act on."""

from __future__ import annotations

import heapq
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness_ros.capture.counts import FUTURE_NS, SourceCount
from harness_ros.capture.sample import NANOSECONDS
from harness_ros.capture.session import CaptureSession

OTHER_TIME_BASE_NS = 60 * NANOSECONDS
"""Stamps further than this from their reception come from another clock, not from a slow one."""
SEGMENT_BYTES = 512 * 1024
"""Default shared-memory segment of Fast DDS; larger messages are dropped without a word."""

NOT_THE_TOOLS_CLOCK = "its clock is not the tool's"
NOT_THE_TOOLS_CLOCK_OR_STOPPED = f"it stopped, or {NOT_THE_TOOLS_CLOCK}"


@dataclass(frozen=True)
class Transport:
    """What the middleware knows of one source; all empty where there is none (bags)."""

    topic: str = ""
    publishers: tuple[str, ...] = ()
    offered: str = ""
    """QoS of the publishers in words."""
    asked: str = ""
    """QoS of the subscription in words."""
    mismatch: str = ""
    """What of the two does not fit; empty when all does."""
    lost: int = 0
    """Messages that the middleware says it lost."""
    shared_memory: bool = False
    """Large messages travel through a shared-memory segment of limited size."""
    expected_rate_hz: float | None = None
    images: bool = False


@dataclass(frozen=True)
class ClockState:
    """What is known of the evaluator's own clock."""

    simulated: bool = False
    started: bool = True
    """Whether any time has come: without /clock simulated time stays 0."""
    jumped_s: float = 0.0
    """How far the clock jumped while the run was open, beside the time that passed."""


def why_not(
    session: CaptureSession,
    transports: Mapping[str, Transport] | None = None,
    clock: ClockState | None = None,
) -> str:
    """Why a finished run has no Observation: the clock first, then each source that lacks.

    Args:
        session: of the run, finished and not complete.
        transports: by source, where there is a middleware.
        clock: the evaluator's, where there is one.
    """
    lines = [*_of_clock(clock or ClockState())]
    known = transports or {}
    lacking = list(_of_lacking(session, known))
    lines += lacking or [_of_spread(session), *_of_matched(session, known)]
    lines += [
        f"stamps of '{source}' went back {_times(count.jumps)}: what came before was dropped"
        for source, count in session.counts.items()
        if count.jumps and source not in session.rule.standing
    ]
    return "; ".join(lines)


def _of_clock(clock: ClockState) -> Iterator[str]:
    if clock.simulated and not clock.started:
        yield (
            "use_sim_time is true and no /clock has come: start what publishes it, "
            "or set use_sim_time to false"
        )
    if clock.jumped_s:
        yield f"the clock jumped by {clock.jumped_s:+.3f} s while the run was open"


def _of_lacking(session: CaptureSession, transports: Mapping[str, Transport]) -> Iterator[str]:
    first, last = session.window_ns
    for source in session.lacking:
        count, transport = session.counts[source], transports.get(source, Transport())
        if count.rejected:
            text = _no_evidence(count, source, transport)
        elif count.received == 0:
            text = _silent(count, transport)
        else:
            text = _unusable(count, first, last)
        yield "; ".join([f"{_named(session, source, transport)}: {text}", *_slow(count, transport)])


def _of_matched(session: CaptureSession, transports: Mapping[str, Transport]) -> Iterator[str]:
    """Remarks on cameras that have frames, of which none fit."""
    for camera in session.rule.matched:
        count, transport = session.counts[camera], transports.get(camera, Transport())
        remarks = list(_slow(count, transport))
        if count.rejected:
            remarks.insert(0, _no_evidence(count, camera, transport))
        if remarks:
            yield f"{_named(session, camera, transport)}: {'; '.join(remarks)}"


def _named(session: CaptureSession, source: str, transport: Transport) -> str:
    kind = "signal"
    if source in session.rule.cameras:
        kind = "camera"
    elif source in session.rule.standing:
        kind = "calibration"
    return f"{kind} '{source}'" + (f" ({transport.topic})" if transport.topic else "")


def _messages(number: int) -> str:
    return "1 message" if number == 1 else f"{number} messages"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _no_evidence(count: SourceCount, source: str, transport: Transport) -> str:
    # What decodes says the source and its topic first, which are named already.
    named = rf"[a-z ]+ '{re.escape(source)}' \(\S*\): |{re.escape(transport.topic)}: "
    reason = re.sub(f"^({named})", "", count.rejected_reason)
    if count.rejected == 1:
        return f"1 message is no evidence: {reason}"
    return f"{count.rejected} messages are no evidence, the last one: {reason}"


def _silent(count: SourceCount, transport: Transport) -> str:
    text = "no message while the tool ran and after"
    if count.malformed:
        readable = f"{_messages(count.malformed)}, none with a readable stamp"
        return f"{readable}: is its `type` in eval.yaml that of the topic?"
    if not transport.topic:
        return text
    if not transport.publishers:
        return f"{text}; nobody publishes it: does its driver run, is its `topic` right?"
    publish = "publishes" if len(transport.publishers) == 1 else "publish"
    who = f"{text}, although {', '.join(transport.publishers)} {publish} it"
    if transport.mismatch:
        return (
            f"{who}: QoS does not fit ({transport.mismatch}): offered is {transport.offered}, "
            f"asked was {transport.asked}; set `qos` of it in eval.yaml"
        )
    who = f"{who} (QoS fits: offered {transport.offered}, asked {transport.asked})"
    if transport.images and transport.shared_memory:
        who += (
            f"; images above {SEGMENT_BYTES // 1024} KiB are lost unless their publisher was "
            "started with a larger shared-memory segment: set FASTRTPS_DEFAULT_PROFILES_FILE to "
            "config/fastdds_shm.xml for it"
        )
    return who


def _slow(count: SourceCount, transport: Transport) -> Iterator[str]:
    """Remarks on losses and on a rate below what is expected, with what may be the reason."""
    rate, wanted = count.rate_hz, transport.expected_rate_hz
    if transport.lost:
        yield f"{_messages(transport.lost)} lost on the way"
    if rate is not None and wanted is not None and rate < wanted / 2:
        text = f"{rate:.1f} Hz came, {wanted:g} Hz are expected"
        if transport.shared_memory and count.last_bytes > SEGMENT_BYTES:
            text += (
                f": at {count.last_bytes} bytes a message its publisher needs "
                "config/fastdds_shm.xml"
            )
        yield text


def _unusable(count: SourceCount, first: int, last: int) -> str:
    """Words for a source whose messages all lie outside of the window of evidence."""
    seen = _messages(count.received)
    if count.last_ns == 0:
        return (
            f"{seen}, the last with a zero stamp: the publisher does not stamp its messages "
            "(`stamp: receive` in eval.yaml takes the time of reception)"
        )
    if first <= count.last_ns <= last:
        return f"{seen}, none of them after time went back"
    other = _other_clock(count)
    after = (count.last_ns - first) / NANOSECONDS
    if count.last_ns < first:
        text = f"{seen}, the last stamped {-after:.3f} s before the evidence may begin"
        if count.received > 1 and count.first_ns == count.last_ns:
            return f"{text}; its stamps do not advance"
        return f"{text}; {other or NOT_THE_TOOLS_CLOCK_OR_STOPPED}"
    span = (last - first) / NANOSECONDS
    return (
        f"{seen}, none stamped within the {span:g} s of evidence, the last {after:.3f} s after "
        f"it began; {other or NOT_THE_TOOLS_CLOCK}"
    )


def _other_clock(count: SourceCount) -> str:
    """Words on stamps that lie far from their reception; empty where they do not, or unknown."""
    offset = count.offset_ns
    if offset is None:
        return ""
    seconds = offset / NANOSECONDS
    if abs(offset) > OTHER_TIME_BASE_NS:
        return (
            f"its stamps are in another time base, {seconds:+.3f} s from their reception: "
            "is use_sim_time the same for it?"
        )
    if offset > FUTURE_NS:
        return f"{count.future} of its stamps lie in the future, the last by {seconds:.3f} s"
    if offset < -NANOSECONDS:
        return f"it comes {-seconds:.3f} s after its stamps: its clock or its driver is behind"
    return ""


def _of_spread(session: CaptureSession) -> str:
    cameras, rule = session.rule.matched, session.rule
    slop = rule.slop_ns / NANOSECONDS
    text = f"frames of {list(cameras)} never came within slop ({slop:g} s) of each other"
    nearest = nearest_spread_ns([session.counts[camera].stamps for camera in cameras])
    if nearest is None:
        return text
    if nearest < rule.slop_ns:
        return (
            f"frames of {list(cameras)} within slop ({slop:g} s) of each other came, but never "
            f"among the last {rule.queue_size} of each: one camera comes late, raise "
            "capture.queue_size"
        )
    return f"{text}; the nearest were {nearest / NANOSECONDS:.3f} s apart"


def nearest_spread_ns(stamps: Sequence[Collection[int]]) -> int | None:
    """Least difference between the youngest and oldest of one stamp a camera; None without any.

    Args:
        stamps: of each camera, in any order.

    The smallest range that covers one element of each of k lists, by a heap of their heads.
    """
    queues = [sorted(queue) for queue in stamps]
    if not queues or not all(queues):
        return None
    heads = [(queue[0], number, 0) for number, queue in enumerate(queues)]
    heapq.heapify(heads)
    youngest = max(head[0] for head in heads)
    nearest = youngest - heads[0][0]
    while True:
        _, number, index = heads[0]
        if index + 1 == len(queues[number]):
            return nearest
        following = queues[number][index + 1]
        youngest = max(youngest, following)
        heapq.heapreplace(heads, (following, number, index + 1))
        nearest = min(nearest, youngest - heads[0][0])
