# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Observations for judges: markers drawn into images, frames and signals put together."""

import importlib.util
from pathlib import Path

import cv2
import numpy as np
import pytest

from harness_ros.contract import Observation, Signal, View
from harness_ros.judges.checks import Observed, registry
from harness_ros.judges.criterion import Criterion
from harness_ros.judges.deterministic import measure

APRILTAG = "DICT_APRILTAG_36h11"
SCENES = Path(__file__).parents[2] / "scripts" / "check_scenes.py"


def _marker(number, side, dictionary):
    aruco = cv2.aruco
    code = getattr(aruco, dictionary)
    if hasattr(aruco, "generateImageMarker"):
        return aruco.generateImageMarker(aruco.getPredefinedDictionary(code), number, side)
    return aruco.drawMarker(aruco.Dictionary_get(code), number, side)


@pytest.fixture(autouse=True)
def checks_as_they_were():
    """What a test registers is gone with it."""
    kept = [(table, dict(table)) for table in (registry._checks, registry._drawings)]
    yield
    for table, before in kept:
        table.clear()
        table.update(before)


@pytest.fixture(scope="session")
def scenes():
    """The module with the drawn scenes of docs/checks.md: markers in space, depth, references."""
    spec = importlib.util.spec_from_file_location("check_scenes", SCENES)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def find():
    """find(check, observation, **parameters) -> what the check finds, as a judge has it."""

    def measured(name, observation, /, **parameters):
        node = {"success": {name: parameters}}
        (check,) = Criterion.model_validate(node).checks()
        return measure(check, Observed(observation))

    return measured


@pytest.fixture
def picture():
    """picture((id, x, y, side), ...) -> RGB (480, 640, 3); x and y are the centre in pixels."""

    def draw(*markers, dictionary=APRILTAG, shape=(480, 640)):
        image = np.full((*shape, 3), 200, np.uint8)
        for number, x, y, side in markers:
            top, left = y - side // 2, x - side // 2
            drawn = _marker(number, side, dictionary)
            image[top - 8 : top + side + 8, left - 8 : left + side + 8] = 255
            image[top : top + side, left : left + side] = drawn[:, :, None]
        return image

    return draw


@pytest.fixture
def observe():
    """observe({view: array or View}, {signal: value}) -> Observation."""

    def put_together(images=None, signals=None):
        views = [
            image if isinstance(image, View) else _view(name, image)
            for name, image in (images or {}).items()
        ]
        return Observation(
            run_id="run-1",
            captured_at_ns=1,
            views=tuple(views),
            signals=tuple(
                Signal(name=name, value=value, unit="m", stamp_ns=1)
                for name, value in (signals or {}).items()
            ),
        )

    return put_together


def _view(name, image):
    encoding = {"uint8": "rgb8" if image.ndim == 3 else "mono8", "float32": "32FC1"}
    return View(
        name=name,
        stamp_ns=1,
        frame_id=name,
        height=image.shape[0],
        width=image.shape[1],
        encoding=encoding[str(image.dtype)],
        step=image.strides[0],
        is_bigendian=False,
        data=image.tobytes(),
        topic=f"/{name}/image_raw",
    )
