# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Labelled runs and what was seen after each: from bags, a grading, or a ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from rich.progress import Progress

from harness_ros.bag.reading import NoObservationError
from harness_ros.bag.recorded_runs import RecordedRun
from harness_ros.bag.waiting import ReadingBar
from harness_ros.calibration.options import CalibrateOptions, CalibrationError
from harness_ros.config import ArgumentError, EvaluationConfig
from harness_ros.contract import Kind, Observation, Run
from harness_ros.explaining import Recording, opened
from harness_ros.grading.grade import UnjudgedError, observation_of
from harness_ros.grading.labels import read_labels
from harness_ros.grading.results import read_results
from harness_ros.grading.work import OpenBag, Task, runs_of
from harness_ros.judges.answers import Label
from harness_ros.labelling.sources import RESULTS, is_graded, is_ledger

LISTED = 5
"""Ids in a message at most."""


@dataclass(frozen=True)
class Seen:
    """A labelled run, and what a judge is shown of it."""

    run: Run
    label: Label
    observation: Observation | None
    kind: Kind = Kind.JUDGED
    """Why there is no Observation."""
    reason: str = ""


class Runs(Protocol):
    """Runs that are looked at one after the other."""

    @property
    def runs(self) -> Mapping[str, Run]:
        """All there are, by run_id, in the order in which they are best looked at."""

    @property
    def problems(self) -> Sequence[str]:
        """What is wrong in what they are read from, and was lived with."""

    def observation(self, run_id: str, config: EvaluationConfig) -> Observation:
        """What was seen after a run.

        Raises:
            UnjudgedError: there is none.
        """


@dataclass(frozen=True)
class Labels:
    """The labels of a file that say success or failure."""

    path: Path
    said: Mapping[str, Label]
    """By run_id."""
    sentences: Mapping[str, str]
    """Post-conditions that labels are about, where the file says it."""
    cannot_tell: int
    """Runs of which somebody looked and could not tell."""


def labels_of(path: Path) -> Labels:
    """The labels of a file.

    Raises:
        LabelError: the file cannot be used, or lines contradict each other.
        CalibrationError: it labels nothing.
    """
    found = read_labels(path)
    labelled = {run_id: label for run_id, label in found.items() if label.success is not None}
    if not labelled:
        raise CalibrationError(f"{path}: no run is labelled success or failure")
    return Labels(
        path,
        {run_id: "success" if label.success else "failure" for run_id, label in labelled.items()},
        {run_id: item.post_condition for run_id, item in labelled.items() if item.post_condition},
        sum(label.cannot_tell for label in found.values()),
    )


@contextmanager
def runs_asked_for(options: CalibrateOptions, shown: Progress) -> Iterator[Runs]:
    """The runs that the options name.

    Raises:
        CalibrationError: neither or both of --bag and --runs are given, or it is nothing with runs.
        HarnessError: they cannot be read; the text says why.
    """
    if bool(options.bags) == (options.runs is not None):
        raise CalibrationError("one of --bag and --runs is wanted: where the labelled runs are")
    if options.runs is not None and is_ledger(options.runs):
        with opened(None, options.runs) as recording:
            yield _OfLedger(recording)
        return
    bags, wanted = list(options.bags), None
    if options.runs is not None:
        bags, wanted = _named(options.runs)
    with OpenBag(options.definitions) as open_bag:
        yield _OfBags(options.task(), bags, wanted, open_bag, shown)


def _named(path: Path) -> tuple[list[Path], set[str] | None]:
    """The bags of --runs, and which of their runs are meant; None: all."""
    if not path.exists():
        raise CalibrationError(f"--runs {path}: no such file or folder")
    if not is_graded(path):
        return [path], None
    rows = list(read_results(path / RESULTS))
    bags = [Path(name) for name in dict.fromkeys(row.bag for row in rows)]
    missing = [str(bag) for bag in bags if not bag.exists()]
    if missing:
        raise CalibrationError(
            f"{path / RESULTS}: its bags are read again, and {_listed(missing)} is not there; "
            f"paths are as they were given to `harness-ros grade`, relative to {Path.cwd()}"
        )
    return bags, {row.run_id for row in rows}


@dataclass
class _OfBags:
    task: Task
    bags: Sequence[Path]
    wanted: set[str] | None
    open_bag: OpenBag
    shown: Progress
    runs: dict[str, Run] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._where: dict[str, tuple[str, RecordedRun]] = {}
        for name in map(str, self.bags):
            with ReadingBar(self.shown, name) as reading:
                found, problems = runs_of(self.task, self.open_bag.get(name, reading))
            self.problems += [f"{name}: {problem}" for problem in problems]
            for recorded in found:
                self._take(name, recorded)

    def _take(self, name: str, recorded: RecordedRun) -> None:
        run_id = recorded.run.run_id
        if self.wanted is not None and run_id not in self.wanted:
            return
        if run_id in self._where:
            first = self._where[run_id][0]
            self.problems.append(f"{name}: run {run_id} is in {first} too, which is the one judged")
            return
        self._where[run_id] = name, recorded
        self.runs[run_id] = recorded.run

    def observation(self, run_id: str, config: EvaluationConfig) -> Observation:
        name, recorded = self._where[run_id]
        return observation_of(self.open_bag.get(name), recorded, config)


class _OfLedger:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.runs = {item.run.run_id: item.run for item in recording.runs()}
        self.problems: list[str] = []

    def observation(self, run_id: str, config: EvaluationConfig) -> Observation:
        try:
            return self._recording.observation(self.runs[run_id], config)
        except NoObservationError as error:
            raise UnjudgedError(Kind.OBSERVATION_UNAVAILABLE, str(error)) from None


def checked(runs: Runs, labels: Labels, config: EvaluationConfig) -> list[str]:
    """The ids of the labelled runs, in the order of the runs.

    Raises:
        CalibrationError: a label is of no run, of a tool that the configuration does not know, or
            of another sentence than the one that is judged.
    """
    unknown = sorted(labels.said.keys() - runs.runs.keys())
    if unknown:
        raise CalibrationError(
            f"{labels.path}: {len(unknown)} of {len(labels.said)} labels are of runs that are not "
            f"there: {_listed(unknown)}; give the bags of all labelled runs, or take their lines "
            "out"
        )
    found = [run_id for run_id in runs.runs if run_id in labels.said]
    for run_id in found:
        _check(runs.runs[run_id], labels, config)
    return found


def _check(run: Run, labels: Labels, config: EvaluationConfig) -> None:
    if run.tool_name not in config.tools:
        raise CalibrationError(
            f"{labels.path}: run {run.run_id} is of tool '{run.tool_name}', which is not under "
            f"`tools`: {sorted(config.tools)}"
        )
    labelled = labels.sentences.get(run.run_id)
    try:
        judged = config.post_condition(run.tool_name, run.arguments)
    except ArgumentError:
        return  # nobody can judge it, and the verdict says why
    if labelled is not None and labelled != judged:
        raise CalibrationError(
            f"{labels.path}: run {run.run_id} is labelled for '{labelled}', and is judged by "
            f"'{judged}' now: a label of another sentence says nothing; label it again"
        )


def looked_at(
    runs: Runs, labels: Labels, run_ids: Sequence[str], config: EvaluationConfig
) -> Iterator[Seen]:
    """What was seen after each of these runs."""
    for run_id in run_ids:
        run, label = runs.runs[run_id], labels.said[run_id]
        try:
            yield Seen(run, label, runs.observation(run_id, config))
        except UnjudgedError as error:
            yield Seen(run, label, None, error.kind, str(error))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{', '.join(names[:LISTED])}{more}"
