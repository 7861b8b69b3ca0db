# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The pages of the documentation: generated tables, examples, links."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from pydantic import TypeAdapter

from harness_ros.capture.images import encode_png
from harness_ros.config import EvaluationConfig, Thing, load
from harness_ros.contract import ExitCode, Kind

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1] / "scripts"))

import field_tables
import write_docs
from markdown_pages import (
    DOCS,
    PAGES,
    ROOT,
    Block,
    blocks,
    code,
    graph_names,
    plain,
    tables,
    tokens,
)

# Generated parts


def test_generated_parts_are_what_the_script_writes() -> None:
    check = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "write_docs.py"), "--check"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert check.returncode == 0, f"run scripts/write_docs.py:\n{check.stdout}{check.stderr}"


KEYS = [*field_tables.rows(EvaluationConfig), *field_tables.rows(Thing, "objects.<name>.")]


@pytest.mark.parametrize("row", KEYS, ids=[row.key for row in KEYS])
def test_every_key_of_eval_yaml_says_what_it_means(row: field_tables.Row) -> None:
    assert len(row.text) > 4, f"{row.key}: a string under the field says what it means"


@pytest.mark.parametrize("section", sorted(EvaluationConfig.model_fields))
def test_every_section_of_eval_yaml_has_an_example(section: str) -> None:
    page = write_docs.CONFIGURATION.read_text(encoding="utf-8")
    parts = re.split(r"^## ", page, flags=re.MULTILINE)
    (part,) = [part for part in parts if part.startswith(f"`{section}`\n")]
    assert section == "version" or f"```yaml\n{section}:" in part


def test_a_page_that_lacks_a_generated_part_is_told_of() -> None:
    parts = {"one": "1", "two": "2"}
    page = "<!-- generated: one -->\nold\n<!-- end -->\n"
    assert write_docs.filled(page, parts) == "<!-- generated: one -->\n\n1\n\n<!-- end -->\n"
    assert write_docs.lacking(page, parts) == ["two"]
    with pytest.raises(write_docs.UnknownRegion, match="three"):
        write_docs.filled(page.replace("one", "three"), parts)


@pytest.mark.parametrize("kind", ["topic", "service", "action"])
def test_every_name_on_the_graph_is_explained(kind: str) -> None:
    explained = [table for table in tables(write_docs.GRAPH) if table.head[0] == kind]
    assert explained
    for table in explained:
        for name, text in zip(table.column(kind), table.column(""), strict=True):
            assert len(plain(text)) > 10, f"{plain(name)}: add words to scripts/write_docs.py"


def test_every_node_of_the_package_is_on_the_page() -> None:
    cmake = (ROOT / "CMakeLists.txt").read_text()
    built = re.search(r"set\(nodes ([\w\s]+)\)", cmake)
    assert built is not None
    documented = re.findall(r"ros2 run harness_ros (\w+)`\)", write_docs.GRAPH.read_text())
    assert sorted(built[1].split()) == sorted(documented)


def test_exit_codes_and_kinds_of_the_readme_are_those_of_the_code() -> None:
    by_head = {table.head[0]: table for table in tables(ROOT / "README.md")}
    codes = [int(plain(token)) for token in by_head["code"].column("code")]
    assert codes == [code.value for code in ExitCode]
    kinds = ["".join(code(token)) for token in by_head["kind"].column("kind")]
    assert kinds == [kind.value for kind in Kind]


def test_names_of_the_readme_are_on_the_graph() -> None:
    known = set().union(*graph_names().values())
    by_head = {table.head[0]: table for table in tables(ROOT / "README.md")}
    for token in by_head["name"].column("name"):
        assert set(code(token)) <= known, plain(token)


# Examples


def named_files(config: Any, folder: Path) -> None:
    """Makes a small picture of each `file:` that a configuration names."""
    if isinstance(config, str) and config.startswith("file:"):
        path = folder / config.removeprefix("file:")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode_png(np.zeros((8, 8, 3), np.uint8)))
    for item in config.values() if isinstance(config, dict) else config:
        if isinstance(item, (dict, list)) or (isinstance(item, str) and item != config):
            named_files(item, folder)


@pytest.mark.parametrize("block", blocks("yaml"), ids=str)
def test_yaml_example_is_accepted(block: Block, tmp_path: Path) -> None:
    read = yaml.safe_load(block.text)
    assert isinstance(read, dict)
    if "version" in read and "tools" in read:
        (tmp_path / "eval.yaml").write_text(block.text, encoding="utf-8")
        named_files(read, tmp_path)
        assert load(tmp_path / "eval.yaml").tools
        return
    # `clearance` is a section and a check; the page of checks has its own tests.
    if block.page.name != "checks.md" and read.keys() <= EvaluationConfig.model_fields.keys():
        for key, value in read.items():
            section: Any = EvaluationConfig.model_fields[key].annotation
            TypeAdapter(section).validate_python(value)


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_python_example_compiles(block: Block) -> None:
    compile(block.text, str(block), "exec")


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_python_example_imports_what_the_package_has(block: Block) -> None:
    for node in ast.walk(ast.parse(block.text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("harness_ros"):
            module = __import__(node.module or "", fromlist=["*"])
            for name in node.names:
                assert hasattr(module, name.name), f"{block}: {node.module} has no {name.name}"


# Links


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    found: set[str] = set()
    items = tokens(page)
    for at, token in enumerate(items):
        if token.type == "heading_open":
            text = re.sub(r"[^\w\- ]", "", plain(items[at + 1]).lower())
            found.add(text.replace(" ", "-"))
    return found


def links(page: Path) -> Iterator[str]:
    for token in tokens(page):
        for child in token.children or []:
            target = child.attrs.get("href") or child.attrs.get("src")
            if target:
                yield str(target)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_internal_links_resolve(page: Path) -> None:
    for link in links(page):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{page.name}: {link} is not there"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{page.name}: {link}: {sorted(anchors(target))}"


def test_the_index_names_every_page() -> None:
    named = {link for link in links(DOCS / "README.md") if link.endswith(".md")}
    there = {page.name for page in DOCS.glob("*.md")} - {"README.md"}
    assert there <= named
