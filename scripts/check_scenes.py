# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Drawn scenes with known content, one for each check: for docs/checks.md and for the tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from harness_ros.contract import Calibration, Clearance, Observation, Signal, View

Picture = NDArray[Any]
APRILTAG = "DICT_APRILTAG_36h11"

WOOD, WOOD_LINE = (214, 186, 152), (196, 166, 131)
GROUND, METAL, DARK = (158, 172, 186), (122, 128, 138), (62, 66, 74)
TRAY, TRAY_RIM = (92, 128, 158), (70, 100, 126)
RED, BLUE = (206, 44, 38), (46, 92, 190)


class Scene(NamedTuple):
    """What a check is shown with."""

    post_condition: str
    observation: Observation
    references: Mapping[str, Picture] = MappingProxyType({})
    """Path of each reference picture as the criterion names it, and the picture."""


# Putting an Observation together


def view(name: str, image: Picture, calibration: Calibration | None = None) -> View:
    """A view of RGB (H, W, 3), grey (H, W) or depth in metres (H, W) float32."""
    encodings = {("uint8", 3): "rgb8", ("uint8", 2): "mono8", ("float32", 2): "32FC1"}
    return View(
        name=name,
        stamp_ns=10_200_000_000,
        frame_id=f"{name}_optical_frame",
        height=image.shape[0],
        width=image.shape[1],
        encoding=encodings[str(image.dtype), image.ndim],
        step=image.shape[1] * image.itemsize * (3 if image.ndim == 3 else 1),
        is_bigendian=False,
        data=np.ascontiguousarray(image).tobytes(),
        calibration=calibration,
        topic=f"/camera/{name}/image_raw",
    )


def observation(*views: View, **more: Any) -> Observation:
    """An Observation of views and whatever else is given."""
    return Observation(run_id="3f2a9c41d07e", captured_at_ns=10_200_000_000, views=views, **more)


# Markers in space


def marker_image(number: int, side: int, dictionary: str = APRILTAG) -> Picture:
    """A marker of a dictionary, grey (side, side), without its white margin."""
    aruco: Any = cv2.aruco
    code = getattr(aruco, dictionary)
    if hasattr(aruco, "generateImageMarker"):
        image: Picture = aruco.generateImageMarker(
            aruco.getPredefinedDictionary(code), number, side
        )
    else:
        image = aruco.drawMarker(aruco.Dictionary_get(code), number, side)
    return image


def rotation(tilt_deg: float, about_deg: float = 0.0, turn_deg: float = 0.0) -> Picture:
    """The rotation (3, 3) of a marker in the optical frame.

    It faces the camera upright, is turned about its normal, then tilted about an axis in the image
    plane that lies `about_deg` from the x axis of the camera.
    """
    about = np.radians(about_deg)
    axis = np.radians(tilt_deg) * np.array([np.cos(about), np.sin(about), 0.0])
    turn = np.radians([0.0, 0.0, turn_deg])
    facing = np.diag([1.0, -1.0, -1.0])
    return np.asarray(cv2.Rodrigues(axis)[0] @ facing @ cv2.Rodrigues(turn)[0])


def project(points: Picture, calibration: Calibration) -> Picture:
    """The pixels (N, 2) of points (N, 3) in the optical frame, without distortion."""
    matrix = np.array(calibration.k).reshape(3, 3)
    pixels = points @ matrix.T
    return np.asarray(pixels[:, :2] / pixels[:, 2:])


_CELLS, _CELL_PX, _FINER = 8, 40, 4


def put_marker(
    image: Picture,
    number: int,
    turned: Picture,
    place: Picture,
    size_m: float,
    calibration: Calibration,
) -> Picture:
    """The image with an AprilTag at a pose of the optical frame, its white margin around it.

    Args:
        turned: (3, 3), see `rotation`.
        place: (3,) of its centre in metres.
        size_m: side of the black square.
    """
    side = _CELLS * _CELL_PX
    texture = cv2.copyMakeBorder(
        marker_image(number, side), *[_CELL_PX] * 4, cv2.BORDER_CONSTANT, value=255
    )
    half = size_m / 2 * (_CELLS + 2) / _CELLS
    corners = np.array([(-half, half, 0), (half, half, 0), (half, -half, 0), (-half, -half, 0)])
    seen = project(corners @ np.asarray(turned).T + np.asarray(place), calibration)
    edge = texture.shape[0] - 0.5
    source = np.array([(-0.5, -0.5), (edge, -0.5), (edge, edge), (-0.5, edge)], np.float32)
    target = ((seen + 0.5) * _FINER - 0.5).astype(np.float32)
    warp = cv2.getPerspectiveTransform(source, target)
    height, width = image.shape[:2]
    large = (width * _FINER, height * _FINER)
    layers = [
        cv2.resize(
            cv2.warpPerspective(layer, warp, large, flags=cv2.INTER_LINEAR),
            (width, height),
            interpolation=cv2.INTER_AREA,
        ).astype(np.float32)
        for layer in (texture, np.full_like(texture, 255))
    ]
    paint, cover = layers[0], layers[1] / 255
    if image.ndim == 3:
        paint, cover = paint[:, :, None], cover[:, :, None]
    return np.clip(np.rint(image * (1 - cover) + paint), 0, 255).astype(np.uint8)


