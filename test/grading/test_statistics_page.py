# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every number of docs/statistics.md, computed again from what the page says was seen."""

from __future__ import annotations

import json
import re
import sys
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from harness_ros.grading.rates import JudgeErrors
from harness_ros.statistics import wilson_interval, zero_events_upper_bound

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1]))

from graded_rows import SECOND, graded
from markdown_pages import DOCS, Table, blocks, code, plain, tables, tokens

PAGE = DOCS / "statistics.md"
EVENING = "A lab's evening"


def tables_with(head: str) -> list[Table]:
    found = [table for table in tables(PAGE) if head in table.head]
    assert found, f"no table with the head {head!r}"
    return found


def cells(table: Table) -> list[dict[str, str]]:
    return [
        dict(zip(table.head, [plain(token) for token in row], strict=True)) for row in table.rows
    ]


def shown(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


@pytest.fixture
def summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """summary.json as the page's own code writes it, from the runs in the page's table."""
    (table,) = tables_with("verdicts")
    results, labels = [], ["run_id,label"]
    for line in cells(table):
        for verdict, label in zip(line["verdicts"], line["labels"], strict=True):
            run_id = f"run{len(results)}"
            row = graded(
                verdict,
                run_id,
                tool_name=line["tool"],
                arguments={"target": line["target"]},
                started_at_ns=60 * SECOND * len(results),
            )
            results.append(row.line())
            word = {"s": "success", "f": "failure", "-": ""}[label]
            labels.append(f"{run_id},{word}")
    (tmp_path / "results.jsonl").write_text("\n".join(results) + "\n")
    (tmp_path / "labels.csv").write_text("\n".join(labels) + "\n")
    monkeypatch.chdir(tmp_path)
    (block,) = [block for block in blocks("python") if block.page == PAGE]
    exec(compile(block.text, str(block), "exec"), {})
    return json.loads((tmp_path / "summary.json").read_text())


def value_at(summary: Any, path: str) -> Any:
    steps = [int(step) if step.isdigit() else step for step in re.findall(r"\w+", path)]
    return reduce(lambda found, step: found[step], steps, summary)


def values_of_the_evening() -> list[tuple[str, str]]:
    return [
        (code(path)[0], plain(value))
        for table in tables_with("in summary.json")
        for path, value in zip(table.column("in summary.json"), table.column("value"), strict=True)
    ]


def test_every_value_of_the_evening_is_the_one_in_summary_json(summary: dict[str, Any]) -> None:
    values = values_of_the_evening()
    assert len(values) > 35
    assert {path: shown(value_at(summary, path)) for path, _ in values} == dict(values)


def test_every_number_in_the_words_of_the_evening_is_in_its_tables(summary: dict[str, Any]) -> None:
    items = tokens(PAGE)
    (begin,) = [
        at
        for at, token in enumerate(items)
        if token.type == "heading_open" and plain(items[at + 1]) == EVENING
    ]
    words = [
        plain(items[at + 1])
        for at, token in enumerate(items)
        if at > begin and token.type == "paragraph_open"
    ]
    card = JudgeErrors.model_validate(summary["card"])
    known = {value for _, value in values_of_the_evening()}
    known |= {str(count) for pair in (card.false_success, card.false_failure) for count in pair}
    said = re.findall(r"\d+(?:\.\d+)?", " ".join(words))
    assert len(said) > 20
    assert [number for number in said if number not in known] == []


def test_the_card_in_words_is_the_card_of_the_code(summary: dict[str, Any]) -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    (false_success, failures), (false_failure, successes) = (
        summary["card"][name] for name in ("false_success", "false_failure")
    )
    assert (
        f"{false_success} of {failures} labelled failures were called a success, "
        f"{false_failure} of {successes} labelled successes a failure"
    ) in text


def test_the_list_of_mistakes_has_both_runs(summary: dict[str, Any]) -> None:
    assert {item["label"] for item in summary["labels"]["mistakes"]} == {"success", "failure"}
    assert len(summary["labels"]["mistakes"]) == 2


def test_intervals_of_the_page_are_those_of_wilson() -> None:
    (table,) = tables_with("successes")
    for line in cells(table):
        low, high = wilson_interval(int(line["successes"]), int(line["trials"]))
        assert (line["low"], line["high"]) == (shown(low), shown(high))


def test_bounds_of_the_page_are_those_of_zero_events() -> None:
    (table,) = tables_with("one-sided")
    for line in cells(table):
        trials = int(line[table.head[0]])
        assert line["one-sided"] == shown(zero_events_upper_bound(trials))
        assert line["two-sided"] == shown(zero_events_upper_bound(trials, two_sided=True))


def test_fields_that_the_page_explains_are_there(summary: dict[str, Any]) -> None:
    text = json.dumps(summary)
    for head in ("look at", "number"):
        (table,) = tables_with(head)
        for token in table.column(head):
            for name in code(token):
                assert f'"{name}":' in text, name
