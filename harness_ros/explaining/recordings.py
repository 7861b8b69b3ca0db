# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where recorded runs come from: a bag, or the ledger of an evaluator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from harness_ros.bag.reading import Bag, NoObservationError
from harness_ros.bag.recorded_runs import RecordedRun
from harness_ros.bag.waiting import ReadingBar, bars, console
from harness_ros.config import EvaluationConfig
from harness_ros.contract import HarnessError, Observation, Run, Verdict
from harness_ros.ledger import Ledger


class RecordingError(HarnessError):
    """Runs that cannot be looked at again."""


class RunWithVerdict(NamedTuple):
    """A run, and what was said of it then."""

    run: Run
    verdict: Verdict | None


class Recording(Protocol):
    """Recorded runs."""

    @property
    def name(self) -> str:
        """File or folder."""

    @property
    def unreadable(self) -> Sequence[str]:
        """What was left out, and why."""

    def runs(self) -> Sequence[RunWithVerdict]:
        """Every run in the order in which they began."""

    def observation(self, run: Run, config: EvaluationConfig | None) -> Observation:
        """What was seen after a run.

        Args:
            config: says what is evidence; where the Observation itself is kept it is not needed.

        Raises:
            NoObservationError: there is none; the text says why.
        """


class BagRecording:
    """The runs of a bag; their Observations are chosen anew by the rules of the configuration."""

    def __init__(self, bag: Bag) -> None:
        self._bag = bag
        self._recorded: dict[str, RecordedRun] = {item.run.run_id: item for item in bag.runs()}

    @property
    def name(self) -> str:
        """The folder."""
        return str(self._bag.path)

    @property
    def unreadable(self) -> list[str]:
        """Messages that say no valid run or verdict."""
        return self._bag.unreadable

    def runs(self) -> list[RunWithVerdict]:
        """Every run."""
        return [RunWithVerdict(item.run, item.verdict) for item in self._recorded.values()]

    def observation(self, run: Run, config: EvaluationConfig | None) -> Observation:
        """What the evaluator would have seen with this configuration."""
        if config is None:
            raise RecordingError(
                f"{self.name}: --config is wanted: it says which topics of the bag are evidence"
            )
        return self._bag.observation(config, self._recorded[run.run_id])


class LedgerRecording:
    """The runs of a ledger, with the Observations that were judged."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    @property
    def name(self) -> str:
        """The file."""
        return str(self._ledger.path)

    @property
    def unreadable(self) -> list[str]:
        """Nothing: a ledger that holds something else is an error."""
        return []

    def runs(self) -> list[RunWithVerdict]:
        """Every run with a verdict as they were given, then those without."""
        judged = [
            RunWithVerdict(run, verdict)
            for _, verdict in self._ledger.verdicts_after(0)
            if (run := self._ledger.run(verdict.run_id)) is not None
        ]
        return [*judged, *(RunWithVerdict(run, None) for run in self._ledger.open_runs())]

    def observation(self, run: Run, config: EvaluationConfig | None) -> Observation:
        """What was judged."""
        found = self._ledger.observation(run.run_id)
        if found is None:
            raise NoObservationError(f"{self.name}: run {run.run_id} has no Observation")
        left_out = found.provenance.get("views_left_out")
        if left_out:
            raise NoObservationError(
                f"{self.name}: the images of {left_out} after run {run.run_id} are not kept any "
                "more: `ledger.views_kept` in eval.yaml says of how many runs they are"
            )
        return found


@contextmanager
def opened(bag: Path | None, ledger: Path | None) -> Iterator[Recording]:
    """The recording in a bag or in a ledger, whichever is given.

    Raises:
        RecordingError: none or both are given, or there is no such ledger.
        BagReadError: the bag cannot be read.
        LedgerError: the ledger cannot be read.
    """
    if (bag is None) == (ledger is None):
        raise RecordingError("one of --bag and --ledger is wanted")
    if bag is not None:
        with bars(console()) as shown, ReadingBar(shown, str(bag)) as reading:
            reader = Bag(bag, progress=reading)
        with reader:
            yield BagRecording(reader)
    elif ledger is not None:
        if not ledger.is_file():
            # Opening it would make a new one.
            raise RecordingError(f"{ledger}: no such file")
        with Ledger(ledger) as store:
            yield LedgerRecording(store)


def find_run(recording: Recording, prefix: str) -> RunWithVerdict:
    """The one run whose id begins so.

    Raises:
        RecordingError: there is none, or more than one.
    """
    runs = recording.runs()
    found = [item for item in runs if item.run.run_id.startswith(prefix)]
    exact = [item for item in found if item.run.run_id == prefix]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        ids = ", ".join(item.run.run_id[: len(prefix) + 8] for item in found[:5])
        raise RecordingError(
            f"{recording.name}: {len(found)} runs begin with '{prefix}': {ids}; more letters of "
            "the id are wanted"
        )
    raise RecordingError(
        f"{recording.name}: no run begins with '{prefix}'; without --run its {len(runs)} runs are "
        "listed"
    )
