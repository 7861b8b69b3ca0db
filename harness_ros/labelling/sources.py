# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where runs to label come from: a folder that `harness-ros grade` wrote, a bag, or a ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from harness_ros.bag.reading import Bag, NoObservationError
from harness_ros.bag.recorded_runs import RecordedRun
from harness_ros.bag.storage import BagReadError
from harness_ros.bag.waiting import bars, console
from harness_ros.capture.images import ImageError
from harness_ros.config import ArgumentError, EvaluationConfig, load
from harness_ros.contract import Observation, Run, Verdict
from harness_ros.explaining import Recording, opened
from harness_ros.grading.kept_pictures import kept_views, view_folder
from harness_ros.grading.report import ReportView, view_of
from harness_ros.grading.results import read_results
from harness_ros.grading.row import GradedRun, RecordedVerdict
from harness_ros.grading.trials import distinct
from harness_ros.grading.work import OpenBag
from harness_ros.labelling.runs import LabellingError, RunToLabel, Said, Shown

RESULTS = "results.jsonl"
LONGEST_PX = 1600
"""Of a picture that comes from a bag or a ledger; those that `grade` keeps are smaller."""
SQLITE = b"SQLite format 3\0"
BAG_SUFFIXES = (".db3", ".mcap", ".zstd")


class Source(Protocol):
    """Runs, and what was seen after each."""

    @property
    def runs(self) -> Sequence[RunToLabel]:
        """Those with an Observation, in the order in which they began."""

    @property
    def left_out(self) -> int:
        """How many there are without: nobody can say of the pictures what came of them."""

    def shown(self, run_id: str) -> Shown:
        """What was seen after a run.

        Raises:
            HarnessError: it cannot be read; the text says why.
        """


def is_graded(path: Path) -> bool:
    """Whether `harness-ros grade` wrote this folder."""
    return (path / RESULTS).is_file()


@contextmanager
def source_of(path: Path, config: Path | None) -> Iterator[Source]:
    """The runs of a folder or file.

    Args:
        config: the eval.yaml that says what the post-conditions are and which topics are evidence;
            what is graded has its own post-conditions, and pictures of which it needs no bag.

    Raises:
        HarnessError: there are none, or they cannot be read; the text says why.
    """
    if not path.exists():
        raise LabellingError(f"{path}: no such file or folder")
    if is_graded(path):
        with OpenBag() as open_bag:
            yield GradedRuns(path, open_bag, None if config is None else load(config))
        return
    if config is None:
        raise LabellingError(
            f"{path}: no {RESULTS}, so it is no folder of `harness-ros grade`; to label a bag or a "
            "ledger, --config is wanted: the eval.yaml that says what its post-conditions are"
        )
    ledger = is_ledger(path)
    with opened(None if ledger else path, path if ledger else None) as recording:
        yield RecordedRuns(recording, load(config))


class GradedRuns:
    """The runs of a grading: with the pictures of its report, or with their frames in full.

    Args:
        config: says which topics of the bags are evidence; None: the pictures of the report.

    Raises:
        LabellingError: frames are wanted, and a bag is not there.
    """

    def __init__(self, folder: Path, open_bag: OpenBag, config: EvaluationConfig | None) -> None:
        rows, _ = distinct(read_results(folder / RESULTS))
        self._rows = {row.run_id: row for row in rows if row.observed_at_ns and row.post_condition}
        self._folder, self._open_bag, self._config = folder, open_bag, config
        self._recorded: dict[str, dict[str, RecordedRun]] = {}
        self.runs = [_graded(row) for row in self._rows.values()]
        self.left_out = len(rows) - len(self.runs)
        bags = sorted({row.bag for row in rows})
        missing = next((bag for bag in bags if not Path(bag).exists()), None)
        if config is not None and missing is not None:
            raise LabellingError(
                f"{missing}: no such bag; with --config the frames of {folder} are read from its "
                f"bags, whose paths are as `grade` was given them, relative to {Path.cwd()}"
            )

    def shown(self, run_id: str) -> Shown:
        """What the grading has kept, or what is in the bag."""
        row = self._rows[run_id]
        if self._config is not None:
            bag = self._open_bag.get(row.bag)
            # Where --tool or a file said what the runs are, the bag does not know them.
            if bag.has_runs:
                return _shown(row.bag, self._observation(bag, self._config, row))
        folder = view_folder(self._folder, row)
        pictures = kept_views(folder)
        if not pictures and not row.observation_summary.startswith("views none"):
            raise LabellingError(
                f"{folder}: no pictures, though there were views; was all of {self._folder} copied?"
            )
        return Shown(pictures, row.observation_summary)

    def _observation(self, bag: Bag, config: EvaluationConfig, row: GradedRun) -> Observation:
        if row.bag not in self._recorded:
            self._recorded[row.bag] = {item.run.run_id: item for item in bag.runs()}
        recorded = self._recorded[row.bag].get(row.run_id)
        if recorded is None:
            raise LabellingError(f"{row.bag}: run {row.run_id} is not in it any more")
        return bag.observation(config, recorded)


class RecordedRuns:
    """The runs of a bag or a ledger, with their frames in full."""

    def __init__(self, recording: Recording, config: EvaluationConfig) -> None:
        self._recording, self._config = recording, config
        self._by_id: dict[str, Run] = {}
        self.runs: list[RunToLabel] = []
        found = recording.runs()
        with bars(console()) as shown:
            looked_at = shown.add_task("runs looked at", total=len(found))
            for run, verdict in found:
                self._look_at(run, verdict)
                shown.advance(looked_at)
        self.left_out = len(found) - len(self.runs)

    def shown(self, run_id: str) -> Shown:
        """What was seen after a run."""
        observation = self._recording.observation(self._by_id[run_id], self._config)
        return _shown(self._recording.name, observation)

    def _look_at(self, run: Run, verdict: Verdict | None) -> None:
        try:
            post_condition = self._config.post_condition(run.tool_name, run.arguments)
            self._recording.observation(run, self._config)
        except (ArgumentError, NoObservationError, BagReadError):
            return
        self._by_id[run.run_id] = run
        said = None if verdict is None else _said(verdict)
        self.runs.append(
            RunToLabel(run.run_id, run.tool_name, run.arguments, run.segment, post_condition, said)
        )


def _shown(name: str, observation: Observation) -> Shown:
    pictures: list[ReportView] = []
    for view in observation.views:
        try:
            pictures.append(view_of(view, longest_px=LONGEST_PX))
        except ImageError as error:
            raise LabellingError(f"{name}: {view.name}: {error}") from None
    return Shown(pictures, observation.summary)


def _graded(row: GradedRun) -> RunToLabel:
    return RunToLabel(
        row.run_id, row.tool_name, row.arguments, row.segment, row.post_condition, _said(row)
    )


def _said(verdict: Verdict | GradedRun | RecordedVerdict) -> Said:
    return Said(
        verdict.status, verdict.kind, verdict.failure_reason, verdict.evidence, verdict.judge
    )


def is_ledger(path: Path) -> bool:
    """Whether this is a SQLite file that is no bag, so an evaluator's ledger."""
    if not path.is_file() or path.suffix in BAG_SUFFIXES:
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE
