# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rate: a count of trials, and what it is worth."""

from __future__ import annotations

from harness_ros.contract import Record
from harness_ros.statistics.estimates import wilson_interval, zero_events_upper_bound


class Rate(Record):
    """`count` of `of`; all else is None where `of` is 0."""

    count: int
    of: int
    rate: float | None = None
    low: float | None = None
    """Wilson interval at the confidence that is stated beside it."""
    high: float | None = None
    zero_excludes_above: float | None = None
    """Where count is 0: greater rates are excluded, one-sided; None otherwise."""

    def in_words(self, counts: bool = True) -> str:
        """Rate and interval in percent, with the counts where they are wanted."""
        if self.rate is None or self.low is None or self.high is None:
            return "not known"
        of = f"{self.count} of {self.of}; " if counts else ""
        return f"{self.rate:.1%} ({of}{self.low:.1%} to {self.high:.1%})"


def rate_of(count: int, of: int, confidence: float) -> Rate:
    """The rate with its interval.

    Raises:
        ValueError: count outside [0, of], or confidence outside (0, 1).
    """
    if of == 0 and count == 0:
        return Rate(count=0, of=0)
    low, high = wilson_interval(count, of, confidence)
    return Rate(
        count=count,
        of=of,
        rate=count / of,
        low=low,
        high=high,
        zero_excludes_above=None if count else zero_events_upper_bound(of, confidence),
    )
