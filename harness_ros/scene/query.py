# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the scene graph knows of one thing."""

from __future__ import annotations

from harness_ros.contract import Record
from harness_ros.scene.effects import RELATIONS
from harness_ros.scene.graph import SceneGraph
from harness_ros.scene.relation import Relation, SceneError, Source


class Answer(Record):
    """Relations that hold, and what else is known of the thing that was asked for."""

    relations: tuple[Relation, ...]
    """Sorted by relation, subject, object."""
    state: str = ""
    """Of the thing: open, closed, or empty where it is not known."""
    contents: tuple[str, ...] = ()
    """What is inside the thing, also inside or on what is inside, sorted."""
    confirmed_at_ns: int = 0
    """The last time that a verdict confirmed something of this; 0 where none has."""


def ask(graph: SceneGraph, ref: str = "", relation: str = "") -> Answer:
    """The relations of a thing, of a kind, or of both.

    Args:
        ref: as subject or object; empty for all.
        relation: `on`, `inside`, `holding`, `near`; empty for all.

    Raises:
        SceneError: the ref or the relation is unknown; the text says which are known.
    """
    if relation and relation not in RELATIONS:
        raise SceneError(f"unknown relation '{relation}'; it is one of {list(RELATIONS)}")
    found = graph.relations_of(ref) if ref else graph.relations
    found = tuple(item for item in found if relation in ("", item.relation))
    state = graph.state(ref)
    said = [*found, *([state] if state else [])]
    return Answer(
        relations=found,
        state=state.state if state else "",
        contents=graph.contents(ref) if ref else (),
        confirmed_at_ns=max(
            (item.stamp_ns for item in said if item.source is Source.VERDICT), default=0
        ),
    )
