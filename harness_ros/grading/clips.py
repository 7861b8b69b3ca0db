# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A short video of the last seconds of a run, one a camera, that a browser plays: VP8 in WebM."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import cv2
from numpy.typing import NDArray

from harness_ros.bag.reading import Bag
from harness_ros.bag.recorded_runs import RecordedRun
from harness_ros.capture.images import ImageError, decode, to_rgb
from harness_ros.capture.sample import NANOSECONDS
from harness_ros.config import EvaluationConfig
from harness_ros.contract import HarnessError

BEFORE_S = 4.0
AFTER_S = 1.5
WIDTH_PX = 640
MOST_FPS, LEAST_FPS = 30.0, 1.0


class ClipError(HarnessError):
    """A video that cannot be written; the text names its file."""


class Frame(NamedTuple):
    """One picture of a clip."""

    stamp_ns: int
    """Time of recording."""
    pixels: NDArray[Any]
    """BGR uint8 (height, width, 3), both even."""


def write_clips(
    bag: Bag, config: EvaluationConfig, recorded: RecordedRun, folder: Path
) -> dict[str, Path]:
    """Writes a clip of each camera of the run's tool that has frames around its end.

    Returns:
        The file of each camera.

    Raises:
        ClipError: OpenCV was built without VP8, or the file cannot be written.
    """
    written = {}
    for camera in config.tools[recorded.run.tool_name].cameras:
        frames = list(_frames(bag, config, recorded, camera))
        if frames:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{camera}.webm"
            _write(path, frames)
            written[camera] = path
    return written


def _frames(
    bag: Bag, config: EvaluationConfig, recorded: RecordedRun, camera: str
) -> Iterator[Frame]:
    end_ns = recorded.finished_ns or recorded.armed_ns
    start_ns = max(recorded.armed_ns, end_ns - round(BEFORE_S * NANOSECONDS))
    stop_ns = end_ns + round(AFTER_S * NANOSECONDS)
    size: tuple[int, int] | None = None
    for view in bag.frames(config, recorded, camera, start_ns, stop_ns):
        try:
            pixels = cv2.cvtColor(to_rgb(decode(view)), cv2.COLOR_RGB2BGR)
        except ImageError:
            continue
        size = size or _size(pixels)
        yield Frame(view.stamp_ns, cv2.resize(pixels, size, interpolation=cv2.INTER_AREA))


def _size(pixels: NDArray[Any]) -> tuple[int, int]:
    height, width = pixels.shape[:2]
    scale = min(1.0, WIDTH_PX / width)
    # The codec halves the resolution of colour: an odd side has no half.
    return max(2, round(width * scale / 2) * 2), max(2, round(height * scale / 2) * 2)


def _write(path: Path, frames: Sequence[Frame]) -> None:
    lasted_s = (frames[-1].stamp_ns - frames[0].stamp_ns) / NANOSECONDS
    fps = (len(frames) - 1) / lasted_s if lasted_s > 0 else LEAST_FPS
    height, width = frames[0].pixels.shape[:2]
    with _without_stderr():
        writer = cv2.VideoWriter(
            str(path),
            cv2.VideoWriter.fourcc(*"VP80"),
            min(MOST_FPS, max(LEAST_FPS, fps)),
            (width, height),
        )
    if not writer.isOpened():
        raise ClipError(f"{path}: OpenCV cannot write VP8 video here")
    try:
        for frame in frames:
            writer.write(frame.pixels)
    finally:
        writer.release()


@contextmanager
def _without_stderr() -> Iterator[None]:
    """OpenCV says of every WebM that it does not know the tag of its codec, past all settings."""
    try:
        kept = os.dup(2)
    except OSError:
        yield  # it is closed
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
