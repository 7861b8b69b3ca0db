# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What `harness-ros grade` does: bags in, results.jsonl, summary.json and report.html out."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from harness_ros.bag.run_sources import RunFileError
from harness_ros.config import EvaluationConfig, load
from harness_ros.contract import HarnessError
from harness_ros.grading.grade import GradingError
from harness_ros.grading.pool import outcomes
from harness_ros.grading.results import Key, Results
from harness_ros.grading.row import BagProblem, GradedRun
from harness_ros.grading.work import Piece, Task, pieces, runs_of


@dataclass(frozen=True)
class GradeOptions:
    """What `harness-ros grade` was asked."""

    bags: tuple[str, ...]
    task: Task
    out: Path
    workers: int = 1
    ray_address: str | None = None
    resume: bool = False


@dataclass
class Grading:
    """All that was graded."""

    rows: list[GradedRun] = field(default_factory=list)
    problems: list[BagProblem] = field(default_factory=list)
    ungraded: list[Key] = field(default_factory=list)
    """Runs that no row tells of, because a worker ended."""


class _Plan:
    """The runs of every bag, and which of them are to be graded."""

    def __init__(self, options: GradeOptions, config: EvaluationConfig) -> None:
        self._options = options
        self._hash = config.criteria_hash
        self.keys: list[Key] = []
        self.pieces: list[Piece] = []
        self.problems: list[BagProblem] = []

    def read(self, known: Mapping[Key, GradedRun], progress: Progress) -> None:
        """Finds the runs of all bags."""
        task = progress.add_task("finding runs", total=len(self._options.bags))
        for name in self._options.bags:
            try:
                runs, problems = runs_of(self._options.task, name)
            except RunFileError:
                raise  # it is the same file for every bag
            except HarnessError as error:
                self.problems.append(BagProblem(bag=name, problem=str(error), fatal=True))
                progress.advance(task)
                continue
            self.problems += [BagProblem(bag=name, problem=problem) for problem in problems]
            keys = [(name, item.run.run_id) for item in runs]
            self.keys += keys
            wanted = [key[1] for key in keys if not self.stands(known.get(key))]
            self.pieces += pieces(name, wanted)
            progress.advance(task)
        progress.remove_task(task)

    def stands(self, row: GradedRun | None) -> bool:
        """Whether an earlier result was given by the same criteria."""
        return row is not None and row.criteria_hash == self._hash


def grade_bags(options: GradeOptions, console: Console) -> Grading:
    """Grades every run of every bag; results are on disk as they come.

    Raises:
        ConfigError: the configuration cannot be used.
        GradingError: two bags are one, or Ray is not there.
        RunFileError: the file of runs cannot be used.
    """
    config = load(options.task.config)
    _check_bags(options.bags)
    grading = Grading()
    with _progress(console) as progress, Results(options.out, options.resume) as results:
        plan = _Plan(options, config)
        plan.read(results.known, progress)
        grading.problems += plan.problems
        for problem in plan.problems:
            console.print(f"{problem.bag}: {problem.problem}", style="yellow", markup=False)
        shown = progress.add_task("grading", total=len(plan.keys))
        fresh = _Fresh(options, plan, grading, console)
        for key in plan.keys:
            kept = results.known.get(key)
            row = kept if plan.stands(kept) else fresh.row(key)
            if row is None:
                grading.ungraded.append(key)
            else:
                grading.rows.append(row)
                results.add(row)
            progress.advance(shown)
    return grading


class _Fresh:
    """Rows as the workers give them, asked for in their order."""

    def __init__(
        self, options: GradeOptions, plan: _Plan, grading: Grading, console: Console
    ) -> None:
        self._rows: dict[Key, GradedRun] = {}
        self._done: set[Key] = set()
        self._grading = grading
        self._console = console
        self._next = outcomes(options.task, plan.pieces, options.workers, options.ray_address)

    def row(self, key: Key) -> GradedRun | None:
        """The row of a run; None where its worker ended."""
        while key not in self._done:
            piece, outcome = next(self._next)
            self._done |= {(piece.bag, run_id) for run_id in piece.run_ids}
            self._rows |= {(row.bag, row.run_id): row for row in outcome.rows}
            self._grading.problems += outcome.problems
            for problem in outcome.problems:
                self._console.print(
                    f"{problem.bag}: {problem.problem}", style="yellow", markup=False
                )
        return self._rows.pop(key, None)


def _check_bags(bags: Sequence[str]) -> None:
    twice = sorted({name for name in bags if bags.count(name) > 1})
    if twice:
        raise GradingError(f"{', '.join(twice)}: given more than once")


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def console() -> Console:
    """Progress and problems go to standard error; standard output has the summary alone."""
    return Console(file=sys.stderr, highlight=False)
