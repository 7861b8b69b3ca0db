# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""SceneGraph: an immutable set of relations between named things, and the rules that it keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness_ros.contract import HarnessError, Record
from harness_ros.scene.effects import ANY, RELATIONS, ROBOT, Effects, Triple

PLACES = ("on", "inside")
"""Relations that say where a thing is; a thing has at most one of them."""


class SceneError(HarnessError):
    """Effects that do not fit the scene graph; the text lists everything that is wrong."""


class Relation(Record):
    """One relation that holds, and the run whose success verdict last confirmed it."""

    relation: str
    subject: str
    object: str
    run_id: str
    """Empty for a relation that the configuration began with: no run has confirmed it."""
    stamp_ns: int
    """When that verdict was given; 0 where run_id is empty."""

    @property
    def triple(self) -> Triple:
        """(relation, subject, object)."""
        return self.relation, self.subject, self.object


class SceneGraph(Record):
    """What is known of the world. A value: `apply` returns another one."""

    refs: tuple[str, ...]
    """Every name that may occur, sorted."""
    relations: tuple[Relation, ...] = ()
    """Sorted by relation (as in RELATIONS), subject, object."""
    revision: int = 0
    """How many applications led here from the initial graph; empty effects do not count."""

    @classmethod
    def initial(cls, refs: Iterable[str], relations: Iterable[Triple] = ()) -> SceneGraph:
        """The graph before any verdict.

        Args:
            refs: every name that may occur, `robot` among them where something can be held.
            relations: (relation, subject, object) triples that hold at the start.

        Raises:
            SceneError: the relations contradict each other or name something unknown.
        """
        empty = cls(refs=tuple(sorted(set(refs))))
        graph = empty.apply(Effects(add=tuple(relations)), run_id="", stamp_ns=0)
        return graph.model_copy(update={"revision": 0})

    def apply(self, effects: Effects, run_id: str, stamp_ns: int) -> SceneGraph:
        """The graph after the deletes and then the adds of one success.

        A delete of what does not hold is no error. An add of what holds already confirms it anew.

        Raises:
            SceneError: the effects do not fit; this graph stays as it is in any case.
        """
        problems = effects.problems(self.refs)
        if problems:
            raise SceneError("; ".join(problems))
        if not effects.delete and not effects.add:
            return self
        held = {
            relation.triple: relation
            for relation in self.relations
            if not any(_matches(pattern, relation.triple) for pattern in effects.delete)
        }
        for relation, subject, object_ in effects.add:
            held[relation, subject, object_] = Relation(
                relation=relation, subject=subject, object=object_, run_id=run_id, stamp_ns=stamp_ns
            )
        problems = _contradictions(sorted(held, key=_order))
        if problems:
            raise SceneError("; ".join(problems))
        return SceneGraph(
            refs=self.refs,
            relations=tuple(held[triple] for triple in sorted(held, key=_order)),
            revision=self.revision + 1,
        )

    def holding(self) -> str | None:
        """What the robot holds, or None."""
        return next((r.object for r in self.relations if r.relation == "holding"), None)

    def relations_of(self, ref: str) -> tuple[Relation, ...]:
        """Every relation with `ref` as subject or object.

        Raises:
            SceneError: `ref` is unknown.
        """
        if ref not in self.refs:
            raise SceneError(f"unknown ref '{ref}'; known are {list(self.refs)}")
        return tuple(r for r in self.relations if ref in (r.subject, r.object))


def _order(triple: Triple) -> tuple[int, str, str]:
    return RELATIONS.index(triple[0]), triple[1], triple[2]


def _matches(pattern: Triple, triple: Triple) -> bool:
    return all(want in (ANY, value) for want, value in zip(pattern, triple, strict=True))


def _contradictions(triples: Iterable[Triple]) -> list[str]:
    """What cannot be true of the world at the same time, one sentence each."""
    problems: list[str] = []
    places: dict[str, Triple] = {}
    held: str | None = None
    for triple in triples:
        relation, subject, object_ = triple
        if subject == object_:
            problems.append(f"'{subject}' would be in relation '{relation}' with itself")
        elif relation == "holding" and subject != ROBOT:
            problems.append(f"'{subject}' would hold '{object_}'; only '{ROBOT}' can hold")
        elif relation == "holding" and held is not None:
            problems.append(f"'{ROBOT}' would hold both '{held}' and '{object_}'")
        elif relation == "holding":
            held = object_
        elif relation in PLACES and subject in places:
            first = places[subject]
            problems.append(
                f"'{subject}' would be both {first[0]} '{first[2]}' and {relation} '{object_}'"
            )
        elif relation in PLACES:
            places[subject] = triple
    return problems or _circles(places)


def _circles(places: Mapping[str, Triple]) -> list[str]:
    for start in places:
        chain = [start]
        while chain[-1] in places:
            chain.append(places[chain[-1]][2])
            if chain[-1] == start:
                return [f"'{start}' would rest on itself: {' -> '.join(chain)}"]
            if chain[-1] in chain[:-1]:
                break
    return []
