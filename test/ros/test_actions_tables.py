# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the documents say of exit codes and kinds is what the interfaces and the contract say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from harness_ros import action, msg
from harness_ros.contract import ExitCode, Kind, Status

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("README.md", "docs/tools.md")


def constants(interface: Any, prefix: str) -> dict[str, Any]:
    found = {name for name in vars(type(interface)) if name.startswith(prefix)}
    return {name.removeprefix(prefix): getattr(interface, name) for name in found}


def table(document: str, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    text = (ROOT / document).read_text(encoding="utf-8")
    below = text[text.index(heading) :]
    rows = re.search(r"^\|.*?\n\|[-| ]+\|\n((?:\|.*\n)+)", below, re.MULTILINE)
    assert rows is not None, f"{document}: no table below {heading!r}"
    return [
        [cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        for row in rows[1].splitlines()
    ]


def test_constants_of_the_interfaces_are_those_of_the_contract() -> None:
    exit_codes = {item.name: item.value for item in ExitCode}
    assert constants(action.RunTool.Goal, "EXIT_CODE_") == exit_codes
    assert constants(msg.Verdict, "KIND_") == {item.name: item.value for item in Kind}
    for status in Status:
        assert getattr(msg.Verdict, status.name) == status.value


@pytest.mark.parametrize("document", DOCUMENTS)
def test_table_of_exit_codes_is_that_of_the_contract(document: str) -> None:
    rows = table(document, "### Exit codes")
    assert [(int(row[0]), row[1]) for row in rows] == [
        (item.value, f"EXIT_CODE_{item.name}") for item in ExitCode
    ]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_table_of_kinds_is_that_of_the_contract(document: str) -> None:
    kinds = [
        "" if row[0] == "(empty)" else row[0] for row in table(document, "### Kinds of failure")
    ]
    assert kinds == [item.value for item in Kind]
