# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Images on the surfaces of the scene, drawn when the model is built and handed over in memory."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from harness_ros.sim.geometry import MARKERS, ZONES

Image = NDArray[np.uint8]

COLOURS = {
    "red_block": (214, 40, 40),
    "green_block": (34, 160, 84),
    "blue_block": (33, 98, 214),
    "yellow_block": (245, 190, 20),
}
"""RGB of each block's rim."""

PADS = {"left_zone": (132, 118, 168), "right_zone": (118, 148, 158)}
"""RGB of each zone; muted, so that no block's colour range matches."""

_MODULE = 44
_TAG_MODULES = 8
_QUIET_MODULES = 1
_RIM = 30


def tag_face(marker: int, rim: tuple[int, int, int]) -> Image:
    """A block's face: AprilTag 36h11, one white module around it, a coloured rim.

    Returns:
        RGB uint8 of shape (500, 500, 3); for a 5 cm block one pixel is 0.1 mm.
    """
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11)
    tag = cv2.aruco.generateImageMarker(dictionary, marker, _TAG_MODULES * _MODULE)
    quiet = _QUIET_MODULES * _MODULE
    white = cv2.copyMakeBorder(tag, quiet, quiet, quiet, quiet, cv2.BORDER_CONSTANT, value=255)
    face = cv2.cvtColor(white, cv2.COLOR_GRAY2RGB)
    return np.asarray(
        cv2.copyMakeBorder(face, _RIM, _RIM, _RIM, _RIM, cv2.BORDER_CONSTANT, value=rim), np.uint8
    )


def pad(letter: str, colour: tuple[int, int, int]) -> Image:
    """A zone's surface: a frame and a letter. RGB uint8 of shape (384, 384, 3)."""
    size = 384
    image = np.full((size, size, 3), colour, np.uint8)
    light = tuple(int(c + (255 - c) * 0.75) for c in colour)
    cv2.rectangle(image, (9, 9), (size - 10, size - 10), light, 10, cv2.LINE_AA)
    font, scale, weight = cv2.FONT_HERSHEY_SIMPLEX, 5.0, 22
    (width, height), _ = cv2.getTextSize(letter, font, scale, weight)
    corner = ((size - width) // 2, (size + height) // 2)
    cv2.putText(image, letter, corner, font, scale, light, weight, cv2.LINE_AA)
    return image


def wood(seed: int = 4) -> Image:
    """The table's surface: pale boards with a faint grain. RGB uint8 of shape (512, 512, 3)."""
    size, boards = 512, 4
    rng = np.random.default_rng(seed)
    noise = cv2.GaussianBlur(rng.standard_normal((size, size)), (0, 0), sigmaX=40, sigmaY=0.9)
    grain = noise / np.abs(noise).max()
    tone = np.repeat(rng.uniform(-0.5, 0.5, boards), size // boards)[:, None]
    value = 6.0 * grain + 7.0 * tone
    value[:: size // boards] -= 14.0
    return np.clip(np.array([222.0, 204.0, 178.0]) + value[..., None], 0, 255).astype(np.uint8)


def assets() -> dict[str, bytes]:
    """All textures as PNG files in memory, by the file name that the model uses."""
    images = {f"{name}.png": tag_face(MARKERS[name], COLOURS[name]) for name in MARKERS}
    images |= {f"{name}.png": pad(name[0].upper(), PADS[name]) for name in ZONES}
    images["wood.png"] = wood()
    return {name: _png(image) for name, image in images.items()}


def _png(image: Image) -> bytes:
    done, data = cv2.imencode(".png", cv2.cvtColor(image, cv2.COLOR_RGB2BGR))
    if not done:
        raise RuntimeError("OpenCV could not encode a PNG texture")
    return data.tobytes()
