# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The matcher of a ROS installation: `message_filters.ApproximateTimeSynchronizer`.

The synchronizer is never given topics. It gets the samples of one run through plain filters, so
that jumps in time, other runs and its queues have nothing to do with each other, and its callback
only stores the set: a callback that raised or fed it again would stop it for good
(ros2/message_filters#169).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from std_msgs.msg import Header

from harness_ros.capture.matcher import ApproximateMatcher, MatcherFactory, SampleSet
from harness_ros.capture.sample import NANOSECONDS, Sample
from harness_ros.ros.conversion import to_time

try:
    import message_filters
except ImportError:
    message_filters = None


@dataclass(frozen=True)
class _Stamped:
    """What the synchronizer looks at: a header; the sample rides along."""

    header: Header
    sample: Sample


class MessageFiltersMatcher:
    """ApproximateTimeSynchronizer as a Matcher."""

    def __init__(self, cameras: Sequence[str], queue_size: int, slop_ns: int) -> None:
        self._filters = {camera: message_filters.SimpleFilter() for camera in cameras}
        self._found: SampleSet | None = None
        # A quarter of a nanosecond more: its seconds are cut down to whole nanoseconds.
        self._synchronizer = message_filters.ApproximateTimeSynchronizer(
            list(self._filters.values()), queue_size, (slop_ns + 0.25) / NANOSECONDS
        )
        self._synchronizer.registerCallback(self._store)

    def add(self, sample: Sample) -> SampleSet | None:
        """The set that this frame completes, or None."""
        self._found = None
        header = Header(stamp=to_time(sample.stamp_ns))
        self._filters[sample.source].signalMessage(_Stamped(header, sample))
        return self._found

    def _store(self, *stamped: _Stamped) -> None:
        self._found = {item.sample.source: item.sample for item in stamped}


def matcher_factory() -> MatcherFactory:
    """The matcher of this installation: message_filters where it is, else the built-in rule."""
    return ApproximateMatcher if message_filters is None else MessageFiltersMatcher
