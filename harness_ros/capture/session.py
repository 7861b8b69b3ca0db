# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The evidence of one run, collected as it arrives.

Armed when the run starts, it keeps references to the last few samples of each source. When the run
has finished, samples stamped inside the window of evidence go to the matcher in the order in which
they came. It decides by stamps alone, so simulated time and bags need nothing of their own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness_ros.capture.matcher import ApproximateMatcher, Matcher, MatcherFactory, SampleSet
from harness_ros.capture.sample import NANOSECONDS, Sample


@dataclass(frozen=True)
class CaptureRule:
    """What counts as evidence of a run."""

    cameras: tuple[str, ...]
    signals: tuple[str, ...]
    settle_ns: int
    slop_ns: int
    window_ns: int
    """Evidence is no younger than this after the settle time."""
    queue_size: int


@dataclass
class SourceCount:
    """What was seen of one source, for the words that say why there is no Observation."""

    received: int = 0
    usable: int = 0
    """Stamped inside the window of evidence, since time last went back."""
    first_ns: int = 0
    last_ns: int = 0
    jumps: int = 0
    """How often a stamp lay before the one received last."""


@dataclass
class CaptureSession:
    """Collects one set of frames and one sample a signal for one run."""

    rule: CaptureRule
    matcher_factory: MatcherFactory = ApproximateMatcher
    frames: SampleSet | None = None
    """The chosen frames by camera, once the set is complete."""
    signals: SampleSet = field(default_factory=dict)
    """The chosen sample of each signal."""
    counts: dict[str, SourceCount] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sources = (*self.rule.cameras, *self.rule.signals)
        self.counts = {source: SourceCount() for source in sources}
        self._rings: deque[Sample] = deque()
        self._held = dict.fromkeys(sources, 0)
        self._ended_at_ns: int | None = None
        self._matcher = self._fresh_matcher()
        if not self.rule.cameras:
            self.frames = {}

    @property
    def complete(self) -> bool:
        """Whether everything that the rule asks for is there."""
        return self.frames is not None and len(self.signals) == len(self.rule.signals)

    @property
    def window_ns(self) -> tuple[int, int]:
        """First and last stamp that count as evidence; only once the run has finished."""
        if self._ended_at_ns is None:
            raise ValueError("the run has not finished: there is no window of evidence yet")
        first = self._ended_at_ns + self.rule.settle_ns
        return first, first + self.rule.window_ns

    def add(self, sample: Sample) -> None:
        """Takes a sample; before the end of the run it is kept, after it it is matched."""
        count = self.counts[sample.source]
        if count.received and sample.stamp_ns < count.last_ns:
            count.jumps += 1
            self._clear()
        count.received += 1
        count.first_ns = count.first_ns or sample.stamp_ns
        count.last_ns = sample.stamp_ns
        if self._ended_at_ns is None:
            self._keep(sample)
        else:
            self._use(sample)

    def finish(self, ended_at_ns: int) -> None:
        """The run ended at this stamp; what was kept and is young enough is matched now."""
        self._ended_at_ns = ended_at_ns
        kept, self._rings = self._rings, deque()
        for sample in kept:
            self._use(sample)

    def selection(self) -> tuple[Sequence[Sample], Sequence[Sample]]:
        """The chosen frames and signal samples, in the order of the rule.

        Raises:
            ValueError: the evidence is not complete.
        """
        if self.frames is None or not self.complete:
            raise ValueError("the evidence is not complete")
        return (
            [self.frames[camera] for camera in self.rule.cameras],
            [self.signals[signal] for signal in self.rule.signals],
        )

    def _keep(self, sample: Sample) -> None:
        self._rings.append(sample)
        self._held[sample.source] += 1
        if self._held[sample.source] > self.rule.queue_size:
            oldest = next(kept for kept in self._rings if kept.source == sample.source)
            self._rings.remove(oldest)
            self._held[sample.source] -= 1

    def _use(self, sample: Sample) -> None:
        first, last = self.window_ns
        if not first <= sample.stamp_ns <= last:
            return
        self.counts[sample.source].usable += 1
        if sample.source in self.rule.signals:
            self.signals.setdefault(sample.source, sample)
        elif self.frames is None:
            self.frames = self._matcher.add(sample)

    def _clear(self) -> None:
        """Time went back: samples of the time before are evidence of nothing."""
        if self.complete:
            return
        self._rings.clear()
        self._held = dict.fromkeys(self._held, 0)
        self._matcher = self._fresh_matcher()
        self.frames = None if self.rule.cameras else {}
        self.signals = {}
        for count in self.counts.values():
            count.usable = 0

    def _fresh_matcher(self) -> Matcher:
        return self.matcher_factory(self.rule.cameras, self.rule.queue_size, self.rule.slop_ns)

    def missing(self) -> str:
        """Why there is no Observation, as far as the samples themselves can tell."""
        first, last = self.window_ns
        lines = []
        for source, count in self.counts.items():
            kind = "camera" if source in self.rule.cameras else "signal"
            if count.received == 0:
                lines.append(f"{kind} '{source}': no message while the tool ran and after")
            elif count.usable == 0:
                lines.append(f"{kind} '{source}': {_why_unusable(count, first, last)}")
        if not lines:
            lines.append(
                f"frames of {list(self.rule.cameras)} never came within slop "
                f"({self.rule.slop_ns / NANOSECONDS:g} s) of each other"
            )
        lines += [
            f"stamps of '{source}' went back {count.jumps} times: what came before was dropped"
            for source, count in self.counts.items()
            if count.jumps
        ]
        return "; ".join(lines)


def _why_unusable(count: SourceCount, first: int, last: int) -> str:
    """Words for a source whose messages all lie outside of the window of evidence."""
    seen = f"{count.received} messages"
    if count.last_ns == 0:
        return f"{seen}, the last with a zero stamp: the publisher does not stamp its messages"
    if first <= count.last_ns <= last:
        return f"{seen}, none of them after time went back"
    offset = (count.last_ns - first) / NANOSECONDS
    if count.last_ns < first:
        text = f"{seen}, the last stamped {-offset:.3f} s before the evidence may begin"
        if count.first_ns == count.last_ns and count.received > 1:
            return f"{text}; its stamps do not advance"
        return f"{text}; it stopped, or its clock is not the tool's"
    return (
        f"{seen}, all stamped outside of the {(last - first) / NANOSECONDS:g} s of evidence, "
        f"the last {offset:.3f} s after it began; its clock is not the tool's"
    )
