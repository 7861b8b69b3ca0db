# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which runs are labelled, and in which order."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable

from harness_ros.grading.report.wording import outcome
from harness_ros.labelling.runs import RunToLabel


def shuffled(runs: Iterable[RunToLabel], seed: int | str) -> list[RunToLabel]:
    """The runs in an order that depends on their ids and the seed alone.

    In the order in which they were recorded, runs of one tool and one day follow each other, and
    whoever labels gets used to an answer; and a labeller tires, so that the last ones are looked at
    less. Shuffled, that hits every tool alike.
    """
    return sorted(runs, key=lambda run: _lot(run, seed))


def sampled(runs: Iterable[RunToLabel], number: int, seed: int | str) -> list[RunToLabel]:
    """So many runs, shuffled: of each tool and each outcome as large a share as of all runs.

    At least one of each where `number` allows. Shares are kept because error rates are counted
    among what people call a failure (or a success): more runs that the judge called a failure than
    there are would make its false successes look rarer than they are. A larger number adds runs
    and leaves out none.
    """
    strata: dict[tuple[str, str], list[RunToLabel]] = defaultdict(list)
    for run in shuffled(runs, seed):
        strata[stratum(run)].append(run)
    # The middle of the slice of its stratum that a run stands for: in this order each beginning
    # has the same shares as the whole.
    places = [
        (0.0 if rank == 0 else (rank + 0.5) / len(same), _lot(run, seed), run)
        for same in strata.values()
        for rank, run in enumerate(same)
    ]
    places.sort(key=lambda place: place[:2])
    return shuffled((run for *_, run in places[:number]), seed)


def stratum(run: RunToLabel) -> tuple[str, str]:
    """Tool and outcome."""
    said = run.said
    return run.tool, "" if said is None else outcome(said.status, said.kind).value


def _lot(run: RunToLabel, seed: int | str) -> str:
    text = f"{seed}\n{run.run_id}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()
