# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What was seen of one source while a run was open, to say why there is no evidence."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from harness_ros.capture.sample import NANOSECONDS, Sample

STAMPS_KEPT = 64
FUTURE_NS = NANOSECONDS // 2
"""A stamp that lies further than this after its reception is one from the future."""
JUMP_NS = NANOSECONDS // 10
"""Time went back when a stamp lies further than this before the last one of its source. Less is the
disorder of several publishers, or of a driver with threads."""


@dataclass
class SourceCount:
    """Counts and stamps of one source."""

    received: int = 0
    usable: int = 0
    """Stamped inside the window of evidence, since time last went back."""
    first_ns: int = 0
    last_ns: int = 0
    first_received_ns: int = 0
    last_received_ns: int = 0
    jumps: int = 0
    """How often a stamp lay clearly before the one received last."""
    zero_stamps: int = 0
    repeated: int = 0
    """How often a stamp was the one received last."""
    future: int = 0
    """How often a stamp lay more than half a second after its reception."""
    malformed: int = 0
    """Messages without a readable stamp."""
    lost: int = 0
    """What the middleware says it lost."""
    last_bytes: int = 0
    rejected: int = 0
    rejected_reason: str = ""
    """Why a chosen sample was no evidence."""
    _previous_ns: int | None = None
    """Stamp that the next one is held against."""
    stamps: deque[int] = field(default_factory=lambda: deque(maxlen=STAMPS_KEPT))
    """Of the last usable samples."""

    def add(self, sample: Sample) -> bool:
        """Counts a sample that arrived; whether its stamp went back."""
        back = self._previous_ns is not None and sample.stamp_ns < self._previous_ns - JUMP_NS
        self._previous_ns = sample.stamp_ns
        self.jumps += back
        self.repeated += self.received > 0 and sample.stamp_ns == self.last_ns
        self.zero_stamps += sample.stamp_ns == 0
        if sample.received_ns:
            self.first_received_ns = self.first_received_ns or sample.received_ns
            self.last_received_ns = sample.received_ns
            self.future += sample.stamp_ns > sample.received_ns + FUTURE_NS
        if not self.received:
            self.first_ns = sample.stamp_ns
        self.received += 1
        self.last_ns = sample.stamp_ns
        self.last_bytes = len(sample.data)
        return back

    def follows(self, sample: Sample) -> None:
        """The next stamp is held against that of this sample."""
        self._previous_ns = sample.stamp_ns

    def use(self, sample: Sample) -> None:
        """Counts a sample inside the window of evidence."""
        self.usable += 1
        self.stamps.append(sample.stamp_ns)

    def reject(self, reason: str) -> None:
        """A sample inside the window was no evidence."""
        self.rejected += 1
        self.rejected_reason = reason

    def forget_usable(self) -> None:
        """The choice is made anew."""
        self.usable = 0
        self.stamps.clear()

    def time_went_back(self) -> None:
        """What was usable belongs to another time, and the next stamp will too."""
        self.forget_usable()
        self._previous_ns = None

    @property
    def offset_ns(self) -> int | None:
        """Stamp less time of reception of the last sample; None where that is not known."""
        return self.last_ns - self.last_received_ns if self.last_received_ns else None

    @property
    def rate_hz(self) -> float | None:
        """Messages a second by the time of reception; None with fewer than two."""
        lasted_ns = self.last_received_ns - self.first_received_ns
        return (self.received - 1) * NANOSECONDS / lasted_ns if lasted_ns > 0 else None
