# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What an Observation holds beside its views, in words with units."""

from __future__ import annotations

import math
from collections.abc import Iterator

from harness_ros.contract import Clearance, Observation, Signal
from harness_ros.judges.model.quoting import NAME_LENGTH, quoted

UNIT_LENGTH = 40


def measured(observation: Observation, youngest_ns: int) -> Iterator[str]:
    """Signals and distances, a line each.

    Args:
        youngest_ns: stamp that ages are told from.
    """
    if not observation.signals and observation.clearance is None:
        yield "Measured values: none"
        return
    yield "Measured values:"
    for signal in observation.signals:
        yield f"- {_signal(signal)}, {age_of(signal.stamp_ns, youngest_ns)}"
    if observation.clearance is not None:
        yield f"- from the base to the nearest obstacle: {_distances(observation.clearance)}"


def age_of(stamp_ns: int, youngest_ns: int) -> str:
    """When something was taken."""
    before_ns = youngest_ns - stamp_ns
    if before_ns == 0:
        return "taken with the youngest view"
    side = "before" if before_ns > 0 else "after"
    return f"taken {abs(before_ns) / 1e9:.3f} s {side} the youngest view"


def _signal(signal: Signal) -> str:
    unit = quoted(signal.unit, UNIT_LENGTH) if signal.unit else "(no unit)"
    return f"{quoted(signal.name, NAME_LENGTH)} = {_number(signal.value, unit)}"


def _distances(clearance: Clearance) -> str:
    return ", ".join(
        f"{side} {'nothing in reach' if value == math.inf else _number(value, 'm')}"
        for side, value in clearance.model_dump().items()
    )


def _number(value: float, unit: str) -> str:
    if math.isnan(value):
        return "unknown"
    return f"{value:.6g} {unit}" if math.isfinite(value) else f"{value}inite {unit}"
