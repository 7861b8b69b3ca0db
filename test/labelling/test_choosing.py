# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which runs are labelled, and in which order."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_ros.contract import Kind, Status
from harness_ros.labelling.choosing import sampled, shuffled, stratum
from harness_ros.labelling.runs import RunToLabel, Said


def run(run_id: str, tool: str = "pick", status: Status = Status.SUCCESS) -> RunToLabel:
    said = Said(status, Kind.JUDGED, "", (), "judge")
    return RunToLabel(run_id, tool, {}, 1, "It is done.", said)


def many(*parts: tuple[int, str, Status]) -> list[RunToLabel]:
    return [
        run(f"{tool}-{status.name}-{number}", tool, status)
        for count, tool, status in parts
        for number in range(count)
    ]


RUNS = many(
    (60, "pick", Status.SUCCESS),
    (20, "pick", Status.FAILURE),
    (18, "place", Status.SUCCESS),
    (2, "place", Status.FAILURE),
)


def test_the_order_depends_on_ids_and_seed_alone() -> None:
    assert shuffled(RUNS, 0) == shuffled(RUNS[::-1], 0)
    assert shuffled(RUNS, 0) != shuffled(RUNS, 1)
    assert shuffled(RUNS, 0) != RUNS


def test_a_sample_has_the_shares_of_the_whole() -> None:
    found = Counter(map(stratum, sampled(RUNS, 50, 0)))
    assert found == {
        ("pick", "success"): 30,
        ("pick", "failure"): 10,
        ("place", "success"): 9,
        ("place", "failure"): 1,
    }


def test_a_sample_has_each_tool_and_outcome_however_rare() -> None:
    runs = [*RUNS, run("lift-1", "lift"), run("lift-2", "lift", Status.FAILURE)]
    assert set(map(stratum, sampled(runs, 6, 0))) == set(map(stratum, runs))


def test_a_sample_is_shown_in_no_order_of_verdicts() -> None:
    found = sampled(RUNS, 50, 0)
    assert found == shuffled(found, 0)


@given(st.integers(1, 99), st.integers(0, 9))
def test_a_larger_sample_holds_the_smaller_one(number: int, seed: int) -> None:
    smaller = {run.run_id for run in sampled(RUNS, number, seed)}
    larger = {run.run_id for run in sampled(RUNS, number + 1, seed)}
    assert len(smaller) == number
    assert smaller < larger


@pytest.mark.parametrize("number", [100, 101, 5000])
def test_a_sample_of_more_than_there_are_is_all(number: int) -> None:
    assert sampled(RUNS, number, 0) == shuffled(RUNS, 0)