CALIBRATION = Calibration(width=640, height=480, k=(600, 0, 319.5, 0, 600, 239.5, 0, 0, 1))


# Scenes


def _table(height: int = 480, width: int = 640) -> Picture:
    image = np.full((height, width, 3), GROUND, np.uint8)
    cv2.rectangle(image, (24, 24), (width - 25, height - 25), WOOD, cv2.FILLED)
    for row in range(24, height - 25, 72):
        cv2.line(image, (24, row), (width - 25, row), WOOD_LINE, 1)
    return image


def _with_tray(image: Picture) -> Picture:
    cv2.rectangle(image, (368, 88), (592, 392), TRAY_RIM, cv2.FILLED)
    cv2.rectangle(image, (378, 98), (582, 382), TRAY, cv2.FILLED)
    return image


def _with_block(image: Picture, number: int, centre: tuple[int, int], angle: float) -> Picture:
    """A block seen from above, a marker on top of it."""
    side, rim = 64, 16
    block = np.full((side + 2 * rim, side + 2 * rim, 3), 255, np.uint8)
    cv2.rectangle(block, (0, 0), (side + 2 * rim - 1, side + 2 * rim - 1), BLUE, 5)
    block[rim : rim + side, rim : rim + side] = marker_image(number, side)[:, :, None]
    middle = (side + 2 * rim - 1) / 2
    turn = cv2.getRotationMatrix2D((middle, middle), angle, 1.0)
    turn[:, 2] += np.subtract(centre, middle)
    size = image.shape[1::-1]
    cover = cv2.warpAffine(np.full(block.shape, 255, np.uint8), turn, size) / 255.0
    drawn = cv2.warpAffine(block, turn, size)
    return np.rint(image * (1 - cover) + drawn).astype(np.uint8)


def _marker() -> Scene:
    image = _with_block(_with_tray(_table()), 3, (470, 210), 14)
    image = _with_block(image, 5, (190, 310), -20)
    return Scene("Block 3 lies on the tray.", observation(view("top", image)))


def _marker_pose() -> Scene:
    image = np.full((480, 640, 3), GROUND, np.uint8)
    # The camera looks down on the table by 35 degrees.
    upright = rotation(-55, 0)
    middle = np.array([0.0, 0.03, 0.52])
    edges = np.array([(-0.5, -0.25, 0), (0.5, -0.25, 0), (0.5, 0.35, 0), (-0.5, 0.35, 0)])
    table = np.rint(project(edges @ upright.T + middle, CALIBRATION)).astype(np.int32)
    cv2.fillPoly(image, [table], WOOD, cv2.LINE_AA)
    base = np.array([-0.11, -0.02, 0.0])
    image = put_marker(image, 0, upright, upright @ base + middle, 0.08, CALIBRATION)
    turned = rotation(-55, 0, 30)
    place = upright @ (base + np.array([0.18, 0.04, 0.0])) + middle
    image = put_marker(image, 3, turned, place, 0.06, CALIBRATION)
    return Scene(
        "Part 3 lies flat in its place, turned by 30 degrees.",
        observation(view("front", image, CALIBRATION)),
    )


def _colour() -> Scene:
    image = _with_tray(_table())
    cv2.circle(image, (470, 220), 58, RED, cv2.FILLED, cv2.LINE_AA)
    cv2.circle(image, (470, 220), 44, (150, 26, 24), cv2.FILLED, cv2.LINE_AA)
    cv2.ellipse(image, (532, 220), (18, 24), 0, 0, 360, RED, 10, cv2.LINE_AA)
    cv2.circle(image, (180, 300), 52, BLUE, cv2.FILLED, cv2.LINE_AA)
    cv2.circle(image, (180, 300), 40, (30, 62, 140), cv2.FILLED, cv2.LINE_AA)
    return Scene("The red cup stands on the tray.", observation(view("top", image)))


