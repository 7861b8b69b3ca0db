# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The check `changed`: how much of a region differs from a reference picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from harness_ros.judges.checks.bounds import check_bounds, wanted, within
from harness_ros.judges.checks.observed import CannotTell, Observed
from harness_ros.judges.checks.reference import ReferencePicture, alike
from harness_ros.judges.checks.registry import Finding, ViewParameters, check, draws

if TYPE_CHECKING:
    from harness_ros.judges.drawing import Canvas

DARKEST = 16
"""Grey level below which a pixel says little about the light."""


class ChangedParameters(ViewParameters):
    """How much of the region must differ from the reference, or may at most."""

    reference: ReferencePicture
    """The picture before, `file:` and a path relative to eval.yaml: of the whole view, or of the
    region alone."""
    min_fraction: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    """Least fraction of the region's pixels that differ."""
    max_fraction: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    """Greatest fraction of the region's pixels that differ."""
    threshold: int = Field(default=30, ge=1, le=255)
    """A pixel differs when a channel does by more than so many of 255 levels."""
    blur_px: float = Field(default=1.5, ge=0, le=50, allow_inf_nan=False)
    """Standard deviation of the Gaussian that both pictures are blurred with, against noise and
    shaking; 0 for none."""
    same_light: bool = False
    """Whether light and exposure are those of the reference. If not, the reference is first made as
    bright as the view, by the median of all its pixels."""

    @model_validator(mode="after")
    def _bounds(self) -> ChangedParameters:
        check_bounds(self.min_fraction, self.max_fraction, "min_fraction", "max_fraction")
        return self


@check("changed", ChangedParameters)
def changed(parameters: ChangedParameters, observed: Observed) -> Finding:
    """Whether the fraction of the region's pixels that differ lies within its bounds."""
    differing, gain = _differing(parameters, observed)
    fraction = float(differing.mean())
    least, most = parameters.min_fraction, parameters.max_fraction
    light = "" if parameters.same_light else f", light x{gain:.2f}"
    return Finding(
        holds=within(fraction, least, most),
        evidence=f"{fraction:.3g} of region {parameters.region} in {parameters.view} differs from "
        f"the reference by more than {parameters.threshold} levels{light}, "
        f"{wanted(least, most)} wanted",
    )


def _differing(
    parameters: ChangedParameters, observed: Observed
) -> tuple[NDArray[np.bool_], float]:
    """Which pixels of the region differ, (H, W), and how much brighter the view is."""
    view = observed.image(parameters.view)
    if view.dtype != np.uint8:
        raise CannotTell(f"view '{parameters.view}' holds depth, a reference is colour or grey")
    view, reference = alike(view, parameters.reference.pixels)
    image, before = _same_part(parameters, view, reference)
    whole = reference.shape == view.shape
    light = (view, reference) if whole else (image, before)
    gain = 1.0 if parameters.same_light else _gain(*light)
    brightened = np.clip(before.astype(np.float32) * gain, 0, 255)
    difference = np.abs(_blurred(image, parameters) - _blurred(brightened, parameters))
    strongest = difference if difference.ndim == 2 else difference.max(axis=2)
    return strongest > parameters.threshold, gain


def _same_part(
    parameters: ChangedParameters, view: NDArray[Any], reference: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The region in the view and in the reference."""
    part = parameters.region.crop(view)
    if reference.shape == view.shape:
        return part, parameters.region.crop(reference)
    if reference.shape == part.shape:
        return part, reference
    sizes = [f"{item.shape[1]}x{item.shape[0]}" for item in (reference, view, part)]
    raise CannotTell(
        f"the reference has {sizes[0]} pixels; view '{parameters.view}' has {sizes[1]} and its "
        f"region {parameters.region} {sizes[2]}: one of the two is wanted"
    )


def _gain(image: NDArray[Any], before: NDArray[Any]) -> float:
    """How much brighter the image is, by the median of all pixels that are not dark.

    The median, so that what changed in less than half of them does not count as light.
    """
    bright = before >= DARKEST
    if not bright.any():
        return 1.0
    ratios = image[bright].astype(np.float32) / before[bright].astype(np.float32)
    return float(np.clip(np.median(ratios), 0.25, 4.0))


def _blurred(image: NDArray[Any], parameters: ChangedParameters) -> NDArray[np.float32]:
    pixels = np.ascontiguousarray(image, np.float32)
    if parameters.blur_px == 0:
        return pixels
    import cv2

    return cv2.GaussianBlur(pixels, (0, 0), parameters.blur_px).astype(np.float32, copy=False)


@draws("changed")
def draw_changed(parameters: ChangedParameters, observed: Observed, canvas: Canvas) -> None:
    """Stripes over the pixels that differ, and the reference beside the view."""
    canvas.inset(parameters.reference.pixels, f"{canvas.number}: reference")
    canvas.shade(_differing(parameters, observed)[0], parameters.region)
