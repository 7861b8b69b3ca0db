# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The evidence of one run, collected as it arrives.

Armed when the run starts, it keeps references to the last few samples of each source. When the run
has finished, samples stamped inside the window of evidence go to the matcher in the order in which
they came. It decides by stamps alone, so simulated time and bags need nothing of their own.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from harness_ros.capture.counts import SourceCount
from harness_ros.capture.matcher import ApproximateMatcher, MatcherFactory, SampleSet
from harness_ros.capture.sample import Sample


@dataclass(frozen=True)
class CaptureRule:
    """What counts as evidence of a run."""

    cameras: tuple[str, ...]
    """In the order in which judges get the views."""
    signals: tuple[str, ...]
    """Whatever is no camera: signals, distances, calibrations."""
    settle_ns: int
    slop_ns: int
    window_ns: int
    """Evidence is no younger than this after the settle time."""
    queue_size: int
    optional: frozenset[str] = frozenset()
    """Cameras and signals without which the evidence is complete all the same."""
    standing: frozenset[str] = frozenset()
    """Signals whose last message counts whatever its stamp: calibrations, no evidence of a run."""
    optional_wait_ns: int = 0
    """A complete set waits for optional sources until stamps are younger than it by this."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Cameras, then signals."""
        return (*self.cameras, *self.signals)

    @property
    def matched(self) -> tuple[str, ...]:
        """The cameras whose frames form a set."""
        return tuple(camera for camera in self.cameras if camera not in self.optional)


@dataclass(frozen=True)
class Selection:
    """The chosen evidence, in the order of the rule."""

    frames: tuple[Sample, ...]
    signals: tuple[Sample, ...]
    absent: tuple[str, ...]
    """Optional sources that had nothing in time."""


