# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every number of docs/promotion.md, computed again by the page's own code."""

from __future__ import annotations

import re
import sys
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from harness_ros.sidecar import Policy
from harness_ros.sidecar.promotion.records import PendingReason
from harness_ros.sidecar.promotion.significance import permutation_test
from harness_ros.statistics import upper_bound

sys.path.append(str(Path(__file__).parents[2]))

from markdown_pages import DOCS, blocks, code, plain, tables

PAGE = DOCS / "promotion.md"


def rows(*head: str) -> list[list[str]]:
    """The cells of the tables that begin with these columns."""
    found = [
        [plain(cell) for cell in row]
        for table in tables(PAGE)
        if tuple(table.head[: len(head)]) == head
        for row in table.rows
    ]
    assert found, f"no table with the columns {head}"
    return found


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    """What the blocks of the page leave behind, run one after the other."""
    names: dict[str, Any] = {}
    for block in blocks("python"):
        if block.page == PAGE:
            exec(compile(block.text, str(block), "exec"), names)
    return names


def value_at(found: Any, path: str) -> Any:
    steps = [int(step) if step.isdigit() else step for step in re.findall(r"\w+", path)]
    return reduce(lambda value, step: value[step], steps, found)


def shown(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


@pytest.mark.parametrize(("path", "value"), rows("in evidence", "value"))
def test_the_worked_example_says_so(example: dict[str, Any], path: str, value: str) -> None:
    assert shown(value_at(example["decision"].evidence, path)) == value


@pytest.mark.parametrize(("path", "value"), rows("in trial", "value"))
def test_the_trial_of_the_example_says_so(example: dict[str, Any], path: str, value: str) -> None:
    assert shown(value_at(example["trial"].model_dump(), path)) == value


def test_the_targets_of_the_example_are_those_of_the_text(example: dict[str, Any]) -> None:
    assert example["decision"].targets == {
        "pick": "outcome_correct",
        "place": "outcome_correct",
        "stack": "tool_correctness",
        "tray": "outcome_correct",
    }


def test_what_if_is_answered_as_the_code_answers(example: dict[str, Any]) -> None:
    answered = [
        [name, decision.outcome, decision.pending_reason.value if decision.pending_reason else ""]
        for name, decision in example["what_if"].items()
    ]
    assert answered == rows("what if", "outcome", "pending_reason")


def test_the_page_names_every_pending_reason_and_no_other() -> None:
    named = [row[2] for row in rows("seen", "outcome", "pending_reason") if row[2]]
    assert sorted(named) == sorted(reason.value for reason in PendingReason)


@pytest.mark.parametrize(("cases", "p"), rows("failure cases", "smallest p"))
def test_so_few_cases_reach_that_p(cases: str, p: str) -> None:
    assert float(p) == pytest.approx(
        permutation_test([1.0] * int(cases), Policy()).p_value, abs=6e-4
    )


@pytest.mark.parametrize(("sessions", "rate"), rows("sessions", "possible rate"))
def test_so_few_sessions_leave_that_rate_possible(sessions: str, rate: str) -> None:
    assert shown(upper_bound(0, int(sessions))) == rate


def test_the_defaults_of_the_page_are_those_of_the_policy() -> None:
    text = PAGE.read_text(encoding="utf-8")
    named = re.findall(r"`(\w+)`\s\(([\d.]+)\)", text)
    assert len(named) >= 5
    for name, value in named:
        assert getattr(Policy(), name) == float(value), name


def test_every_check_of_the_page_is_an_option_of_the_policy() -> None:
    options = next(table for table in tables(PAGE) if table.head[0] == "Policy")
    checks = [code(option)[0] for option in options.column("Policy")]
    assert checks == ["held_out", "matched_budget", "significance"]
    for name in checks:
        assert getattr(Policy(), name) == "where_possible"
