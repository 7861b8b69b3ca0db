# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The robot of the benchmarks: three cameras, a tool that looks at them, its eval.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

CAMERAS = ("front", "top", "wrist")
TOOL = "look"
RATE_HZ = 30.0
SLOP_S = 0.05
GREY = 120
"""The colour of every frame; that of the criterion."""


@dataclass(frozen=True)
class Size:
    """Size of a frame in pixels."""

    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


VGA, HD = Size(640, 480), Size(1280, 720)
SMALL = Size(64, 48)


def topic(camera: str) -> str:
    """Topic of a camera."""
    return f"/bench/{camera}/image_raw"


def configuration(folder: Path, timeout_s: float = 5.0, cameras: tuple[str, ...] = CAMERAS) -> Path:
    """Writes the eval.yaml of the benchmarks.

    The criterion is cheap: a hundredth of the pixels of one view, looked at for a colour.

    Args:
        timeout_s: how long the evaluator waits for frames.
        cameras: that the tool needs.
    """
    colour = {
        "view": cameras[0],
        "ranges": [{"low": [0, 0, GREY - 20], "high": [180, 40, GREY + 20]}],
        "region": [0.45, 0.45, 0.55, 0.55],
        "min_fraction": 0.5,
    }
    path = folder / "eval.yaml"
    text = yaml.safe_dump(
        {
            "version": 1,
            "cameras": {camera: {"topic": topic(camera)} for camera in cameras},
            "capture": {"settle_s": 0.0, "slop_s": SLOP_S, "timeout_s": timeout_s},
            "judges": {"deterministic": {"type": "deterministic", "timeout_s": 10.0}},
            "tools": {
                TOOL: {
                    "post_condition": "The middle of the picture is grey.",
                    "judge": "deterministic",
                    "cameras": list(cameras),
                    "timeout_s": 300.0,
                    "criterion": {"success": {"colour": colour}},
                }
            },
        }
    )
    path.write_text(text)
    return path