@dataclass
class CaptureSession:
    """Collects one set of frames and one sample a signal for one run."""

    rule: CaptureRule
    matcher_factory: MatcherFactory = ApproximateMatcher
    counts: dict[str, SourceCount] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.counts = {source: SourceCount() for source in self.rule.sources}
        self._kept = {source: deque[tuple[int, Sample]]() for source in self.rule.sources}
        """The last samples of each source with their number in the order of arrival: all before
        the end of the run, the usable ones after it."""
        self._arrived = 0
        self._standing: SampleSet = {}
        self._ended_at_ns: int | None = None
        self._time_is_up = False
        self._begin()

    @property
    def complete(self) -> bool:
        """Whether everything that the rule asks for is there, and no optional source is awaited."""
        if not self._has_required():
            return False
        if self._time_is_up or self._waited:
            return True
        return not self.rule.optional - self._chosen().keys()

    @property
    def lacking(self) -> tuple[str, ...]:
        """Required sources of which nothing usable is there; frames that do not fit are usable."""
        return tuple(
            source
            for source, count in self.counts.items()
            if source not in self.rule.optional and source not in self._standing
            if not count.usable
        )

    @property
    def window_ns(self) -> tuple[int, int]:
        """First and last stamp that count as evidence; only once the run has finished."""
        if self._ended_at_ns is None:
            raise ValueError("the run has not finished: there is no window of evidence yet")
        first = self._ended_at_ns + self.rule.settle_ns
        return first, first + self.rule.window_ns

    def add(self, sample: Sample) -> None:
        """Takes a sample; before the end of the run it is kept, after it it is matched."""
        back = self.counts[sample.source].add(sample)
        if sample.source in self.rule.standing:
            self._standing[sample.source] = sample
            return
        if back:
            self._clear()
            self.counts[sample.source].follows(sample)
        if self._ended_at_ns is None or self._in_window(sample):
            self._keep(sample)
        if self._ended_at_ns is not None:
            self._take(sample)

    def finish(self, ended_at_ns: int) -> None:
        """The run ended at this stamp; what was kept and is young enough is matched now."""
        self._ended_at_ns = ended_at_ns
        kept = self._in_order()
        self._forget()
        for sample in kept:
            if self._in_window(sample):
                self._keep(sample)
            self._take(sample)

    def wait_no_longer(self) -> bool:
        """Time is up for optional sources; whether the evidence is complete now."""
        self._time_is_up = True
        return self.complete

    def reject(self, sample: Sample, reason: str) -> None:
        """A chosen sample turned out to be no evidence: the choice is made anew without it."""
        self.counts[sample.source].reject(reason)
        if sample.source in self.rule.standing:
            del self._standing[sample.source]
            return
        # It may have left the queue while other sources were awaited.
        kept = [item for item in self._kept[sample.source] if item[1] is not sample]
        self._kept[sample.source] = deque(kept)
        for count in self.counts.values():
            count.forget_usable()
        self._begin()
        for other in self._in_order():
            self._take(other)

    def selection(self) -> Selection:
        """The chosen samples.

        Raises:
            ValueError: the evidence is not complete.
        """
        if not self.complete:
            raise ValueError("the evidence is not complete")
        chosen = self._chosen()
        return Selection(
            frames=tuple(chosen[name] for name in self.rule.cameras if name in chosen),
            signals=tuple(chosen[name] for name in self.rule.signals if name in chosen),
            absent=tuple(name for name in self.rule.sources if name not in chosen),
        )

    # Keeping

    def _in_window(self, sample: Sample) -> bool:
        first, last = self.window_ns
        return first <= sample.stamp_ns <= last

    def _keep(self, sample: Sample) -> None:
        self._arrived += 1
        queue = self._kept[sample.source]
        queue.append((self._arrived, sample))
        if len(queue) > self.rule.queue_size:
            queue.popleft()

    def _in_order(self) -> list[Sample]:
        """What is kept, in the order of arrival."""
        items = [item for queue in self._kept.values() for item in queue]
        return [sample for _, sample in sorted(items, key=lambda item: item[0])]

    def _forget(self) -> None:
        for queue in self._kept.values():
            queue.clear()

    def _clear(self) -> None:
        """Time went back: samples of the time before are evidence of nothing."""
        if self.complete:
            return
        self._forget()
        self._begin()
        for count in self.counts.values():
            count.time_went_back()

    # Choosing

    def _begin(self) -> None:
        self._matcher = self.matcher_factory(
            self.rule.matched, self.rule.queue_size, self.rule.slop_ns
        )
        self._frames: SampleSet | None = None if self.rule.matched else {}
        self._candidates = {
            camera: deque[Sample](maxlen=self.rule.queue_size)
            for camera in self.rule.cameras
            if camera in self.rule.optional
        }
        self._optional_frames: SampleSet = {}
        self._signals: SampleSet = {}
        self._waited = False

    def _take(self, sample: Sample) -> None:
        """Uses a sample as far as it is evidence; nothing is added to what is complete."""
        if self.complete:
            return
        if self._in_window(sample):
            self._use(sample)
        self._waited = self._waited or self._waited_enough(sample.stamp_ns)

    def _use(self, sample: Sample) -> None:
        self.counts[sample.source].use(sample)
        if sample.source in self.rule.signals:
            self._signals.setdefault(sample.source, sample)
        elif sample.source in self.rule.optional:
            self._candidates[sample.source].append(sample)
            self._choose_optional(sample.source)
        elif self._frames is None:
            self._frames = self._matcher.add(sample)
            for camera in self._candidates:
                self._choose_optional(camera)

    def _choose_optional(self, camera: str) -> None:
        """The frame of an optional camera that is closest to the set so far, if one fits it."""
        if self._frames is None or camera in self._optional_frames:
            return
        chosen = (*self._frames.values(), *self._optional_frames.values())
        stamps = [frame.stamp_ns for frame in chosen]
        fitting = {
            max(abs(frame.stamp_ns - stamp) for stamp in stamps or [frame.stamp_ns]): frame
            for frame in reversed(self._candidates[camera])
        }
        if fitting and min(fitting) < self.rule.slop_ns:
            self._optional_frames[camera] = fitting[min(fitting)]

    def _chosen(self) -> SampleSet:
        frames = {**(self._frames or {}), **self._optional_frames}
        return {**frames, **self._signals, **self._standing}

    def _has_required(self) -> bool:
        required = set(self.rule.signals) - self.rule.optional
        return self._frames is not None and required <= {*self._signals, *self._standing}

    def _waited_enough(self, stamp_ns: int) -> bool:
        """Whether a stamp is so much younger than the chosen ones that optional ones are late."""
        if self._frames is None or not self._has_required():
            return False
        required = {**self._frames, **self._signals}
        stamps = [required[name].stamp_ns for name in required.keys() - self.rule.optional]
        return bool(stamps) and stamp_ns > max(stamps) + self.rule.optional_wait_ns
