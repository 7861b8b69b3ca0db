# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What so many labels are good for, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness_ros.labelling.label_file import Label
from harness_ros.statistics import (
    cohen_kappa,
    trials_to_exclude,
    zero_events_upper_bound,
)

RATES = (0.05, 0.02, 0.01)
"""Rates of error that people ask for."""


@dataclass(frozen=True)
class Tally:
    """Labels of the runs of a session, by run_id."""

    by: str
    labels: Mapping[str, Label | None]
    seen: int = 0
    """Labels of runs whose verdict was shown afterwards."""
    first: Mapping[str, Label] | None = None
    """Of the first pass, where this is the second."""

    def count(self, label: Label) -> int:
        """How many runs have this label."""
        return list(self.labels.values()).count(label)


def lines(tally: Tally) -> Iterator[str]:
    """What a person should know who stops."""
    counts = {
        "success": tally.count("success"),
        "failure": tally.count("failure"),
        "cannot tell": tally.count("unknown"),
    }
    words = ", ".join(f"{number} {word}" for word, number in counts.items())
    yield f"{sum(counts.values())} of {len(tally.labels)} runs labelled by {tally.by}: {words}"
    if tally.first is not None:
        yield _agreement(tally.labels, tally.first)
        return
    yield _excludes(counts["failure"], "failures", "false-success")
    yield _excludes(counts["success"], "successes", "false-failure")
    if tally.seen:
        yield f"labels whose verdict was looked at afterwards: {tally.seen} (`saw_verdict`)"


def _excludes(number: int, labelled: str, error: str) -> str:
    wanted = [(trials_to_exclude(rate), rate) for rate in RATES]
    more = ", ".join(f"{count} for {rate:.0%}" for count, rate in wanted if count > number)
    more = f"; it takes {more}" if more else ""
    if number == 0:
        return f"no {labelled}: nothing can be said of a judge's {error} rate{more}"
    bound = zero_events_upper_bound(number)
    return (
        f"{number} {labelled}: a judge without an error on them has a {error} rate of at most "
        f"{bound:.1%} (95% confidence){more}"
    )


def _agreement(again: Mapping[str, Label | None], first: Mapping[str, Label]) -> str:
    pairs = [(first[run_id], label) for run_id, label in again.items() if label is not None]
    if not pairs:
        return "labelled twice: no run yet"
    same = sum(one == other for one, other in pairs)
    kappa = cohen_kappa([one for one, _ in pairs], [other for _, other in pairs])
    said = "not defined, both passes say one thing throughout" if kappa is None else f"{kappa:.2f}"
    return f"labelled twice: {same} of {len(pairs)} the same, Cohen's kappa {said}"
