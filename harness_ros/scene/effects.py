# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a successful run changes in the scene graph: the delete and add lists of a tool.

The names follow STRIPS (Fikes and Nilsson, 1971): every delete is done before the first add. A
relation is `(relation, subject, object)` and reads from left to right with "is" or "a" put in:
`("on", "red_block", "table")`, `("holding", "robot", "red_block")`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pydantic import BaseModel, ConfigDict

RELATIONS = ("on", "inside", "holding", "near")
"""Every relation that a scene graph can hold."""

ANY = "*"
"""Stands for every subject or every object, in `delete` only."""

ROBOT = "robot"
"""The one ref that can hold; it needs no entry under `objects`."""

Triple = tuple[str, str, str]


class Effects(BaseModel):
    """The effects of one tool; values may be `{argument}` placeholders until they are filled."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    delete: tuple[Triple, ...] = ()
    """Relations that no longer hold; `*` matches every subject or every object."""
    add: tuple[Triple, ...] = ()
    """Relations that hold now."""

    def problems(self, known: Collection[str]) -> list[str]:
        """What is wrong with filled effects, one sentence each; empty when nothing is.

        Args:
            known: every ref that may occur: the objects, the places and the robot.
        """
        return [*_problems("delete", self.delete, known), *_problems("add", self.add, known)]


def _problems(key: str, triples: tuple[Triple, ...], known: Collection[str]) -> Iterator[str]:
    for number, (relation, *refs) in enumerate(triples):
        where = f"{key}[{number}]"
        if relation not in RELATIONS:
            yield f"{where}: unknown relation '{relation}'; it is one of {list(RELATIONS)}"
        for ref in refs:
            if ref == ANY:
                if key == "add":
                    yield f"{where}: '{ANY}' is allowed in `delete` only"
            elif ref not in known:
                yield f"{where}: unknown ref '{ref}'; known are {sorted(known)}"
