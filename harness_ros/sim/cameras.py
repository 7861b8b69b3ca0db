# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the cameras see."""

from __future__ import annotations

from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from harness_ros.sim import gl, model
from harness_ros.sim.errors import RenderingError, SimError
from harness_ros.sim.geometry import GEOMETRY, XYZ, CameraGeometry
from harness_ros.sim.world import Tabletop

CAMERAS: Final = GEOMETRY.cameras
"""The cameras by name: `front`, `top`, `wrist`."""


class Cameras:
    """Renders a tabletop; also a context manager that closes itself.

    The OpenGL context belongs to the thread that renders first; render and close there.

    Args:
        world: What to render.
    """

    def __init__(self, world: Tabletop) -> None:
        self._world = world
        self._renderers: dict[tuple[int, int], mujoco.Renderer] = {}

    def render(self, name: str) -> NDArray[np.uint8]:
        """What a camera sees now.

        Returns:
            RGB of shape (height, width, 3), uint8, first row on top; the caller owns it.

        Raises:
            SimError: No camera has this name.
            RenderingError: Nothing renders on this machine.
        """
        camera = CAMERAS.get(name)
        if camera is None:
            raise SimError(f"no camera {name!r}; there are {', '.join(CAMERAS)}")
        renderer = self._renderer(camera.height, camera.width)
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = camera.shadows
        renderer.update_scene(self._world.data, camera=name)
        image: NDArray[np.uint8] = renderer.render()
        return image

    def close(self) -> None:
        """Frees the OpenGL contexts."""
        while self._renderers:
            self._renderers.popitem()[1].close()

    def __enter__(self) -> Cameras:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _renderer(self, height: int, width: int) -> mujoco.Renderer:
        size = (height, width)
        if size not in self._renderers:
            backend = gl.require()
            try:
                self._renderers[size] = mujoco.Renderer(self._world.model, height, width)
            except (ImportError, AttributeError, RuntimeError, mujoco.FatalError) as error:
                raise RenderingError(f"{backend}: {error}; {gl.HINT}") from error
        return self._renderers[size]


def intrinsics(camera: CameraGeometry) -> tuple[float, float, float, float]:
    """Focal lengths and principal point in pixels (fx, fy, cx, cy), as CameraInfo wants them."""
    focal = camera.height / 2 / float(np.tan(np.radians(camera.fovy) / 2))
    return focal, focal, (camera.width - 1) / 2, (camera.height - 1) / 2


def project(camera: CameraGeometry, point: XYZ) -> tuple[float, float]:
    """Where a fixed camera sees a point of its frame, as fractions of width and height.

    The origin is the image's top left corner.
    """
    right, up, forward = (np.array(axis) for axis in model.axes(camera))
    ray = np.subtract(point, camera.eye)
    focal = 0.5 / np.tan(np.radians(camera.fovy) / 2)
    aspect = camera.width / camera.height
    depth = float(ray @ forward)
    return (
        float(0.5 + focal * (ray @ right) / depth / aspect),
        float(0.5 - focal * (ray @ up) / depth),
    )
