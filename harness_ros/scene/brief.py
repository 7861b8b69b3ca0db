# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The scene graph in words for a language model, and as JSON."""

from __future__ import annotations

import json

from harness_ros.scene.effects import RELATIONS, ROBOT
from harness_ros.scene.graph import SceneGraph


def brief(graph: SceneGraph) -> str:
    """A few lines: what the robot holds, what is where, and how much of it verdicts confirmed."""
    lines = [f"robot holds: {graph.holding() or 'nothing'}"]
    for relation in sorted(set(RELATIONS) - {"holding"}):
        where: dict[str, list[str]] = {}
        for item in graph.relations:
            if item.relation == relation:
                where.setdefault(item.object, []).append(item.subject)
        lines += [f"{relation} {ref}: {', '.join(where[ref])}" for ref in sorted(where)]
    named = {ref for item in graph.relations for ref in (item.subject, item.object)}
    unplaced = [ref for ref in graph.refs if ref not in named and ref != ROBOT]
    if unplaced:
        lines.append(f"nothing known of: {', '.join(unplaced)}")
    lines.append(f"confirmed changes: {graph.revision}")
    return "\n".join(lines)


def to_json(graph: SceneGraph) -> str:
    """JSON object with sorted keys: `holding`, `objects`, `relations`, `revision`.

    Each relation names the run that confirmed it and the stamp of that verdict in nanoseconds;
    `run_id` is empty where the relation comes from the configuration.
    """
    return json.dumps(
        {
            "holding": graph.holding(),
            "objects": list(graph.refs),
            "relations": [relation.model_dump() for relation in graph.relations],
            "revision": graph.revision,
        },
        sort_keys=True,
    )
