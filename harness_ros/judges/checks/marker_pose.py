# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The check `marker_pose`: where a fiducial marker is in space, and how it is turned."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness_ros.contract import View
from harness_ros.judges.checks.bounds import Bounds, wanted, within
from harness_ros.judges.checks.marker import OTHER, SEEN, sightings_of
from harness_ros.judges.checks.marker_pose_parameters import MarkerPoseParameters
from harness_ros.judges.checks.observed import CannotTell, Observed
from harness_ros.judges.checks.registry import Finding, check, draws

if TYPE_CHECKING:
    from harness_ros.judges.drawing import Canvas
    from harness_ros.judges.markers import Marker
    from harness_ros.judges.pose import Lens, Pose

AMBIGUOUS_RATIO = 3.0
NOISE_PX = 0.25
"""A second pose is possible when its error is less than this, or than so many times that of the
best. Of rendered markers from 0.3 to 1.6 m away no true pose was left out so."""
STEEPEST_TURN_DEG = 80.0
"""Beyond this tilt the turn about the normal has no direction to be measured from."""


@check("marker_pose", MarkerPoseParameters)
def marker_pose(parameters: MarkerPoseParameters, observed: Observed) -> Finding:
    """Whether the pose of the marker is as wanted.

    Two poses can explain the same four corners (see `harness_ros.judges.pose`). Where both are
    possible and one holds while the other does not, it cannot be told.
    """
    marker = _sighting(parameters, observed, parameters.id, parameters.dictionary)
    if marker is None:
        if parameters.unseen == "does_not_hold":
            return Finding(
                holds=False, evidence=f"marker {parameters.id} not seen in {parameters.view}"
            )
        raise CannotTell(f"marker {parameters.id} not seen in {parameters.view}, it may be hidden")
    poses = _poses(parameters, observed, marker)
    measured = [_Measured.of(pose) for pose in poses]
    outcomes = [_outcome(parameters, item) for item in measured]
    frame = _frame(parameters)
    other = next((number for number, holds in enumerate(outcomes) if holds != outcomes[0]), None)
    if other is not None:
        return Finding(
            holds=None,
            evidence=f"marker {parameters.id} {frame} has two possible poses, {measured[0]} and "
            f"{measured[other]}; not both are as wanted: "
            f"{_wanted(parameters, measured[0 if outcomes[0] is not True else other])}",
        )
    return Finding(
        holds=outcomes[0],
        evidence=f"marker {parameters.id} {frame} at {measured[0]}; "
        f"wanted {_wanted(parameters, measured[0])}",
    )


class _Measured(NamedTuple):
    """What the conditions are about."""

    x: float
    y: float
    z: float
    tilt_deg: float
    turn_deg: float
    error_px: float

    @staticmethod
    def of(pose: Pose) -> _Measured:
        normal = pose.rotation[2, 2]
        x, y, z = (float(value) for value in pose.translation)
        return _Measured(
            x,
            y,
            z,
            tilt_deg=math.degrees(math.acos(min(1.0, max(-1.0, float(normal))))),
            turn_deg=math.degrees(math.atan2(pose.rotation[1, 0], pose.rotation[0, 0])),
            error_px=pose.error_px,
        )

    def __str__(self) -> str:
        # Adding 0 makes 0 of the -0 that rounding leaves.
        place = ", ".join(f"{round(value, 3) + 0.0:.3f}" for value in self[:3])
        return (
            f"({place}) m, tilt {self.tilt_deg:.1f} deg, "
            f"turn {round(self.turn_deg, 1) + 0.0:.1f} deg ({self.error_px:.2f} px)"
        )


def _conditions(
    parameters: MarkerPoseParameters, measured: _Measured
) -> Iterator[tuple[str, bool | None]]:
    """Each condition in words, and whether it holds."""
    for axis in ("x", "y", "z"):
        bounds: Bounds | None = getattr(parameters, axis)
        if bounds is not None:
            holds = within(getattr(measured, axis), bounds.min, bounds.max)
            yield f"{axis} {wanted(bounds.min, bounds.max, 'm')}", holds
    if parameters.near is not None:
        distance = math.dist(parameters.near.point, measured[:3])
        place = ", ".join(f"{value:g}" for value in parameters.near.point)
        words = f"{parameters.near.within_m:g} m at most from ({place}), it is {distance:.3f} m"
        yield words, distance <= parameters.near.within_m
    if parameters.max_tilt_deg is not None:
        tilt = measured.tilt_deg
        yield f"tilt at most {parameters.max_tilt_deg:g} deg", tilt <= parameters.max_tilt_deg
    if parameters.turn is not None:
        off = abs((measured.turn_deg - parameters.turn.to_deg + 180) % 360 - 180)
        steep = STEEPEST_TURN_DEG < measured.tilt_deg < 180 - STEEPEST_TURN_DEG
        words = f"turn {parameters.turn.to_deg:g} deg within {parameters.turn.within_deg:g} deg"
        yield words, None if steep else off <= parameters.turn.within_deg


def _outcome(parameters: MarkerPoseParameters, measured: _Measured) -> bool | None:
    found = [holds for _, holds in _conditions(parameters, measured)]
    if False in found:
        return False
    return None if None in found else True


def _wanted(parameters: MarkerPoseParameters, measured: _Measured) -> str:
    said = {True: "", False: " (does not hold)", None: " (cannot be told)"}
    return ", ".join(f"{words}{said[holds]}" for words, holds in _conditions(parameters, measured))


