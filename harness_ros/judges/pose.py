# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where a square marker is: from its corners and the camera's calibration to poses in metres.

Poses are in the optical frame of the camera (REP 103): z forward, x right, y down. The frame of a
marker has its origin in the marker's centre, x to the right and y up as it is printed, z out of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from harness_ros.contract import Calibration, HarnessError

COEFFICIENTS = {
    "plumb_bob": (0, 4, 5),
    "rational_polynomial": (0, 8, 12, 14),
    "equidistant": (0, 4),
}
"""Models of sensor_msgs/CameraInfo, and how many numbers each may have."""

_Points = NDArray[np.float64]


class CalibrationError(HarnessError):
    """A calibration that nothing can be measured with."""


class Pose(NamedTuple):
    """A marker in a frame."""

    rotation: NDArray[np.float64]
    """(3, 3): its columns are the marker's axes."""
    translation: NDArray[np.float64]
    """(3,) in metres."""
    error_px: float
    """How far its corners are from where they were seen: root of the mean square, in pixels."""

    def seen_from(self, other: Pose) -> Pose:
        """The same pose in the frame of another; the error is the greater one."""
        return Pose(
            other.rotation.T @ self.rotation,
            other.rotation.T @ (self.translation - other.translation),
            max(self.error_px, other.error_px),
        )


class Lens:
    """The camera model of a calibration.

    Raises:
        CalibrationError: the model or the number of its coefficients is not known, or the focal
            length is 0: the camera is not calibrated.
    """

    def __init__(self, calibration: Calibration) -> None:
        model = calibration.distortion_model or "plumb_bob"
        if model not in COEFFICIENTS:
            raise CalibrationError(
                f"distortion model '{model}' is not known, known are {', '.join(COEFFICIENTS)}"
            )
        if len(calibration.d) not in COEFFICIENTS[model]:
            raise CalibrationError(
                f"distortion model '{model}' has {len(calibration.d)} coefficients, "
                f"one of {list(COEFFICIENTS[model])} is wanted"
            )
        self.matrix = np.array(calibration.k, np.float64).reshape(3, 3)
        if not (np.isfinite(self.matrix).all() and self.matrix[0, 0] > 0 and self.matrix[1, 1] > 0):
            raise CalibrationError(
                f"fx {self.matrix[0, 0]:g} and fy {self.matrix[1, 1]:g} are no focal lengths: "
                "the camera is not calibrated"
            )
        self._fisheye = model == "equidistant" and bool(calibration.d)
        self._distortion = np.array(calibration.d or (0.0,) * 4, np.float64)

    def straightened(self, points: _Points) -> _Points:
        """Where pixels (N, 2) would lie if the lens did not distort."""
        undistort: Any = cv2.fisheye.undistortPoints if self._fisheye else cv2.undistortPoints
        straight = undistort(points.reshape(-1, 1, 2), self.matrix, self._distortion, P=self.matrix)
        return np.asarray(straight, np.float64).reshape(-1, 2)

    def project(self, points: _Points) -> _Points:
        """The pixels (N, 2) where points (N, 3) of the optical frame are seen."""
        none = np.zeros(3)
        if self._fisheye:
            pixels, _ = cv2.fisheye.projectPoints(
                points.reshape(-1, 1, 3), none, none, self.matrix, self._distortion
            )
        else:
            pixels, _ = cv2.projectPoints(points, none, none, self.matrix, self._distortion)
        return np.asarray(pixels, np.float64).reshape(-1, 2)


def marker_poses(corners: _Points, size_m: float, lens: Lens) -> tuple[Pose, ...]:
    """The poses that explain the corners of a square marker, the best first; at most two.

    Args:
        corners: (4, 2) pixels: top left, top right, bottom right, bottom left.
        size_m: length of a side of the black square.

    The method is that of T. Collins and A. Bartoli, Infinitesimal Plane-Based Pose Estimation
    (IJCV 109, 2014): seen from far away, a square and its mirror image look nearly the same.
    """
    half = size_m / 2
    square = np.array([(-half, half, 0), (half, half, 0), (half, -half, 0), (-half, -half, 0)])
    straight = lens.straightened(np.asarray(corners, np.float64))
    _, turns, shifts, _ = cv2.solvePnPGeneric(
        square, straight, lens.matrix, None, flags=cv2.SOLVEPNP_IPPE_SQUARE
    )
    poses = []
    for turn, shift in zip(turns, shifts, strict=True):
        rotation = cv2.Rodrigues(turn)[0]
        translation = np.asarray(shift, np.float64).reshape(3)
        seen, _ = cv2.projectPoints(square, turn, shift, lens.matrix, None)
        offsets = np.linalg.norm(np.asarray(seen).reshape(4, 2) - straight, axis=1)
        error = float(np.sqrt(np.mean(offsets**2)))
        if np.isfinite(error) and translation[2] > 0:
            poses.append(Pose(np.asarray(rotation, np.float64), translation, error))
    return tuple(sorted(poses, key=lambda pose: pose.error_px))
