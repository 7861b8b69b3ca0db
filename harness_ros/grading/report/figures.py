# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The numbers at the head of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from harness_ros.grading.labels import Label
from harness_ros.grading.report.data import ReportData
from harness_ros.grading.report.wording import Outcome, outcome, percent
from harness_ros.grading.summary import Summary, summarize
from harness_ros.statistics import Rate


@dataclass(frozen=True)
class Figures:
    """What is counted: by the summary, and for the filters of the page by row."""

    summary: Summary
    bags: int
    judged: int
    """Rows with a judged outcome."""
    outcomes: Mapping[Outcome, int]
    """Rows of each."""
    unjudged: Mapping[str, int]
    """Rows that nobody judged by kind, the most frequent first."""


def figures(data: ReportData) -> Figures:
    """Counts. Rates are those of the summary that is given, else of one made from the rows."""
    said = [outcome(row.status, row.kind) for row in data.rows]
    outcomes = Counter(said)
    unjudged = Counter(
        row.kind.value
        for row, found in zip(data.rows, said, strict=True)
        if found is Outcome.UNJUDGED
    )
    return Figures(
        summary=_summary(data),
        bags=len({row.bag for row in data.rows}),
        judged=sum(row.judged for row in data.rows),
        outcomes={item: outcomes[item] for item in Outcome if outcomes[item]},
        unjudged=dict(sorted(unjudged.items(), key=lambda item: (-item[1], item[0]))),
    )


def _summary(data: ReportData) -> Summary:
    try:
        return Summary.model_validate(data.summary)
    except ValidationError:
        labels = {
            run_id: Label(run_id=run_id, success=label == "success")
            for run_id, label in data.labels.items()
        }
        return summarize(data.rows, data.problems, labels or None)


def interval(rate: Rate) -> str:
    """The interval in words: `45 to 88 %`."""
    return "" if rate.low is None or rate.high is None else spread(rate.low, rate.high)


def spread(low: float, high: float) -> str:
    """Two shares in words: `45 to 88 %`."""
    return f"{100 * low:.0f} to {percent(high)}"
