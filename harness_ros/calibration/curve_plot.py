# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The risk-coverage curve as lines of an SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness_ros.calibration.wording import fine, spread
from harness_ros.judges.answers import CurvePoint

WIDTH, HEIGHT = 480, 270
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 14, 44
STEPS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Where the axis of rates may end."""
QUARTERS = (0, 0.25, 0.5, 0.75, 1)


@dataclass(frozen=True)
class Mark:
    """A point of the curve."""

    x: float
    y: float
    words: str


@dataclass(frozen=True)
class Tick:
    """A place on an axis."""

    at: float
    words: str


@dataclass(frozen=True)
class Plot:
    """All that is drawn, in the units of the view box."""

    false_success: str
    """`points` of a polyline."""
    bound: str
    wrong: str
    marks: Sequence[Mark]
    across: Sequence[Tick]
    up: Sequence[Tick]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


def plot_of(points: Sequence[CurvePoint]) -> Plot | None:
    """The drawing; None for a curve without points."""
    if not points:
        return None
    most = max(
        rate
        for point in points
        for rate in (point.wrong.rate, point.false_success_below)
        if rate is not None
    )
    ceiling = next(step for step in STEPS if step >= min(1.0, most))

    def x(coverage: float) -> float:
        return round(LEFT + coverage * (WIDTH - LEFT - RIGHT), 2)

    def y(rate: float) -> float:
        return round(TOP + (1 - rate / ceiling) * (HEIGHT - TOP - BOTTOM), 2)

    def line(rate_of: Callable[[CurvePoint], float | None]) -> str:
        return " ".join(
            f"{x(point.coverage.rate or 0)},{y(rate)}"
            for point in points
            if (rate := rate_of(point)) is not None
        )

    return Plot(
        false_success=line(lambda point: point.false_success.rate),
        bound=line(lambda point: point.false_success_below),
        wrong=line(lambda point: point.wrong.rate),
        marks=[
            Mark(x(point.coverage.rate or 0), y(point.false_success.rate), _words(point))
            for point in points
            if point.false_success.rate is not None
        ],
        across=[Tick(x(share), f"{100 * share:.0f}") for share in (0, 0.25, 0.5, 0.75, 1)],
        up=[
            Tick(y(ceiling * share), f"{100 * ceiling * share:g}")
            for share in (0, 0.25, 0.5, 0.75, 1)
        ],
    )


def _words(point: CurvePoint) -> str:
    return (
        f"confidence {point.confidence:g} or more: {fine(point.coverage.rate)} of the judged runs; "
        f"{fine(point.false_success.rate)} of the failures called a success "
        f"({spread(point.false_success)}), {fine(point.wrong.rate)} wrong"
    )