def _depth() -> Scene:
    rows, columns = np.mgrid[0:240, 0:320].astype(np.float32)
    depth = 1.25 - 0.0016 * rows + 0.00004 * (columns - 160)
    box = (slice(88, 180), slice(108, 206))
    depth[box] = 0.62 + 0.0002 * (rows[box] - 88)
    depth[180:206, 108:206] = 0.64 + (rows[180:206, 108:206] - 180) * 0.004
    # What a depth camera does not see: the shadow of the box, glare, a strip at the left.
    depth[84:206, 96:108] = np.nan
    depth[(rows - 60) ** 2 + (columns - 262) ** 2 < 330] = np.nan
    depth[:, :8] = np.nan
    return Scene("A box stands on the pallet.", observation(view("depth", depth)))


def _panel(up: bool, shift: tuple[int, int] = (0, 0)) -> Picture:
    image = np.full((480, 640, 3), (176, 180, 178), np.uint8)
    x, y = 320 + shift[0], 250 + shift[1]
    cv2.rectangle(image, (40, 40), (600, 440), (196, 199, 196), cv2.FILLED)
    cv2.rectangle(image, (x - 62, y - 82), (x + 62, y + 82), METAL, cv2.FILLED)
    cv2.rectangle(image, (x - 50, y - 70), (x + 50, y + 70), (226, 226, 220), cv2.FILLED)
    cv2.rectangle(image, (x - 22, y - 50), (x + 22, y + 50), DARK, cv2.FILLED)
    top = y - 46 if up else y + 6
    cv2.rectangle(image, (x - 18, top), (x + 18, top + 40), RED if up else (150, 150, 150), -1)
    cv2.line(image, (x - 12, top + 20), (x + 12, top + 20), (250, 250, 250), 3)
    for side, lit in ((-1, up), (1, False)):
        lamp = (96, 214, 108) if lit else (78, 92, 84)
        cv2.circle(image, (320 + side * 170, 130), 24, DARK, cv2.FILLED, cv2.LINE_AA)
        cv2.circle(image, (320 + side * 170, 130), 18, lamp, cv2.FILLED, cv2.LINE_AA)
    return image


def _template() -> Scene:
    before = _panel(up=True)
    reference = before[158:346, 243:397]
    now = np.rint(cv2.GaussianBlur(_panel(True, (9, -6)), (0, 0), 2.0) * 0.85).astype(np.uint8)
    references = {"references/switch_on.png": reference}
    return Scene("The switch is up.", observation(view("panel", now)), references)


def _cabinet(pulled_out: bool) -> Picture:
    image = np.full((480, 640, 3), (206, 204, 198), np.uint8)
    cv2.rectangle(image, (0, 430), (640, 480), (150, 140, 128), cv2.FILLED)
    cv2.rectangle(image, (130, 70), (510, 430), (168, 132, 96), cv2.FILLED)
    for top in (84, 202, 320):
        cv2.rectangle(image, (144, top), (496, top + 100), (190, 154, 116), cv2.FILLED)
        cv2.rectangle(image, (144, top), (496, top + 100), (138, 106, 74), 2)
        cv2.rectangle(image, (290, top + 40), (350, top + 54), DARK, cv2.FILLED)
    if pulled_out:
        cv2.rectangle(image, (144, 202), (496, 302), (64, 50, 38), cv2.FILLED)
        cv2.rectangle(image, (132, 236), (508, 346), (204, 168, 130), cv2.FILLED)
        cv2.rectangle(image, (132, 236), (508, 346), (138, 106, 74), 2)
        cv2.rectangle(image, (286, 282), (354, 298), DARK, cv2.FILLED)
    return image


def _changed() -> Scene:
    now = np.clip(np.rint(_cabinet(pulled_out=True) * 1.08), 0, 255).astype(np.uint8)
    references = {"references/drawers_closed.png": _cabinet(pulled_out=False)}
    seen = observation(view("cabinet", now))
    return Scene("The middle drawer is open.", seen, references)


def _signal() -> Scene:
    width = Signal(name="gripper_width", value=0.0488, unit="m", stamp_ns=10_200_000_000)
    return Scene("The gripper holds a block.", observation(signals=(width,)))


def _clearance() -> Scene:
    distances = Clearance(front=0.31, left=1.2, right=0.9, rear=float("inf"))
    return Scene("The robot stands in front of the shelf.", observation(clearance=distances))


SCENES: dict[str, Callable[[], Scene]] = {
    "marker": _marker,
    "marker_pose": _marker_pose,
    "colour": _colour,
    "depth": _depth,
    "template": _template,
    "changed": _changed,
    "signal": _signal,
    "clearance": _clearance,
}
"""A scene for each check, in which the example of docs/checks.md holds."""
