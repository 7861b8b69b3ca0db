# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The pages of the documentation as tests read them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GRAPH = DOCS / "graph.md"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md")])


class Block(NamedTuple):
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


class Table(NamedTuple):
    """A table of a page."""

    page: Path
    line: int
    head: list[str]
    rows: list[list[Token]]
    """The inline token of each cell."""

    def column(self, name: str) -> list[Token]:
        at = self.head.index(name)
        return [row[at] for row in self.rows]


@cache
def tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))


def line_of(token: Token) -> int:
    return (token.map or [0])[0] + 1


def blocks(*languages: str) -> list[Block]:
    return [
        Block(page, line_of(token), token.info, token.content)
        for page in PAGES
        for token in tokens(page)
        if token.type == "fence" and token.info in languages
    ]


def tables(page: Path) -> Iterator[Table]:
    cells: list[list[Token]] = []
    begun = 0
    for token in tokens(page):
        if token.type == "table_open":
            cells, begun = [], line_of(token)
        elif token.type == "tr_open":
            cells.append([])
        elif token.type == "inline" and cells is not None and token.level >= 4:
            if cells:
                cells[-1].append(token)
        elif token.type == "table_close":
            head, *rows = cells
            yield Table(page, begun, [plain(token) for token in head], rows)
            cells = []


def plain(token: Token) -> str:
    """The text of a cell without its markup."""
    return "".join(child.content for child in token.children or [])


def code(token: Token) -> list[str]:
    """The code spans of a cell."""
    return [child.content for child in token.children or [] if child.type == "code_inline"]


def graph_names() -> dict[str, set[str]]:
    """What docs/graph.md lists: names by the head of their table."""
    found: dict[str, set[str]] = {}
    for table in tables(GRAPH):
        for token in table.column(table.head[0]):
            found.setdefault(table.head[0], set()).update(code(token) or [plain(token)])
    nodes = re.findall(r"^`(\w+)` \(`ros2 run", GRAPH.read_text(), re.MULTILINE)
    return {**found, "node": set(nodes)}
