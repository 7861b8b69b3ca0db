# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What pages say in the words of the code, and what they say that criteria do."""

from __future__ import annotations

import ast
import math
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness_ros.capture import diagnosis
from harness_ros.config import load
from harness_ros.contract import Clearance, Kind, Observation, Signal, Status
from harness_ros.judges import Criterion, Observed
from harness_ros.judges.deterministic import evaluate

sys.path.append(str(Path(__file__).parent))

from markdown_pages import DOCS, ROOT, Block, blocks, code, plain, tables

# Words that are quoted from the code


@cache
def constants(*paths: Path) -> tuple[str, ...]:
    """The strings of modules, docstrings left out."""
    found = []
    for path in paths:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        found += [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
            if id(node) not in documentation
        ]
    return tuple(found)


def fragments(quoted: str) -> list[str]:
    """What of quoted words is not a number or a name that is put in."""
    return [part for part in re.split(r"…", quoted) if len(part.strip(" ,;:()'")) > 1]


DIAGNOSTICS = DOCS / "diagnostics.md"
QUOTED = [
    (table.line, words)
    for table in tables(DIAGNOSTICS)
    for head in ("words", "message")
    if head in table.head
    for token in table.column(head)
    for words in code(token)
]


@pytest.mark.parametrize(("line", "words"), QUOTED, ids=[words for _, words in QUOTED])
def test_quoted_words_are_those_of_the_code(line: int, words: str) -> None:
    # Those that are put together at import too.
    composed = [text for text in vars(diagnosis).values() if isinstance(text, str)]
    source = [*constants(*sorted((ROOT / "harness_ros").rglob("*.py"))), *composed]
    for part in fragments(words):
        said = [text for text in source if part.strip() in text]
        assert said, f"{DIAGNOSTICS.name}:{line}: nothing in harness_ros says {part!r}"


def test_every_reason_for_no_observation_is_explained() -> None:
    quoted = [part.strip() for _, words in QUOTED for part in fragments(words)]
    said = constants(ROOT / "harness_ros" / "capture" / "diagnosis.py")
    reasons = [text for text in said if len(re.findall(r"[a-z]{2,}", text)) >= 4]
    assert len(reasons) > 15
    for reason in reasons:
        known = [part for part in quoted if part in reason or reason.strip(" ;:(") in part]
        assert known, f"{DIAGNOSTICS.name} says nothing of: {reason!r}"


def test_every_status_of_a_node_is_explained() -> None:
    ros = ROOT / "harness_ros" / "ros"
    sources = [path for path in sorted(ros.rglob("*.py")) if "Report(" in path.read_text()]
    assert len(sources) >= 4
    explained = {
        plain(token).split(" …")[0]
        for table in tables(DIAGNOSTICS)
        if "status" in table.head
        for token in table.column("status")
    }
    for path in sources:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Report":
                name = node.args[0]
                text = name.values[0] if isinstance(name, ast.JoinedStr) else name
                status = str(ast.literal_eval(text)).strip()
                assert status in {*explained, "node"}, f"{path.name}: status '{status}'"


# Judging without vision

WITHOUT_VISION = DOCS / "judging_without_vision.md"


def worked_examples() -> Iterator[tuple[Block, dict[str, str]]]:
    """Each row of the table that follows an eval.yaml, by its heads."""
    files = [block for block in blocks("yaml") if block.page == WITHOUT_VISION]
    for table in tables(WITHOUT_VISION):
        if "verdict" in table.head:
            block = [item for item in files if item.line < table.line][-1]
            for row in table.rows:
                cells = [plain(token) for token in row]
                yield block, dict(zip(table.head, cells, strict=True))


EXAMPLES = list(worked_examples())


@pytest.mark.parametrize(
    ("block", "row"), EXAMPLES, ids=[f"{block.line}-{row}" for block, row in EXAMPLES]
)
def test_worked_example_is_judged_as_the_page_says(
    block: Block, row: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "eval.yaml").write_text(block.text, encoding="utf-8")
    config = load(tmp_path / "eval.yaml")
    ((name, tool),) = config.tools.items()
    distances = {
        direction: float(row.get(direction, "nan")) for direction in Clearance.model_fields
    }
    observed = Observation(
        run_id="1",
        captured_at_ns=1,
        views=(),
        signals=tuple(
            Signal(name=signal, value=float(row[signal]), unit="", stamp_ns=1)
            for signal in tool.signals
        ),
        clearance=None if all(map(math.isnan, distances.values())) else Clearance(**distances),
    )
    judged = evaluate(Criterion.model_validate_json(config.criterion(name, {})), Observed(observed))
    status, _, reason = row["verdict"].partition(": ")
    if status == "inconclusive":
        assert judged.kind is Kind.INCONCLUSIVE, judged
    else:
        assert (judged.status, judged.kind) == (Status[status.upper()], Kind.JUDGED), judged
        assert judged.failure_reason == reason


LOGIC = {"yes": True, "no": False, "unknown": None}


def test_the_table_of_three_values_is_what_criteria_do() -> None:
    (table,) = [
        item for item in tables(WITHOUT_VISION) if item.head == ["a", "b", "all", "any", "not a"]
    ]
    signals = {"a": "signal", "b": "signal"}
    nodes: dict[str, Any] = {
        "all": {"all": [{kind: {"name": name, "min": 0}} for name, kind in signals.items()]},
        "any": {"any": [{kind: {"name": name, "min": 0}} for name, kind in signals.items()]},
        "not a": {"not": {"signal": {"name": "a", "min": 0}}},
    }
    seen = set()
    for row in table.rows:
        a, b, *outcomes = [LOGIC[plain(token)] for token in row]
        seen.add(frozenset((a, b)))
        for node, outcome in zip(nodes.values(), outcomes, strict=True):
            criterion = Criterion.model_validate({"success": node})
            found = {"a": a, "b": b}
            holds = criterion.success.holds(lambda check, found=found: found[check.parameters.name])
            assert holds is outcome, (node, a, b)
    assert len(seen) == 6
