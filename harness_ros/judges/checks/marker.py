# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The check `marker`: whether a fiducial marker is seen in a region of a view."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from harness_ros.judges.checks.observed import CannotTell, Observed
from harness_ros.judges.checks.registry import Finding, ViewParameters, check, draws

if TYPE_CHECKING:
    from harness_ros.judges.drawing import Canvas
    from harness_ros.judges.markers import Marker

SEEN = (0, 205, 255)
"""RGB of the wanted marker's outline; whether its place is right, the colour of the region says."""
OTHER = (205, 205, 210)
"""RGB of markers that are seen and not asked for."""

DICTIONARY_SIZES = {
    "DICT_ARUCO_ORIGINAL": 1024,
    "DICT_APRILTAG_16h5": 30,
    "DICT_APRILTAG_25h9": 35,
    "DICT_APRILTAG_36h10": 2320,
    "DICT_APRILTAG_36h11": 587,
} | {
    f"DICT_{cells}X{cells}_{size}": size for cells in (4, 5, 6, 7) for size in (50, 100, 250, 1000)
}
"""How many markers each dictionary has; written down so that a configuration needs no OpenCV."""


def _known_dictionary(name: str) -> str:
    if name not in DICTIONARY_SIZES:
        raise PydanticCustomError(
            "dictionary",
            "no dictionary is called {name}; allowed are {allowed}",
            {"name": repr(name), "allowed": ", ".join(DICTIONARY_SIZES)},
        )
    return name


Dictionary = Annotated[str, AfterValidator(_known_dictionary)]
"""Name of a dictionary of OpenCV."""


def check_id(number: int, dictionary: str) -> None:
    """Raises a PydanticCustomError where the dictionary has no such marker."""
    size = DICTIONARY_SIZES[dictionary]
    if number >= size:
        raise PydanticCustomError(
            "marker_id",
            "id {id} is not in {dictionary}, which has 0 to {last}",
            {"id": number, "dictionary": dictionary, "last": size - 1},
        )


class MarkerParameters(ViewParameters):
    """Which marker is wanted where: its centre, inside the region."""

    id: int = Field(ge=0)
    """Number of the marker in its dictionary."""
    dictionary: Dictionary = "DICT_APRILTAG_36h11"
    """Name of an OpenCV dictionary."""
    unseen: Literal["unknown", "does_not_hold"] = "unknown"
    """What it means when the marker is not seen at all: it may be hidden, or it must be gone."""
    min_size_px: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Mean side in pixels below which a sighting does not count; alone, it cannot be told then."""

    @model_validator(mode="after")
    def _id_in_dictionary(self) -> MarkerParameters:
        check_id(self.id, self.dictionary)
        return self


@check("marker", MarkerParameters)
def marker(parameters: MarkerParameters, observed: Observed) -> Finding:
    """Whether the centre of the marker is seen inside the region.

    It cannot be told when the marker is seen inside and outside: one of the two is a copy.
    """
    name, region = f"marker {parameters.id}", parameters.region
    sightings = sightings_of(observed, parameters.view, parameters.dictionary, parameters.id)
    if not sightings:
        if parameters.unseen == "does_not_hold":
            return Finding(holds=False, evidence=f"{name} not seen in {parameters.view}")
        return Finding(
            holds=None, evidence=f"{name} not seen in {parameters.view}, it may be hidden"
        )
    least = parameters.min_size_px or 0.0
    counted = [sighting for sighting in sightings if sighting.side_px >= least]
    places = ", ".join(f"({seen.x:.2f}, {seen.y:.2f})" for seen in counted or sightings)
    seen_at = f"{name} seen in {parameters.view} at {places}"
    if not counted:
        largest = max(sighting.side_px for sighting in sightings)
        return Finding(
            holds=None, evidence=f"{seen_at}, {largest:.1f} px wide, at least {least:.6g} wanted"
        )
    inside = {region.contains(sighting.x, sighting.y) for sighting in counted}
    if inside == {True, False}:
        return Finding(
            holds=None, evidence=f"{seen_at}, inside and outside {region}: one is a copy"
        )
    where = "inside" if True in inside else "outside"
    return Finding(holds=True in inside, evidence=f"{seen_at}, {where} {region}")


def find_in_view(observed: Observed, view: str, dictionary: str) -> Iterator[tuple[Marker, ...]]:
    """The markers of a view, found in the image as it is, then in the image enlarged.

    Each is looked for once in an evaluation, and not before it is asked for.

    Raises:
        CannotTell: the view holds depth, or is not there.
    """
    image = observed.image(view)
    if image.dtype != "uint8":
        raise CannotTell(f"view '{view}' holds depth, a marker needs colour or grey")
    # Loading a configuration imports this module and needs no OpenCV.
    from harness_ros.judges import markers

    for scale in (1, 2):
        search = partial(markers.find_markers, image, dictionary, scale)
        yield observed.once(("markers", view, dictionary, scale), search)


def sightings_of(observed: Observed, view: str, dictionary: str, number: int) -> list[Marker]:
    """Each place where a marker is seen in a view; in the enlarged image where there is none else.

    Raises:
        CannotTell: the view holds depth, or is not there.
    """
    for found in find_in_view(observed, view, dictionary):
        sightings = [sighting for sighting in found if sighting.id == number]
        if sightings:
            return sightings
    return []


@draws("marker")
def draw_marker(parameters: MarkerParameters, observed: Observed, canvas: Canvas) -> None:
    """The outline and id of every marker that is seen, and the centre of the wanted one."""
    view, dictionary = parameters.view, parameters.dictionary
    wanted = sightings_of(observed, view, dictionary, parameters.id)
    for marker in next(find_in_view(observed, view, dictionary)):
        if marker.id != parameters.id:
            canvas.faint_outline(marker.corners, f"id {marker.id}", OTHER)
    for marker in wanted:
        canvas.outline(marker.corners, f"id {marker.id}", SEEN)
        canvas.cross(np.mean(marker.corners, axis=0), SEEN)
