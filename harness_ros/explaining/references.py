# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures for `template` and `changed`, taken from recorded runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from harness_ros.capture.images import decode, encode_png
from harness_ros.config import EvaluationConfig
from harness_ros.config.references import MAX_BYTES
from harness_ros.contract import HarnessError
from harness_ros.explaining.recordings import Recording, find_run
from harness_ros.judges.checks import WHOLE_IMAGE, Rectangle

JPEG_QUALITY = 95


class ReferenceFileError(HarnessError):
    """A reference that cannot be made."""


def store_reference(
    recording: Recording,
    prefix: str,
    config: EvaluationConfig | None,
    view: str,
    out: Path,
    region: Rectangle = WHOLE_IMAGE,
) -> str:
    """Writes a region of a recorded view as a PNG or JPEG file.

    Args:
        prefix: of the run's id, as much as makes it the only one.
        view: name of the camera.
        out: ends in .png, .jpg or .jpeg.

    Returns:
        What was written, in a line of text.

    Raises:
        ReferenceFileError: there is no such view, it holds depth, or the file cannot be written or
            would be too large.
        RecordingError: there is no such run, or more than one.
        NoObservationError: nothing was seen after the run.
        ImageError: the view cannot be decoded.
    """
    run = find_run(recording, prefix).run
    observation = recording.observation(run, config)
    frame = observation.view(view)
    if frame is None:
        names = [item.name for item in observation.views]
        raise ReferenceFileError(
            f"{recording.name}: run {run.run_id} has no view '{view}'; it has {names}"
        )
    image = decode(frame)
    if image.dtype != np.uint8:
        raise ReferenceFileError(
            f"view '{view}' holds depth; a reference is colour or grey (see the check `depth`)"
        )
    picture = region.crop(image)
    height, width = picture.shape[:2]
    data = _encoded(picture, out)
    if len(data) > MAX_BYTES:
        raise ReferenceFileError(
            f"{out}: {width}x{height} pixels make {len(data)} bytes, at most {MAX_BYTES} are "
            "allowed: choose a smaller --region, or a name that ends in .jpg"
        )
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(data)
    except OSError as error:
        raise ReferenceFileError(f"{out}: {error.strerror or error}") from None
    return f"{out}: {width}x{height} pixels, region {region} of {view} after run {run.run_id}"


def _encoded(picture: NDArray[Any], out: Path) -> bytes:
    if out.suffix == ".png":
        return encode_png(picture)
    if out.suffix not in (".jpg", ".jpeg"):
        raise ReferenceFileError(f"{out}: a name that ends in .png, .jpg or .jpeg is wanted")
    bgr = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_RGB2BGR)
    _, data = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return data.tobytes()
