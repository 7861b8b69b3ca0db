# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The scene graph in words for a language model, and as JSON."""

from __future__ import annotations

import itertools
import json

from harness_ros.scene.confidence import Confidence
from harness_ros.scene.effects import RELATIONS, ROBOT
from harness_ros.scene.graph import SceneGraph
from harness_ros.scene.relation import Relation

DEFAULT = Confidence()


def brief(graph: SceneGraph, confidence: Confidence = DEFAULT, now_ns: int = 0) -> str:
    """A few lines: what the robot holds, what is where, and how much of it verdicts confirmed.

    Args:
        confidence: says which relations are told with their age and source.
        now_ns: the present time on the clock of the stamps.
    """

    def told(relations: list[Relation], side: str) -> str:
        return _listed([(getattr(item, side), confidence.note(item, now_ns)) for item in relations])

    held = [item for item in graph.relations if item.relation == "holding"]
    lines = [f"robot holds: {told(held, 'object') or 'nothing'}"]
    states = {state.ref: state.state for state in graph.states}
    for relation in sorted(set(RELATIONS) - {"holding"}):
        where: dict[str, list[Relation]] = {}
        for item in graph.relations:
            if item.relation == relation:
                where.setdefault(item.object, []).append(item)
        stateful = set(states) if relation == "inside" else set()
        for ref in sorted({*where, *stateful}):
            state = f" ({states[ref]})" if ref in stateful else ""
            things = told(where.get(ref, []), "subject") or "nothing known"
            lines.append(f"{relation} {ref}{state}: {things}")
    named = {ref for item in graph.relations for ref in (item.subject, item.object)} | set(states)
    unplaced = [ref for ref in graph.refs if ref not in named and ref != ROBOT]
    if unplaced:
        lines.append(f"nothing known of: {', '.join(unplaced)}")
    lines.append(f"confirmed changes: {graph.revision}")
    return "\n".join(lines)


def _listed(things: list[tuple[str, str]]) -> str:
    """Names with their notes in brackets; a note that several share is said once, behind them."""
    parts = []
    for note, group in itertools.groupby(sorted(things, key=lambda t: t[1]), key=lambda t: t[1]):
        names = [name for name, _ in group]
        shared = {1: "", 2: "both "}.get(len(names), "all ")
        parts.append(", ".join(names) + (f" ({shared}{note})" if note else ""))
    return ", ".join(parts)


def to_json(graph: SceneGraph, confidence: Confidence = DEFAULT) -> str:
    """JSON object with sorted keys: `holding`, `objects`, `relations`, `revision`, `states`.

    Each relation and state names its source, the run that confirmed it and the stamp of that
    verdict or picture in nanoseconds; `run_id` is empty and the stamp 0 where no verdict or picture
    did. `confidence` is what the source gave at that stamp: fading is for who reads it later.
    """
    relations = [
        {**item.model_dump(mode="json"), "confidence": confidence.given(item)}
        for item in graph.relations
    ]
    states = {
        item.ref: item.model_dump(mode="json", exclude={"ref", "confidence"})
        for item in graph.states
    }
    return json.dumps(
        {
            "holding": graph.holding(),
            "objects": list(graph.refs),
            "relations": relations,
            "revision": graph.revision,
            "states": states,
        },
        sort_keys=True,
    )
