# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The check `template`: whether a region shows what a reference picture shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from harness_ros.judges.checks.bounds import check_bounds, wanted, within
from harness_ros.judges.checks.observed import CannotTell, Observed
from harness_ros.judges.checks.reference import Reference, ReferencePicture, alike
from harness_ros.judges.checks.registry import Finding, ViewParameters, check, draws

if TYPE_CHECKING:
    from harness_ros.judges.drawing import Canvas

FLAT = 1.0
"""Standard deviation in grey levels below which a picture shows nothing that could be compared."""


def _shows_something(reference: Reference) -> Reference:
    deviation = float(reference.pixels.std(axis=(0, 1)).max())
    if deviation < FLAT:
        raise PydanticCustomError(
            "flat_reference",
            "the reference is of one colour (deviation {deviation} grey levels): nothing would be "
            "similar to it; the check `colour` or `changed` may be what is wanted",
            {"deviation": f"{deviation:.2g}"},
        )
    return reference


class TemplateParameters(ViewParameters):
    """Which picture is looked for in the region, and how similar it must be."""

    reference: Annotated[ReferencePicture, AfterValidator(_shows_something)]
    """The picture, `file:` and a path relative to eval.yaml; in pixels of the view. It is moved
    over the region, so let the region be larger by as much as the thing may have moved."""
    min_similarity: float = Field(ge=-1, le=1, allow_inf_nan=False)
    """Least similarity at the place that fits best: 1 is the same, also in another brightness and
    contrast; 0 is nothing in common."""
    max_similarity: float | None = Field(default=None, ge=-1, le=1, allow_inf_nan=False)
    """Greatest similarity."""

    @model_validator(mode="after")
    def _bounds(self) -> TemplateParameters:
        check_bounds(self.min_similarity, self.max_similarity, "min_similarity", "max_similarity")
        return self


class Match(NamedTuple):
    """Where a picture fits best."""

    similarity: float
    x: int
    """Left column in the view."""
    y: int
    """Top row in the view."""


@check("template", TemplateParameters)
def template(parameters: TemplateParameters, observed: Observed) -> Finding:
    """Whether the reference is found in the region.

    The similarity is the normalised correlation coefficient of OpenCV (TM_CCOEFF_NORMED).
    """
    match = _match(parameters, observed)
    least, most = parameters.min_similarity, parameters.max_similarity
    return Finding(
        holds=within(match.similarity, least, most),
        evidence=f"similarity {match.similarity:.3f} to the reference in region "
        f"{parameters.region} of {parameters.view}, at ({match.x}, {match.y}) px, "
        f"{wanted(least, most)} wanted",
    )


def _match(parameters: TemplateParameters, observed: Observed) -> Match:
    image = observed.image(parameters.view)
    if image.dtype != np.uint8:
        raise CannotTell(f"view '{parameters.view}' holds depth, a reference is colour or grey")
    import cv2

    searched, wanted_picture = alike(parameters.region.crop(image), parameters.reference.pixels)
    high, wide = wanted_picture.shape[:2]
    if high > searched.shape[0] or wide > searched.shape[1]:
        raise CannotTell(
            f"the reference has {wide}x{high} pixels, region {parameters.region} of "
            f"{parameters.view} only {searched.shape[1]}x{searched.shape[0]}: the region must be "
            "as large, and the image of the size that the reference was made from"
        )
    searched = np.ascontiguousarray(searched)
    scores = cv2.matchTemplate(searched, wanted_picture, cv2.TM_CCOEFF_NORMED)
    # Where the view is flat the coefficient is 0 / 0, and OpenCV gives whatever rounding left.
    scores[~(_deviations(searched, wide, high) >= FLAT)] = 0.0
    scores = np.nan_to_num(scores, nan=0.0, posinf=0.0, neginf=0.0).clip(-1.0, 1.0)
    row, column = np.unravel_index(int(scores.argmax()), scores.shape)
    rows, columns = parameters.region.pixels(image.shape)
    return Match(float(scores[row, column]), int(columns.start + column), int(rows.start + row))


def _deviations(image: NDArray[Any], wide: int, high: int) -> NDArray[np.float64]:
    """Standard deviation inside of a window at each of its places; of the liveliest channel."""
    import cv2

    def mean(totals: NDArray[Any]) -> NDArray[np.float64]:
        inside = totals[high:, wide:] - totals[:-high, wide:]
        inside -= totals[high:, :-wide] - totals[:-high, :-wide]
        averages: NDArray[np.float64] = inside / (wide * high)
        return averages

    sums, squares = cv2.integral2(image, sdepth=cv2.CV_64F)
    variances = np.maximum(mean(squares) - mean(sums) ** 2, 0.0)
    return np.sqrt(variances if variances.ndim == 2 else variances.max(axis=2))


@draws("template")
def draw_template(parameters: TemplateParameters, observed: Observed, canvas: Canvas) -> None:
    """Where the reference fits best, how well, and the reference beside the view."""
    reference = parameters.reference.pixels
    canvas.inset(reference, f"{canvas.number}: reference")
    match = _match(parameters, observed)
    high, wide = reference.shape[:2]
    left, top = match.x - 0.5, match.y - 0.5
    right, bottom = left + wide, top + high
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    canvas.outline(corners, f"similarity {match.similarity:.3f}", canvas.tint)
    image = observed.image(parameters.view)
    found = image[match.y : match.y + high, match.x : match.x + wide]
    canvas.inset(found, f"{canvas.number}: what fits best")
