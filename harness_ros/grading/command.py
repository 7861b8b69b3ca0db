# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What `harness-ros grade` does: bags in, results.jsonl, summary.json and report.html out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from harness_ros.bag.run_sources import RunFileError, runs_of_file
from harness_ros.bag.waiting import ReadingBar, bars
from harness_ros.config import EvaluationConfig, load
from harness_ros.contract import HarnessError, Kind
from harness_ros.grading.grade import GradingError, judges_of
from harness_ros.grading.judges import KnownJudge, known_judges
from harness_ros.grading.options import GradeOptions
from harness_ros.grading.pool import Pool, outcomes, pool_of
from harness_ros.grading.results import Key, Results
from harness_ros.grading.row import BagProblem, GradedRun
from harness_ros.grading.work import OpenBag, Outcome, Piece, Task, pieces, runs_of
from harness_ros.judges.making import with_members
from harness_ros.judges.model.funds import open_accounts


@dataclass
class Grading:
    """All that was graded."""

    rows: list[GradedRun] = field(default_factory=list)
    problems: list[BagProblem] = field(default_factory=list)
    ungraded: list[Key] = field(default_factory=list)
    """Runs that no row tells of, because a worker ended."""
    known: Mapping[str, KnownJudge] = field(default_factory=dict)
    """Judges with an error card."""


def grade_bags(options: GradeOptions, console: Console) -> Grading:
    """Grades every run of every bag; results are on disk as they come.

    Raises:
        ConfigError: the configuration cannot be used.
        GradingError: two bags are one, or Ray is not there.
        HarnessError: a judge cannot be made.
        RunFileError: the file of runs cannot be used.
    """
    config, task = load(options.config), options.task()
    _check_bags(options.bags)
    if options.ray is None:
        judges_of(config)  # what keeps one from being made is heard before any work
    if task.runs is not None:
        # Before any work: a mistake in it should not be heard of after an hour.
        runs_of_file(task.runs, task.namespace)
    shared = not options.alone and _has_cap(config)
    with (
        open_accounts(options.out) if shared else nullcontext() as accounts,
        OpenBag(task.definitions) as open_bag,
        bars(console) as shown,
        pool_of(replace(task, accounts=accounts), open_bag, options.workers, options.ray) as pool,
        Results(options.out, options.resume) as results,
    ):
        grading = _Grader(task, config, results, console, shown)
        for piece, outcome in outcomes(pool, grading.pieces(options.bags, open_bag, pool)):
            grading.take(piece, outcome)
    return grading.done(options.bags)


class _Grader:
    """The work, bag by bag: the runs of a bag are looked for when those before are under way."""

    def __init__(
        self,
        task: Task,
        config: EvaluationConfig,
        results: Results,
        console: Console,
        shown: Progress,
    ) -> None:
        self._task, self._config, self._results = task, config, results
        self._console, self._shown = console, shown
        self._bags = shown.add_task("bags", total=None)
        self._runs = shown.add_task("runs", total=None)
        self._found = 0
        self._grading = Grading(known=known_judges(config))

    def pieces(self, bags: Sequence[Path], open_bag: OpenBag, pool: Pool) -> Iterator[Piece]:
        """The pieces of all bags."""
        self._shown.update(self._bags, total=len(bags))
        for name in map(str, bags):
            for piece in self._pieces_of(name, open_bag, pool):
                self._found += len(piece.run_ids)
                yield piece
            self._shown.advance(self._bags)

    def take(self, piece: Piece, outcome: Outcome) -> None:
        """Takes up what came of a piece; pieces come in the order of `pieces`."""
        for problem in outcome.problems:
            self._tell(problem)
        fresh = {row.run_id: row for row in outcome.rows}
        for run_id in piece.run_ids:
            key = (piece.bag, run_id)
            row = fresh.get(run_id) or self._kept(key)
            if row is None:
                self._grading.ungraded.append(key)
            else:
                self._grading.rows.append(row)
                self._results.add(row)
        self._shown.update(self._runs, advance=len(piece.run_ids), total=self._found)

    def done(self, bags: Sequence[Path]) -> Grading:
        """All that was graded; its problems are in the order of the bags."""
        place = {str(bag): number for number, bag in enumerate(bags)}
        self._grading.problems.sort(key=lambda problem: place[problem.bag])
        return self._grading

    def _pieces_of(self, name: str, open_bag: OpenBag, pool: Pool) -> Iterator[Piece]:
        try:
            with ReadingBar(self._shown, name) as reading:
                bag = open_bag.get(name, reading)
            runs, problems = runs_of(self._task, bag)
            read_through = bag.storage.read_through
        except RunFileError:
            raise  # it is the same file for every bag
        except HarnessError as error:
            self._tell(BagProblem(bag=name, problem=str(error), fatal=True))
            return
        finally:
            if not pool.keeps_bag:
                open_bag.close()
        for problem in problems:
            self._tell(BagProblem(bag=name, problem=problem))
        yield from pieces(
            name,
            runs,
            lambda item: self._kept((name, item.run.run_id)) is None,
            whole=read_through and pool.wants_whole,
            alone=read_through,
        )

    def _kept(self, key: Key) -> GradedRun | None:
        """The earlier result of a run, where the same criteria gave it and its judge answered."""
        row = self._results.known.get(key)
        same = row is not None and row.criteria_hash == self._config.criteria_hash
        if row is None or not same or row.kind is Kind.JUDGE_UNAVAILABLE:
            return None
        state = self._config.card_states.get(row.tool_name)
        if not row.error_card or state is None:
            return row
        # The verdict stands; what is known of its judge may have changed.
        return row.model_copy(update={"error_card": str(state)})

    def _tell(self, problem: BagProblem) -> None:
        """Says what is wrong, once."""
        if problem not in self._grading.problems:
            self._grading.problems.append(problem)
            said = problem.problem
            if not said.startswith(problem.bag):
                said = f"{problem.bag}: {said}"
            self._console.print(said, style="yellow", markup=False, soft_wrap=True)


def _has_cap(config: EvaluationConfig) -> bool:
    asked = with_members(config.judges, {tool.judge for tool in config.tools.values()})
    return any(getattr(config.judges[key], "spending_cap", None) is not None for key in asked)


def _check_bags(bags: Sequence[Path]) -> None:
    twice = sorted({str(bag) for bag in bags if bags.count(bag) > 1})
    if twice:
        raise GradingError(f"{', '.join(twice)}: given more than once")