def _frame(parameters: MarkerPoseParameters) -> str:
    if parameters.relative_to is None:
        return f"in {parameters.view}"
    return f"in {parameters.view}, relative to marker {parameters.relative_to.id},"


def _sighting(
    parameters: MarkerPoseParameters, observed: Observed, number: int, dictionary: str
) -> Marker | None:
    """Where a marker is seen, or None; the region counts for the marker itself alone."""
    found = sightings_of(observed, parameters.view, dictionary, number)
    if (number, dictionary) == (parameters.id, parameters.dictionary):
        found = [marker for marker in found if parameters.region.contains(marker.x, marker.y)]
    if len(found) > 1:
        places = ", ".join(f"({marker.x:.2f}, {marker.y:.2f})" for marker in found)
        raise CannotTell(
            f"marker {number} seen {len(found)} times in {parameters.view}, at {places}: "
            "all but one are copies"
        )
    return found[0] if found else None


def _poses(parameters: MarkerPoseParameters, observed: Observed, marker: Marker) -> list[Pose]:
    """Every possible pose of the marker in the frame that is asked for, the best first."""
    lens = _lens(parameters, observed)
    own = _possible(parameters, observed, lens, marker, parameters.size_m)
    reference = parameters.relative_to
    if reference is None:
        return [_facing_camera(pose) for pose in own]
    dictionary = reference.dictionary or parameters.dictionary
    base = _sighting(parameters, observed, reference.id, dictionary)
    if base is None:
        raise CannotTell(f"marker {reference.id} of relative_to not seen in {parameters.view}")
    bases = _possible(parameters, observed, lens, base, reference.size_m)
    return [pose.seen_from(other) for other in bases for pose in own]


def _facing_camera(pose: Pose) -> Pose:
    """With the rotation as seen against the optical axis; the position stays in the optical frame.

    A marker that faces the camera upright then has tilt 0 and turn 0.
    """
    return pose._replace(rotation=np.diag([1.0, -1.0, -1.0]) @ pose.rotation)


def _lens(parameters: MarkerPoseParameters, observed: Observed) -> Lens:
    # Loading a configuration imports this module and needs no OpenCV.
    from harness_ros.judges import pose

    view = observed.observation.view(parameters.view)
    assert isinstance(view, View)  # `observed.image` has said so before, or raised.
    if view.calibration is None:
        raise CannotTell(
            f"view '{view.name}' ({view.topic}) has no calibration; give its camera "
            "`info_topic` or `calibration` in eval.yaml"
        )
    height, width = observed.image(view.name).shape[:2]
    made_for = (view.calibration.width, view.calibration.height)
    if made_for != (width, height):
        raise CannotTell(
            f"the calibration of view '{view.name}' is for images of "
            f"{made_for[0]}x{made_for[1]}, this one has {width}x{height}"
        )
    try:
        return pose.Lens(view.calibration)
    except pose.CalibrationError as error:
        raise CannotTell(f"calibration of view '{view.name}': {error}") from None


def _possible(
    parameters: MarkerPoseParameters,
    observed: Observed,
    lens: Lens,
    marker: Marker,
    size_m: float,
) -> list[Pose]:
    """The poses that explain a marker's corners about equally well; one or two."""
    from harness_ros.judges import corners, pose

    image = observed.image(parameters.view)
    found = pose.marker_poses(corners.refined_corners(image, marker), size_m, lens)
    if not found or found[0].error_px > parameters.max_error_px:
        error = f"{found[0].error_px:.2f} px off" if found else "none in front of the camera"
        raise CannotTell(
            f"no pose explains the corners of marker {marker.id} in {parameters.view}: the best is "
            f"{error}, at most {parameters.max_error_px:g} px is wanted"
        )
    limit = max(AMBIGUOUS_RATIO * found[0].error_px, NOISE_PX)
    return [item for item in found if item is found[0] or item.error_px < limit]


@draws("marker_pose")
def draw_marker_pose(parameters: MarkerPoseParameters, observed: Observed, canvas: Canvas) -> None:
    """The outline, id and axes (x red, y green, z blue) of the marker and of its reference."""
    reference = parameters.relative_to
    shown = [(parameters.id, parameters.dictionary, parameters.size_m, SEEN, "")]
    if reference is not None:
        dictionary = reference.dictionary or parameters.dictionary
        shown.insert(0, (reference.id, dictionary, reference.size_m, OTHER, ", reference"))
    for number, dictionary, size_m, colour, role in shown:
        for marker in sightings_of(observed, parameters.view, dictionary, number):
            canvas.outline(marker.corners, f"id {number}{role}", colour)
            lens = _lens(parameters, observed)
            for pose in _possible(parameters, observed, lens, marker, size_m)[:1]:
                _draw_axes(pose, size_m, lens, canvas)


AXES = ((235, 50, 50), (40, 190, 70), (60, 110, 255))
"""RGB of x, y, z, as in RViz."""


def _draw_axes(pose: Pose, size_m: float, lens: Lens, canvas: Canvas) -> None:
    tips = pose.translation + 0.75 * size_m * pose.rotation.T
    pixels = lens.project(np.vstack([pose.translation, tips]))
    # The axis that points at the camera is drawn last, over the others.
    for axis in np.argsort(-tips[:, 2]):
        canvas.line(pixels[0], pixels[1 + axis], AXES[axis], width=3)
