# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a benchmark says: one figure, the baseline it is held against, the target."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from harness_ros.contract import HarnessError, Record


class BenchError(HarnessError):
    """A benchmark that could not measure."""


class Baseline(Record):
    """What the figure is held against, measured in the same run."""

    name: str
    value: float
    """In the unit of the figure."""


class Target(Record):
    """How much is allowed."""

    at_most: float
    of: Literal["value", "ratio"] = "value"


class Measurement(Record):
    """One line of the result."""

    name: str
    """Benchmark and figure, such as `latency/640x480`."""
    value: float
    unit: str
    ratio: float | None = None
    """The figure by its baseline: the median of the ratios of pairs measured side by side."""
    baseline: Baseline | None = None
    target: Target | None = None
    details: dict[str, Any] = Field(default_factory=dict)
    """`n` and spread, and what else explains the figure."""

    @property
    def ok(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.target is None:
            return None
        held = self.value if self.target.of == "value" else self.ratio
        return held is not None and held <= self.target.at_most


def failed(name: str, error: Exception) -> Measurement:
    """The line of a benchmark that could not measure; never ok."""
    return Measurement(
        name=name,
        value=1.0,
        unit="errors",
        target=Target(at_most=0.0),
        details={"error": f"{type(error).__name__}: {error}"},
    )


def spread(values: Sequence[float]) -> dict[str, Any]:
    """Number, quartiles and least of measured values, as `details` show them.

    Raises:
        BenchError: there are none.
    """
    if not values:
        raise BenchError("nothing was measured")
    low, middle, high = quartiles(values)
    return {
        "n": len(values),
        "p25": round(low, 4),
        "median": round(middle, 4),
        "p75": round(high, 4),
        "min": round(min(values), 4),
    }


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Lower quartile, median and upper quartile; one value is all three."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def against(
    name: str,
    unit: str,
    values: Sequence[float],
    baseline: str,
    baseline_values: Sequence[float],
    at_most: float | None = None,
    **details: Any,
) -> Measurement:
    """A figure by its baseline from pairs that were measured one after the other.

    The ratio is the median of the ratios of the pairs: what slows both members of a pair, such as
    other work on the machine, does not count.

    Args:
        at_most: allowed ratio.

    Raises:
        BenchError: the two are not pairs, or a baseline is 0.
    """
    if len(values) != len(baseline_values) or not values:
        raise BenchError(
            f"{name}: {len(values)} values and {len(baseline_values)} of {baseline} are no pairs"
        )
    if min(baseline_values) <= 0:
        raise BenchError(f"{name}: {baseline} was {min(baseline_values)} {unit}, no ratio to it")
    ratios = [value / other for value, other in zip(values, baseline_values, strict=True)]
    return Measurement(
        name=name,
        value=statistics.median(values),
        unit=unit,
        ratio=statistics.median(ratios),
        baseline=Baseline(name=baseline, value=statistics.median(baseline_values)),
        target=None if at_most is None else Target(at_most=at_most, of="ratio"),
        details={
            **spread(values),
            "baseline": spread(baseline_values),
            "ratio": spread(ratios),
            **details,
        },
    )
