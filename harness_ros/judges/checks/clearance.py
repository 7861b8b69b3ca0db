# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The check `clearance`: how far the nearest obstacle is from the base."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field, model_validator

from harness_ros.judges.checks.bounds import check_bounds, wanted, within
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
        check_bounds(self.min, self.max)
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
    seen = "free" if math.isinf(metres) else f"{metres:.3f} m"
    text = f"clearance to the {parameters.direction} {seen}, {wanted(low, high, 'm')} wanted"
    return Finding(holds=within(metres, low, high), evidence=text)
