# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The pictures of each run on the disk, from their making until the report is written."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from harness_ros.capture.images import ImageError, to_rgb
from harness_ros.config import EvaluationConfig
from harness_ros.grading.report import ReportView, picture_of
from harness_ros.grading.row import GradedRun
from harness_ros.judges import Criterion, Observed
from harness_ros.judges.drawing import Heading, draw
from harness_ros.judges.explanation import explain

CHECKS = 1000
"""Number of the picture that shows what the checks see; the others count the views from 0."""
CHECKS_LONGEST_PX = 1700
"""A sheet of three views is narrower: it is shown as it was drawn, with letters that are sharp."""
PICTURE_NAME = re.compile(r"(\d+)-(\d+)x(\d+)-(.+)\.jpg")
"""Number, width and height in pixels, name."""


def view_folder(out: Path, row: GradedRun) -> Path:
    """Where the pictures of a run are; ids may hold anything, so it is a digest."""
    digest = hashlib.sha256(f"{row.bag}\n{row.run_id}".encode("utf-8", "surrogatepass"))
    return out / "views" / digest.hexdigest()[:24]


def keep_pictures(
    folder: Path, row: GradedRun, observed: Observed, config: EvaluationConfig
) -> None:
    """The views for the report, and where there is a criterion what its checks see in them."""
    folder.mkdir(parents=True, exist_ok=True)
    views = observed.observation.views
    for number, view in enumerate(views):
        try:
            pixels = to_rgb(observed.image(view.name))
        except ImageError:
            continue
        _keep(folder, number, picture_of(view.name, pixels))
    criterion = config.criterion(row.tool_name, row.arguments)
    if criterion and views:
        heading = Heading(row.status, row.kind, row.post_condition, reason=row.failure_reason)
        drawn = draw(heading, explain(Criterion.model_validate_json(criterion), observed))
        _keep(folder, CHECKS, picture_of("checks", drawn, longest_px=CHECKS_LONGEST_PX))


def kept_views(folder: Path) -> Sequence[ReportView]:
    """The views that were kept of a run."""
    return _kept(folder, lambda number: number != CHECKS)


def kept_checks(folder: Path) -> ReportView | None:
    """What the checks of a run see."""
    return next(iter(_kept(folder, lambda number: number == CHECKS)), None)


def _keep(folder: Path, number: int, picture: ReportView) -> None:
    name = f"{number}-{picture.width}x{picture.height}-{picture.name}.jpg"
    (folder / name).write_bytes(picture.jpeg)


def _kept(folder: Path, wanted: Callable[[int], bool]) -> list[ReportView]:
    """The wanted pictures of a run by their numbers; their names tell their sizes."""
    found = []
    for path in folder.glob("*.jpg"):
        match = PICTURE_NAME.fullmatch(path.name)
        if match is not None:
            number, width, height = (int(match[group]) for group in (1, 2, 3))
            if wanted(number):
                found.append((number, ReportView(match[4], path.read_bytes(), width, height)))
    return [view for _, view in sorted(found, key=lambda item: item[0])]
