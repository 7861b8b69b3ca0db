# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which frames form an Observation.

The rule is that of `message_filters.ApproximateTimeSynchronizer`: a frame that arrives is paired
at once with the queued frames closest to it, one of each other camera, if all of them lie within
less than `slop` of each other. On a ROS installation that class itself does the matching (see
`harness_ros.ros.message_filters_matcher`); here is the same rule for bags and for where it is
missing. One contract test runs against both.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Protocol

from harness_ros.capture.sample import Sample

SampleSet = dict[str, Sample]


class Matcher(Protocol):
    """Takes the frames of one run as they arrive; a fresh one for each run."""

    def add(self, sample: Sample) -> SampleSet | None:
        """The set that this frame completes, keyed by camera, or None."""
        ...


MatcherFactory = Callable[[Sequence[str], int, int], Matcher]
"""(cameras, queue_size, slop_ns) -> Matcher"""


class ApproximateMatcher:
    """The rule of ApproximateTimeSynchronizer without ROS."""

    def __init__(self, cameras: Sequence[str], queue_size: int, slop_ns: int) -> None:
        self._queue_size = queue_size
        self._slop_ns = slop_ns
        self._queues: dict[str, dict[int, Sample]] = {camera: {} for camera in cameras}

    def add(self, sample: Sample) -> SampleSet | None:
        """The set that this frame completes, or None."""
        queue = self._queues[sample.source]
        queue[sample.stamp_ns] = sample
        while len(queue) > self._queue_size:
            del queue[min(queue)]
        others = [self._near(camera, sample) for camera in self._queues if camera != sample.source]
        for candidates in itertools.product(*others):
            chosen = {found.source: found for found in (sample, *candidates)}
            stamps = [found.stamp_ns for found in chosen.values()]
            if max(stamps) - min(stamps) < self._slop_ns and sample.stamp_ns in queue:
                for found in chosen.values():
                    del self._queues[found.source][found.stamp_ns]
                return {camera: chosen[camera] for camera in self._queues}
        return None

    def _near(self, camera: str, sample: Sample) -> list[Sample]:
        """Queued frames of the camera within slop of the frame, the closest first."""
        distance = {
            stamp: abs(stamp - sample.stamp_ns)
            for stamp in self._queues[camera]
            if abs(stamp - sample.stamp_ns) <= self._slop_ns
        }
        return [self._queues[camera][stamp] for stamp in sorted(distance, key=distance.__getitem__)]
