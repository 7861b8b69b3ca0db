# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the cameras see."""

from __future__ import annotations

import sys

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from harness_ros.sim import gl
from harness_ros.sim.cameras import CAMERAS, Cameras, intrinsics, project
from harness_ros.sim.errors import RenderingError, SimError
from harness_ros.sim.geometry import BLOCKS, GEOMETRY, MARKERS
from harness_ros.sim.world import Tabletop

HALF = GEOMETRY.block / 2


@pytest.mark.parametrize("name", CAMERAS)
def test_each_camera_renders_an_image_of_its_size(cameras: Cameras, name: str) -> None:
    image = cameras.render(name)
    assert image.shape == (CAMERAS[name].height, CAMERAS[name].width, 3)
    assert image.dtype == np.uint8
    assert image.std() > 10


def test_the_top_camera_sees_every_tag_where_geometry_says(
    world: Tabletop, cameras: Cameras
) -> None:
    seen = _tags(cameras.render("top"))
    for block in BLOCKS:
        x, y, z = world.position(block)
        expected = project(CAMERAS["top"], (x, y, z + HALF))
        assert min(np.abs(np.subtract(tag, expected)).max() for tag in seen[MARKERS[block]]) < 0.004


def test_the_front_camera_sees_the_tag_of_a_held_block(
    world: Tabletop, cameras: Cameras, run
) -> None:
    for block in BLOCKS:
        run("pick", target=block)
        x, y, z = world.position(block)
        expected = project(CAMERAS["front"], (x, y - HALF, z))
        tags = _tags(cameras.render("front"))[MARKERS[block]]
        assert min(np.abs(np.subtract(tag, expected)).max() for tag in tags) < 0.01


def test_the_wrist_camera_sees_the_tag_of_a_held_block(cameras: Cameras, run) -> None:
    run("pick", target="blue_block")
    assert MARKERS["blue_block"] in _tags(cameras.render("wrist"))


def test_the_same_world_renders_the_same_image(cameras: Cameras) -> None:
    assert np.array_equal(cameras.render("front"), cameras.render("front"))


def test_an_unknown_camera_is_an_error_that_names_the_others(cameras: Cameras) -> None:
    with pytest.raises(SimError, match="front, top, wrist"):
        cameras.render("rear")


def test_a_machine_that_cannot_render_is_told_what_to_install(
    world: Tabletop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUJOCO_GL", "disable")
    with pytest.raises(RenderingError, match="apt-get install libegl1 libgl1 libosmesa6"):
        Cameras(world).render("top")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have a default that renders")
def test_mujoco_imported_too_early_is_an_error_and_not_the_end_of_the_process(
    world: Tabletop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MUJOCO_GL")
    with pytest.raises(RenderingError, match="imported before"):
        Cameras(world).render("top")


@pytest.mark.parametrize(
    ("egl", "osmesa", "chosen"),
    [(True, True, "egl"), (False, True, "osmesa"), (False, False, "disable")],
)
def test_rendering_falls_back_from_egl_to_osmesa_to_none(
    monkeypatch: pytest.MonkeyPatch, egl: bool, osmesa: bool, chosen: str
) -> None:
    monkeypatch.setattr(gl, "_egl_works", lambda: egl)
    monkeypatch.setattr(gl, "_osmesa_works", lambda: osmesa)
    assert gl.choose() == chosen


def test_intrinsics_agree_with_the_projection() -> None:
    camera = CAMERAS["top"]
    fx, fy, cx, cy = intrinsics(camera)
    x, y, z = 0.1, 0.2, 0.05
    depth = camera.eye[2] - z
    u = fx * (x - camera.eye[0]) / depth + cx
    v = -fy * (y - camera.eye[1]) / depth + cy
    expected = project(camera, (x, y, z))
    assert (u + 0.5) / camera.width == pytest.approx(expected[0], abs=1e-6)
    assert (v + 0.5) / camera.height == pytest.approx(expected[1], abs=1e-6)


def _tags(image: NDArray[np.uint8]) -> dict[int, list[tuple[float, float]]]:
    """Centres of the tags by marker id, as fractions of the image's size."""
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11)
    detector = cv2.aruco.ArucoDetector(dictionary, cv2.aruco.DetectorParameters())
    corners, ids, _ = detector.detectMarkers(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY))
    height, width, _ = image.shape
    found: dict[int, list[tuple[float, float]]] = {}
    for marker, quad in zip([] if ids is None else ids.ravel(), corners, strict=True):
        u, v = (quad[0].mean(axis=0) + 0.5) / (width, height)
        found.setdefault(int(marker), []).append((float(u), float(v)))
    return found
