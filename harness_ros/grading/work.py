# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The work of grading cut into pieces that any process can do, and what comes of a piece."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import cv2

from harness_ros.bag.reading import Bag
from harness_ros.bag.recorded_runs import RecordedRun
from harness_ros.bag.run_sources import ActionTool, runs_of_actions, runs_of_file
from harness_ros.bag.storage import Progress
from harness_ros.capture.memory import keep_freed_memory
from harness_ros.config import EvaluationConfig, load
from harness_ros.contract import HarnessError
from harness_ros.grading.clips import write_clips
from harness_ros.grading.grade import Graded, grade, judges_of
from harness_ros.grading.kept_pictures import keep_pictures, view_folder
from harness_ros.grading.row import BagProblem, GradedRun
from harness_ros.judges import Judge
from harness_ros.judges.checks import LastObserved
from harness_ros.judges.model.funds import Purse

RUNS_A_PIECE = 4
FIRST_RUNS = 2
"""Runs in the first piece of a bag: what comes of a piece is seen once all of it is done."""


@dataclass(frozen=True)
class Task:
    """What every piece of a grading has in common."""

    config: Path
    out: Path
    """Folder of the grading; the pictures of its report are below."""
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
    accounts: Path | None = None
    """Where workers share the spending caps of judges."""
    pictures: bool = True
    """Whether anything is written for the report."""


@dataclass(frozen=True)
class Piece:
    """Some runs of one bag that follow each other."""

    bag: str
    run_ids: tuple[str, ...]
    wanted: tuple[RecordedRun, ...]
    """Those of them that are to be graded."""
    alone: bool = False
    """Whether one worker is to do all of its bag, because that is read through to be opened."""


@dataclass
class Outcome:
    """What comes of a piece."""

    rows: list[GradedRun] = field(default_factory=list)
    problems: list[BagProblem] = field(default_factory=list)


def runs_of(task: Task, bag: Bag) -> tuple[list[RecordedRun], list[str]]:
    """The runs of a bag in the order in which they began, and what is wrong in it.

    Raises:
        BagReadError: the bag has no runs.
        RunFileError: the file of runs cannot be used.
    """
    if not bag.has_runs:
        if task.runs is not None:
            return runs_of_file(task.runs, task.namespace), bag.problems
        if task.tools:
            runs, wrong = runs_of_actions(bag.storage, task.tools, task.namespace)
            return runs, [*bag.problems, *wrong]
    runs, problems = bag.runs(), [*bag.problems, *bag.unreadable]
    if task.runs is not None or task.tools:
        source = "--tool" if task.runs is None else "--runs"
        problems.append(f"its ToolRun messages say what its runs are: {source} was not looked at")
    return runs, problems


def pieces(
    bag: str,
    runs: Sequence[RecordedRun],
    wanted: Callable[[RecordedRun], bool],
    *,
    whole: bool = False,
    alone: bool = False,
) -> Iterator[Piece]:
    """The runs of a bag, a few in each piece.

    Args:
        wanted: whether a run is to be graded.
        whole: all runs in one piece.
        alone: see `Piece`.
    """
    starts = [0] if whole else [0, *range(FIRST_RUNS, len(runs), RUNS_A_PIECE)]
    for start, end in zip(starts, [*starts[1:], len(runs)], strict=True):
        part = runs[start:end]
        if not part:
            continue
        ids = tuple(item.run.run_id for item in part)
        yield Piece(bag, ids, tuple(filter(wanted, part)), alone)


class OpenBag:
    """The bag that is worked on. It stays open until the next one is, or until this is closed.

    A bag without an index is read through each time that it is opened, and a compressed one
    decompressed: of as many as are open, there is a copy on the disk.
    """

    def __init__(self, definitions: Sequence[Path] = ()) -> None:
        self._definitions = definitions
        self._name: str | None = None
        self._bag: Bag | None = None

    def get(self, name: str, progress: Progress | None = None) -> Bag:
        """The bag of this name.

        Raises:
            BagReadError: it cannot be read.
        """
        if self._bag is None or self._name != name:
            self.close()
            self._bag, self._name = Bag(Path(name), self._definitions, progress), name
        return self._bag

    def close(self) -> None:
        """Closes the bag that is open."""
        if self._bag is not None:
            self._bag.close()
        self._bag = None

    def __enter__(self) -> OpenBag:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@cache
def as_worker() -> None:
    """Makes this process a worker: it takes one processor, and keeps memory that it freed.

    OpenCV would have a thread for each processor, in the way of other workers.
    """
    keep_freed_memory()
    cv2.setNumThreads(1)
    # What is loaded stays: it need not be looked through for garbage, neither now nor at the end.
    gc.freeze()


class Worker:
    """Does one piece after the other.

    Args:
        open_bag: where bags are opened; whoever made it closes it.
        wanted: whether somebody still waits for what is done.
    """

    def __init__(
        self, task: Task, open_bag: OpenBag, wanted: Callable[[], bool] = lambda: True
    ) -> None:
        self._task, self._open_bag, self._wanted = task, open_bag, wanted
        self._config: EvaluationConfig | None = None
        self._judges: Mapping[str, Judge] = {}
        self._observed = LastObserved()

    def work(self, piece: Piece) -> Outcome:
        """Grades the runs of a piece; what goes wrong is part of what comes of it."""
        outcome = Outcome()
        try:
            if self._config is None:
                config = load(self._task.config)
                # Once: a judge may keep an account, and a client that is slow to make.
                self._judges = judges_of(config, self._observed.of, Purse(self._task.accounts))
                self._config = config
            config = self._config
            bag = self._open_bag.get(piece.bag)
        except HarnessError as error:
            outcome.problems.append(BagProblem(bag=piece.bag, problem=str(error)))
            return outcome
        for recorded in piece.wanted:
            if not self._wanted():
                break
            graded = grade(bag, piece.bag, recorded, config, self._judges)
            outcome.rows.append(graded.row)
            try:
                self._show(bag, config, recorded, graded)
            except (HarnessError, OSError) as error:
                # The verdict stands without its pictures.
                said = f"run {recorded.run.run_id}: not all of its pictures and clips: {error}"
                outcome.problems.append(BagProblem(bag=piece.bag, problem=said))
        # What is damaged is found when it is read.
        outcome.problems += [BagProblem(bag=piece.bag, problem=text) for text in bag.problems]
        return outcome

    def _show(
        self, bag: Bag, config: EvaluationConfig, recorded: RecordedRun, graded: Graded
    ) -> None:
        """Writes the pictures and clips of a run, in place of those of an earlier grading."""
        if not self._task.pictures:
            return
        row, observation = graded
        folder = view_folder(self._task.out, row)
        if folder.exists():
            shutil.rmtree(folder)
        if observation is not None:
            keep_pictures(folder, row, self._observed.of(observation), config)
        if self._task.clips and row.tool_name in config.tools:
            write_clips(bag, config, recorded, folder)
