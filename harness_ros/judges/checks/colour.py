# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The check `colour`: how much of a region has a colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from harness_ros.contract import Record
from harness_ros.judges.checks.observed import CannotTell, Observed
from harness_ros.judges.checks.registry import Finding, ViewParameters, check, draws

if TYPE_CHECKING:
    from harness_ros.judges.drawing import Canvas

Hue = Annotated[int, Field(ge=0, le=180)]
Byte = Annotated[int, Field(ge=0, le=255)]


class ColourRange(Record):
    """A box of colours in OpenCV's HSV: hue 0 to 180, saturation and value 0 to 255."""

    low: tuple[Hue, Byte, Byte]
    """Least hue, saturation and value, inclusive."""
    high: tuple[Hue, Byte, Byte]
    """Greatest hue, saturation and value, inclusive."""

    @model_validator(mode="after")
    def _ordered(self) -> ColourRange:
        if any(low > high for low, high in zip(self.low, self.high, strict=True)):
            raise PydanticCustomError(
                "colour_range",
                "low {low} is above high {high}; red lies at both ends of the hue: give two ranges",
                {"low": list(self.low), "high": list(self.high)},
            )
        return self


def _not_empty(ranges: tuple[ColourRange, ...]) -> tuple[ColourRange, ...]:
    if not ranges:
        raise PydanticCustomError("no_ranges", "at least one range is wanted, the list is empty")
    return ranges


class ColourParameters(ViewParameters):
    """Which colour is wanted, and how much of the region it must cover."""

    ranges: Annotated[tuple[ColourRange, ...], AfterValidator(_not_empty)]
    """A pixel counts when it lies in one of these."""
    min_fraction: float = Field(gt=0, le=1, allow_inf_nan=False)
    """Least fraction of the region's pixels."""
    max_fraction: float | None = Field(default=None, gt=0, le=1, allow_inf_nan=False)
    """Greatest fraction of the region's pixels."""

    @model_validator(mode="after")
    def _fractions(self) -> ColourParameters:
        if self.max_fraction is not None and self.min_fraction > self.max_fraction:
            raise PydanticCustomError(
                "fractions",
                "min_fraction {low} is greater than max_fraction {high}",
                {"low": self.min_fraction, "high": self.max_fraction},
            )
        return self


@check("colour", ColourParameters)
def colour(parameters: ColourParameters, observed: Observed) -> Finding:
    """Whether the fraction of the region's pixels with the colour lies within its bounds."""
    fraction = float(_covered(parameters, observed).mean())
    least, most = parameters.min_fraction, parameters.max_fraction
    wanted = f"at least {least:.6g}" if most is None else f"{least:.6g} to {most:.6g}"
    return Finding(
        holds=fraction >= least and (most is None or fraction <= most),
        evidence=f"colour covers {fraction:.3g} of region {parameters.region} in "
        f"{parameters.view}, {wanted} wanted",
    )


@draws("colour")
def draw_colour(parameters: ColourParameters, observed: Observed, canvas: Canvas) -> None:
    """Stripes over the pixels that have the colour."""
    canvas.shade(_covered(parameters, observed), parameters.region)


def _covered(parameters: ColourParameters, observed: Observed) -> NDArray[np.bool_]:
    """Which pixels of the region have the colour, (H, W)."""
    image = observed.image(parameters.view)
    if image.ndim != 3:
        raise CannotTell(f"view '{parameters.view}' has no colour")
    # Loading a configuration imports this module and needs no OpenCV.
    import cv2

    hsv = cv2.cvtColor(np.ascontiguousarray(parameters.region.crop(image)), cv2.COLOR_RGB2HSV)
    covered = np.zeros(hsv.shape[:2], np.bool_)
    for box in parameters.ranges:
        covered |= cv2.inRange(hsv, np.array(box.low), np.array(box.high)) > 0
    return covered
