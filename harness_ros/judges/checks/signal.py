# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The check `signal`: whether a scalar lies within bounds."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from harness_ros.judges.checks.observed import Observed
from harness_ros.judges.checks.registry import CheckParameters, Finding, check

Bound = Annotated[float, Field(allow_inf_nan=False)]

NOISE = 1e-9
"""Evidence shows a smaller value as 0: a closed gripper reads 1e-12 m, which says nothing."""


class SignalParameters(CheckParameters):
    """Bounds of a signal, inclusive; at least one of them."""

    name: str = Field(min_length=1)
    """Name of the signal: a key under `signals` in eval.yaml."""
    min: Bound | None = None
    """Least value that holds, in the unit of the signal."""
    max: Bound | None = None
    """Greatest value that holds, in the unit of the signal."""

    @model_validator(mode="after")
    def _bounds(self) -> SignalParameters:
        if self.min is None and self.max is None:
            raise PydanticCustomError("bounds", "`min` or `max` or both are wanted, none is given")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise PydanticCustomError(
                "bounds",
                "min {min} is greater than max {max}",
                {"min": self.min, "max": self.max},
            )
        return self

    def signals(self) -> frozenset[str]:
        """The one signal."""
        return frozenset({self.name})


@check("signal", SignalParameters)
def signal(parameters: SignalParameters, observed: Observed) -> Finding:
    """Whether the signal lies within its bounds; NaN and infinity cannot be told."""
    found = observed.signal(parameters.name)
    shown = 0.0 if abs(found.value) < NOISE else found.value
    value = f"{found.name} {shown:.6g} {found.unit}".rstrip()
    if not math.isfinite(found.value):
        return Finding(holds=None, evidence=f"{value}, which is no measurement")
    low, high = parameters.min, parameters.max
    if low is not None and found.value < low:
        return Finding(holds=False, evidence=f"{value}, below {low:.6g}")
    if high is not None and found.value > high:
        return Finding(holds=False, evidence=f"{value}, above {high:.6g}")
    if low is None:
        return Finding(holds=True, evidence=f"{value}, at most {high:.6g}")
    if high is None:
        return Finding(holds=True, evidence=f"{value}, at least {low:.6g}")
    return Finding(holds=True, evidence=f"{value}, within [{low:.6g}, {high:.6g}]")
