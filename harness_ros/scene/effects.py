# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a successful run changes in the scene graph: the delete and add lists of a tool.

The names follow STRIPS (Fikes and Nilsson, 1971): every delete is done before the first add. A
relation is `(relation, subject, object)` and reads from left to right with "is" or "a" put in:
`("on", "red_block", "table")`, `("holding", "robot", "red_block")`. States of containers are set
between the two.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict


def _on(value: Any) -> Any:
    # YAML 1.1 reads `on` without quotes as true.
    return "on" if value is True else value


RelationName = Annotated[Literal["on", "inside", "holding", "near"], BeforeValidator(_on)]

RELATIONS = ("on", "inside", "holding", "near")
"""Every relation that a scene graph can hold."""

OPEN = "open"
CLOSED = "closed"
STATES = (OPEN, CLOSED)
"""Every state that a container can have."""

ANY = "*"
"""Stands for every subject or every object, in `delete` only."""

ROBOT = "robot"
"""The one ref that can hold; it needs no entry under `objects`."""

Triple = tuple[str, str, str]


def matches(pattern: Triple, triple: Triple) -> bool:
    """Whether a relation is one that a pattern of `delete` means."""
    return all(want in (ANY, value) for want, value in zip(pattern, triple, strict=True))


def _pairs(value: Any) -> Any:
    return tuple(value.items()) if isinstance(value, Mapping) else value


class Effects(BaseModel):
    """The effects of one tool; values may be `{argument}` placeholders until they are filled."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    delete: tuple[Triple, ...] = ()
    """Relations that no longer hold; `*` matches every subject or every object."""
    state: Annotated[tuple[tuple[str, str], ...], BeforeValidator(_pairs)] = ()
    """(container, `open` or `closed`) pairs that hold now; a mapping in eval.yaml."""
    add: tuple[Triple, ...] = ()
    """Relations that hold now."""

    @property
    def empty(self) -> bool:
        """Whether nothing is said."""
        return not (self.delete or self.state or self.add)

    def problems(
        self, known: Collection[str], containers: Collection[str] | None = None
    ) -> list[str]:
        """What is wrong with filled effects, one sentence each; empty when nothing is.

        Args:
            known: every ref that may occur: the objects, the places and the robot.
            containers: those that may be open or closed; None does not look at that.
        """
        return [
            *_problems("delete", self.delete, known),
            *self._state_problems(known, containers),
            *_problems("add", self.add, known),
        ]

    def _state_problems(
        self, known: Collection[str], containers: Collection[str] | None
    ) -> Iterator[str]:
        said: dict[str, str] = {}
        for ref, state in self.state:
            if ref not in known:
                yield f"state: unknown ref '{ref}'; known are {sorted(known)}"
            elif containers is not None and ref not in containers:
                yield (
                    f"state.{ref}: '{ref}' is no container; `container: true` under "
                    f"objects.{ref} makes it one, and it is so for {sorted(containers)}"
                )
            if state not in STATES:
                yield f"state.{ref}: unknown state '{state}'; it is one of {list(STATES)}"
            elif said.setdefault(ref, state) != state:
                yield f"state.{ref}: both '{said[ref]}' and '{state}'"


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
