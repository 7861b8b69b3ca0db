# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The work of grading cut into pieces that any process can do, and what comes of a piece."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from harness_ros.bag.reading import Bag, RecordedRun
from harness_ros.bag.run_sources import ActionTool, runs_of_actions, runs_of_file
from harness_ros.capture.images import ImageError
from harness_ros.config import EvaluationConfig, load
from harness_ros.contract import HarnessError, Observation
from harness_ros.grading.clips import write_clips
from harness_ros.grading.grade import Graded, grade, judges_of
from harness_ros.grading.report import ReportView, picture_of, view_of
from harness_ros.grading.row import BagProblem, GradedRun
from harness_ros.judges import Criterion
from harness_ros.judges.drawing import Heading, draw
from harness_ros.judges.explanation import explain

RUNS_A_PIECE = 8
CHECKS = 1000
"""Number of the picture that shows what the checks see; the others count the views from 0."""
PICTURE_NAME = re.compile(r"(\d+)-(\d+)x(\d+)-(.+)\.jpg")
"""Number, width and height in pixels, name."""


@dataclass(frozen=True)
class Task:
    """What every piece of a grading has in common."""

    config: Path
    views: Path
    """Folder for the pictures of the report."""
    namespace: str = "/harness"
    """Of relative topics where runs do not come from ToolRun messages."""
    tools: tuple[ActionTool, ...] = ()
    """Actions whose goals are runs, in bags without ToolRun messages."""
    runs: Path | None = None
    """File of runs, for bags without ToolRun messages."""
    definitions: tuple[Path, ...] = ()
    """Folders of message definitions."""
    clips: bool = False
    """Whether a video of each camera is made of each run."""


@dataclass(frozen=True)
class Piece:
    """Some runs of one bag."""

    bag: str
    run_ids: tuple[str, ...]


@dataclass
class Outcome:
    """What comes of a piece."""

    rows: list[GradedRun] = field(default_factory=list)
    problems: list[BagProblem] = field(default_factory=list)


def runs_of(task: Task, name: str) -> tuple[list[RecordedRun], list[str]]:
    """The runs of a bag in the order in which they began, and what is wrong in it.

    Raises:
        BagReadError: nothing of the bag can be read, or it has no runs.
        RunFileError: the file of runs cannot be used.
    """
    bag = _opened(task, name)
    if not bag.has_runs:
        if task.runs is not None:
            return runs_of_file(task.runs, task.namespace), bag.problems
        if task.tools:
            return runs_of_actions(bag.storage, task.tools, task.namespace), bag.problems
    runs = bag.runs()
    return runs, [*bag.problems, *bag.unreadable]


def pieces(name: str, run_ids: Sequence[str]) -> list[Piece]:
    """The runs of a bag, a few in each piece."""
    return [
        Piece(name, tuple(run_ids[start : start + RUNS_A_PIECE]))
        for start in range(0, len(run_ids), RUNS_A_PIECE)
    ]


def work(task: Task, piece: Piece) -> Outcome:
    """Grades the runs of a piece; what goes wrong is part of what comes of it."""
    outcome = Outcome()
    try:
        config = _config(task.config)
        bag = _opened(task, piece.bag)
        known = {item.run.run_id: item for item in _runs(task, piece.bag)}
    except HarnessError as error:
        outcome.problems.append(BagProblem(bag=piece.bag, problem=str(error)))
        return outcome
    judges = judges_of(config)
    for run_id in piece.run_ids:
        graded = grade(bag, piece.bag, known[run_id], config, judges)
        outcome.rows.append(graded.row)
        try:
            _show(task, bag, config, known[run_id], graded)
        except (HarnessError, OSError) as error:
            # The verdict stands without its pictures.
            said = f"run {run_id}: not all of its pictures and clips: {error}"
            outcome.problems.append(BagProblem(bag=piece.bag, problem=said))
    return outcome


def _show(
    task: Task, bag: Bag, config: EvaluationConfig, recorded: RecordedRun, graded: Graded
) -> None:
    """Writes the pictures and clips of a run, in place of those of an earlier grading."""
    folder = view_folder(task.views, graded.row)
    if folder.exists():
        shutil.rmtree(folder)
    if graded.observation is not None:
        _keep_pictures(folder, graded.row, graded.observation, config)
    if task.clips and graded.row.tool_name in config.tools:
        write_clips(bag, config, recorded, folder)


def view_folder(folder: Path, row: GradedRun) -> Path:
    """Where the pictures of a run are; ids may hold anything, so it is a digest."""
    digest = hashlib.sha256(f"{row.bag}\n{row.run_id}".encode("utf-8", "surrogatepass"))
    return folder / digest.hexdigest()[:24]


def _keep_pictures(
    folder: Path, row: GradedRun, observation: Observation, config: EvaluationConfig
) -> None:
    """The views for the report, and where there is a criterion what its checks see in them."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, view in enumerate(observation.views):
        try:
            _keep(folder, number, view_of(view))
        except ImageError:
            continue
    criterion = config.criterion(row.tool_name, row.arguments)
    if criterion and observation.views:
        heading = Heading(row.status, row.kind, row.post_condition, reason=row.failure_reason)
        explanation = explain(Criterion.model_validate_json(criterion), observation)
        _keep(folder, CHECKS, picture_of("checks", draw(heading, explanation), longest_px=1200))


def _keep(folder: Path, number: int, picture: ReportView) -> None:
    name = f"{number}-{picture.width}x{picture.height}-{picture.name}.jpg"
    (folder / name).write_bytes(picture.jpeg)


@lru_cache(maxsize=4)
def _config(path: Path) -> EvaluationConfig:
    return load(path)


@lru_cache(maxsize=2)
def _opened(task: Task, name: str) -> Bag:
    return Bag(Path(name), task.definitions)


@lru_cache(maxsize=2)
def _runs(task: Task, name: str) -> tuple[RecordedRun, ...]:
    return tuple(runs_of(task, name)[0])
