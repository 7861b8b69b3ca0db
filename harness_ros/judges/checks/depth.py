# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The check `depth`: how far away what a region shows is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from harness_ros.judges.checks.bounds import Finite, check_bounds, wanted, within
from harness_ros.judges.checks.observed import CannotTell, Observed
from harness_ros.judges.checks.registry import Finding, ViewParameters, check, draws

if TYPE_CHECKING:
    from harness_ros.judges.drawing import Canvas


class DepthParameters(ViewParameters):
    """Bounds of the depth of a region in metres, inclusive; at least one of them."""

    min: Finite | None = Field(default=None, ge=0)
    """Least depth that holds, in metres."""
    max: Finite | None = Field(default=None, ge=0)
    """Greatest depth that holds, in metres."""
    quantile: float = Field(default=0.5, ge=0, le=1, allow_inf_nan=False)
    """Which of the region's known depths is compared: 0 the nearest, 0.5 the median, 1 the
    farthest. 0.05 and 0.95 are steadier than the ends."""
    min_known: float = Field(default=0.5, gt=0, le=1, allow_inf_nan=False)
    """Fraction of the region's pixels that must have a depth; with less it cannot be told."""

    @model_validator(mode="after")
    def _bounds(self) -> DepthParameters:
        check_bounds(self.min, self.max)
        return self


@check("depth", DepthParameters)
def depth(parameters: DepthParameters, observed: Observed) -> Finding:
    """Whether a quantile of the known depths of the region lies within its bounds."""
    metres = _metres(parameters, observed)
    known = metres[np.isfinite(metres)]
    share = known.size / metres.size
    place = f"region {parameters.region} in {parameters.view}"
    if share < parameters.min_known:
        return Finding(
            holds=None,
            evidence=f"depth known for {share:.0%} of {place}, "
            f"at least {parameters.min_known:.0%} wanted to tell",
        )
    value = float(np.quantile(known, parameters.quantile))
    return Finding(
        holds=within(value, parameters.min, parameters.max),
        evidence=f"depth {value:.3f} m (quantile {parameters.quantile:g} of {place}, "
        f"{share:.0%} of it known), {wanted(parameters.min, parameters.max, 'm')} wanted",
    )


@draws("depth")
def draw_depth(parameters: DepthParameters, observed: Observed, canvas: Canvas) -> None:
    """What was measured and wanted, on the scale of the colours."""
    metres = _metres(parameters, observed)
    known = metres[np.isfinite(metres)]
    value = float(np.quantile(known, parameters.quantile)) if known.size else None
    canvas.depth_mark(value, parameters.min, parameters.max)


def _metres(parameters: DepthParameters, observed: Observed) -> NDArray[np.float32]:
    """The region, (H, W), NaN where the depth is unknown."""
    image = observed.image(parameters.view)
    if image.dtype != np.float32:
        raise CannotTell(f"view '{parameters.view}' holds no depth, but {image.dtype} pixels")
    return parameters.region.crop(image).astype(np.float32, copy=False)
