# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The check `clearance`: how far the nearest obstacle is from the base."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from harness_ros.judges.checks.observed import CannotTell, Observed
from harness_ros.judges.checks.registry import CheckParameters, Finding, check


class ClearanceParameters(CheckParameters):
    """Bounds of a distance in metres, inclusive; at least one of them."""

    direction: Literal["front", "left", "right", "rear"]
    """Key under `clearance` in eval.yaml."""
    min: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Least distance that holds, in metres."""
    max: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Greatest distance that holds, in metres."""

    @model_validator(mode="after")
    def _bounds(self) -> ClearanceParameters:
        if self.min is None and self.max is None:
            raise PydanticCustomError("bounds", "`min` or `max` or both are wanted, none is given")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise PydanticCustomError(
                "bounds", "min {min} is greater than max {max}", {"min": self.min, "max": self.max}
            )
        return self

    def clearance(self) -> frozenset[str]:
        """The one direction."""
        return frozenset({self.direction})


@check("clearance", ClearanceParameters)
def clearance(parameters: ClearanceParameters, observed: Observed) -> Finding:
    """Whether the nearest obstacle in a direction is as far as wanted; free space is infinite."""
    measured = observed.observation.clearance
    metres = math.nan if measured is None else float(getattr(measured, parameters.direction))
    if math.isnan(metres):
        raise CannotTell(f"the observation has no distance to the {parameters.direction}")
    low, high = parameters.min, parameters.max
    shown = "free" if math.isinf(metres) else f"{metres:.3f} m"
    wanted = " and ".join(
        text
        for text in (
            "" if low is None else f"at least {low:g} m",
            "" if high is None else f"at most {high:g} m",
        )
        if text
    )
    return Finding(
        holds=(low is None or metres >= low) and (high is None or metres <= high),
        evidence=f"clearance to the {parameters.direction} {shown}, {wanted} wanted",
    )
