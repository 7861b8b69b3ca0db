# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs of a bag as bars over time, in per cent of the width."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness_ros.grading.report.wording import SECOND_NS, Outcome, outcome, seconds, visible
from harness_ros.grading.row import GradedRun
from harness_ros.grading.trials import shown_call

NAME_PX, ROW_PX, LANE_GAP_PX, AXIS_PX = 20, 16, 8, 26
"""Heights: the name of a tool, a row of bars, the space under a lane, the axis."""
_STEPS_S = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400)
_MOST_TICKS = 6


@dataclass(frozen=True)
class Bar:
    """One run."""

    index: int
    """Of its row."""
    run_id: str
    outcome: Outcome
    left: float
    width: float
    """Per cent."""
    top: int
    """Pixels."""
    words: str
    open_ended: bool
    """The bag ends before the run does."""


@dataclass(frozen=True)
class Lane:
    """A tool; each of its outcomes has a row of its own, so that place says what colour does."""

    tool_name: str
    top: int
    rows: Sequence[tuple[Outcome, int]]
    """Outcome and the top of its row."""


@dataclass(frozen=True)
class Tick:
    """A mark on the axis."""

    at: float
    words: str


@dataclass(frozen=True)
class Timeline:
    """One bag."""

    bag: str
    lanes: Sequence[Lane]
    bars: Sequence[Bar]
    """In the order of time."""
    ticks: Sequence[Tick]
    axis_top: int
    height: int


def timelines(rows: Iterable[GradedRun]) -> list[Timeline]:
    """A timeline for each bag, in the order of the rows."""
    by_bag: dict[str, list[tuple[int, GradedRun]]] = {}
    for index, row in enumerate(rows):
        by_bag.setdefault(row.bag, []).append((index, row))
    return [_timeline(bag, runs) for bag, runs in by_bag.items()]


def _timeline(bag: str, runs: Sequence[tuple[int, GradedRun]]) -> Timeline:
    begin = min(row.started_at_ns for _, row in runs)
    end = max(max(row.started_at_ns, row.ended_at_ns or 0) for _, row in runs)
    span = max(end - begin, 1)
    lanes = _lanes(row for _, row in runs)
    tops = {(lane.tool_name, item): top for lane in lanes for item, top in lane.rows}
    bars = []
    for index, row in sorted(runs, key=lambda item: item[1].started_at_ns):
        said = outcome(row.status, row.kind)
        stop = end if row.ended_at_ns is None else row.ended_at_ns
        offset = row.started_at_ns - begin
        bars.append(
            Bar(
                index,
                row.run_id,
                said,
                left=100 * offset / span,
                width=max(0.0, 100 * (stop - row.started_at_ns) / span),
                top=tops[row.tool_name, said],
                words=f"{visible(shown_call(row))}: {said.value}, at {seconds(offset)}",
                open_ended=row.ended_at_ns is None,
            )
        )
    last = lanes[-1]
    axis_top = last.top + NAME_PX + ROW_PX * len(last.rows) + LANE_GAP_PX
    return Timeline(bag, lanes, bars, _ticks(span), axis_top, axis_top + AXIS_PX)


def _lanes(rows: Iterable[GradedRun]) -> list[Lane]:
    seen: dict[str, set[Outcome]] = {}
    for row in rows:
        seen.setdefault(row.tool_name, set()).add(outcome(row.status, row.kind))
    lanes, top = [], 0
    for tool_name, outcomes in sorted(seen.items()):
        ordered = [item for item in Outcome if item in outcomes]
        tops = [top + NAME_PX + ROW_PX * number for number in range(len(ordered))]
        lanes.append(Lane(tool_name, top, list(zip(ordered, tops, strict=True))))
        top = tops[-1] + ROW_PX + LANE_GAP_PX
    return lanes


def _ticks(span_ns: int) -> list[Tick]:
    span_s = span_ns / SECOND_NS
    step = next((step for step in _STEPS_S if span_s / step <= _MOST_TICKS), 0.0)
    # Longer than a day: whole hours.
    step = step or math.ceil(span_s / _MOST_TICKS / 3600) * 3600
    return [
        Tick(100 * number * step / span_s, _clock(number * step))
        for number in range(math.floor(span_s / step) + 1)
    ]


def _clock(time_s: float) -> str:
    if time_s < 60:
        return f"{time_s:g} s"
    minutes, rest = divmod(round(time_s), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02} min"
    return f"{minutes // 60}:{minutes % 60:02} h"
