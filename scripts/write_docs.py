# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Writes what can be generated into docs/configuration.md and docs/graph.md.

The pages are written by hand but for what stands between `<!-- generated: … -->` and
`<!-- end -->`: tables of keys from the models of harness_ros.config, tables of topics, services,
actions and parameters from the nodes themselves, of interfaces from their files.

    python scripts/write_docs.py           # writes
    python scripts/write_docs.py --check   # shows what would change; exit code 1 if so
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from field_tables import Row, field_texts, rows, table

from harness_ros.config import EvaluationConfig, Thing
from harness_ros.contract import Kind, Status, exit_code

DOCS = Path(__file__).parents[1] / "docs"
CONFIGURATION, GRAPH = DOCS / "configuration.md", DOCS / "graph.md"
REGION = re.compile(r"(<!-- generated: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)

WORDS = {
    "/clock": "Simulated time.",
    "/diagnostics": "Once a second, see [diagnostics](diagnostics.md).",
    "scene/graph": "The scene graph as JSON, whenever it has changed.",
    "scene/markers": "The scene graph for RViz and Foxglove.",
    "scene/reset": "Begins the scene graph anew, as the configuration says.",
    "tabletop/front/image_raw": "Camera of the demo.",
    "tabletop/gripper/state": "Width (m) and force (N) of the gripper of the demo.",
    "tabletop/top/image_raw": "Camera of the demo.",
    "tabletop/wrist/image_raw/compressed": "Camera of the demo.",
}
"""Of names whose type is not of this package; the others are told of by their interface."""


class UnknownRegion(Exception):
    """A generated part of a page that nothing generates."""


def configuration_parts() -> dict[str, str]:
    """What goes into docs/configuration.md, by the names of the regions."""
    parts: dict[str, list[Row]] = {}
    for row in rows(EvaluationConfig):
        parts.setdefault(row.key.split(".")[0], []).append(row)
    found = {}
    for name, (head, *keys) in parts.items():
        needed = ", needed" if head.default else ""
        lines = [f"{head.text} ({head.value}{needed})"]
        if keys:
            lines += ["", table(keys)]
        found[f"keys of {name}"] = "\n".join(lines)
    found["known properties of objects"] = table(rows(Thing, "objects.<name>."))
    return found


def graph_parts() -> dict[str, str]:
    """What goes into docs/graph.md, by the names of the regions."""
    # Only this needs ROS.
    import graph_tables
    import interface_tables

    found = graph_tables.look()
    interfaces = list(interface_tables.interfaces())
    by_type = {item.name: _first_sentence(item.text) for item in interfaces}
    words = {
        end.name: by_type.get(end.type, WORDS.get(end.name, ""))
        for item in found.values()
        for end in item.endpoints
    }
    return {
        "topics": graph_tables.topics(found.values(), words),
        "services": graph_tables.servers(found.values(), "service", "client", words),
        "actions": graph_tables.servers(found.values(), "action", "action client", words),
        "parameters": graph_tables.parameters(found),
        "hidden names": graph_tables.hidden(found.values()),
        "launch arguments": interface_tables.launch_table(),
        "exit codes": interface_tables.exit_codes(),
        "kinds": _kinds(),
        "interfaces": "\n\n".join(interface_tables.section(item) for item in interfaces),
    }


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=\.)\s", text)[0]


def _kinds() -> str:
    lines = ["| kind | exit code | meaning |", "|---|---|---|"]
    texts = field_texts(Kind)
    for kind in Kind:
        name = f"`{kind.value}`" if kind.value else "(empty)"
        code = exit_code(Status.FAILURE, kind)
        lines.append(f"| {name} | {code.value} | {texts[kind.name]} |")
    return "\n".join(lines)


def filled(page: str, parts: Mapping[str, str]) -> str:
    """A page with every generated part as it should be.

    Raises:
        UnknownRegion: the page has a region of another name.
    """

    def generated(region: re.Match[str]) -> str:
        head, name, end = region.groups()
        if name not in parts:
            raise UnknownRegion(f"nothing generates '{name}'; known are {sorted(parts)}")
        return f"{head}\n{parts[name]}\n\n{end}"

    return REGION.sub(generated, page)


def lacking(page: str, parts: Mapping[str, str]) -> list[str]:
    """Names of what is generated and stands nowhere in the page."""
    there = {name for _, name, _ in REGION.findall(page)}
    return [name for name in parts if name not in there]


def main() -> int:
    """Writes the pages, or compares them with what would be written."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, show what differs")
    only_check = parser.parse_args().check
    differing = False
    for path, parts in ((CONFIGURATION, configuration_parts()), (GRAPH, graph_parts())):
        before = path.read_text(encoding="utf-8")
        after = filled(before, parts)
        for name in lacking(before, parts):
            print(f"{path.name}: no place for '<!-- generated: {name} -->'")
            differing = True
        if before == after:
            continue
        differing = True
        if only_check:
            lines = before.splitlines(), after.splitlines()
            print("\n".join(difflib.unified_diff(*lines, path.name, "as generated", lineterm="")))
        else:
            path.write_text(after, encoding="utf-8")
            print(f"{path.name}: written")
    return int(only_check and differing)


if __name__ == "__main__":
    sys.exit(main())
