# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What cannot be true of the world at the same time, and what cannot become true.

- A thing is in one place, rests on nothing that rests on it, and the robot holds one thing.
- What is inside a container that is closed and stays closed stays the same, and cannot be held by
  a robot that is outside.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from harness_ros.scene.effects import ROBOT, Triple

PLACES = ("on", "inside")
"""Relations that say where a thing is; a thing has at most one of them."""


class Problem(NamedTuple):
    """Something that cannot be."""

    text: str
    triples: tuple[Triple, ...]
    """The relations that lead to it."""


def rivals(one: Triple, other: Triple) -> bool:
    """Whether two different relations exclude each other."""
    if one == other:
        return False
    if one[0] == other[0] == "holding":
        return one[1] == other[1]
    return one[0] in PLACES and other[0] in PLACES and one[1] == other[1]


def contents(container: str, triples: Collection[Triple]) -> dict[str, tuple[Triple, ...]]:
    """Everything that is inside a container, also inside or on what is inside.

    Returns:
        The relations from each thing up to the container, its own first.
    """
    within: dict[str, tuple[Triple, ...]] = {}
    open_ends: list[tuple[str, tuple[Triple, ...]]] = [(container, ())]
    while open_ends:
        carrier, path = open_ends.pop()
        for triple in triples:
            relation, subject, object_ = triple
            thing, holder = (object_, subject) if relation == "holding" else (subject, object_)
            counts = relation in ("inside", *(("on", "holding") if path else ()))
            if counts and holder == carrier and thing not in within and thing != container:
                within[thing] = (triple, *path)
                open_ends.append((thing, within[thing]))
    return within


def contradictions(triples: Iterable[Triple], closed: Collection[str] = ()) -> list[Problem]:
    """What of these relations cannot be true at the same time.

    Args:
        triples: in a fixed order, which the texts follow.
        closed: containers that are closed.
    """
    triples = tuple(triples)
    problems = list(_pairwise(triples))
    return problems or [*_circles(triples), *_out_of_reach(triples, closed)]


def trespasses(
    before: Collection[Triple], after: Collection[Triple], sealed: Iterable[str]
) -> list[Problem]:
    """What would get into or out of containers that are closed and stay closed.

    Args:
        sealed: these containers.
    """
    problems = []
    for container in sorted(sealed):
        was, will_be = contents(container, before), contents(container, after)
        for there, not_there, words in (
            (was, will_be, f"be taken out of '{container}'"),
            (will_be, was, f"be put into '{container}'"),
        ):
            moved = {thing: path for thing, path in there.items() if thing not in not_there}
            problems += [
                Problem(f"'{thing}' would {words}, which is closed", path)
                for thing, path in sorted(moved.items())
                # What moves along with what it is in or on is not told of.
                if not any(ref in moved for triple in path[1:] for ref in triple[1:])
            ]
    return problems


def _pairwise(triples: tuple[Triple, ...]) -> Iterator[Problem]:
    places: dict[str, Triple] = {}
    held: Triple | None = None
    for triple in triples:
        relation, subject, object_ = triple
        if subject == object_:
            yield Problem(f"'{subject}' would be in relation '{relation}' with itself", (triple,))
        elif relation == "holding" and subject != ROBOT:
            text = f"'{subject}' would hold '{object_}'; only '{ROBOT}' can hold"
            yield Problem(text, (triple,))
        elif relation == "holding" and held is not None:
            text = f"'{ROBOT}' would hold both '{held[2]}' and '{object_}'"
            yield Problem(text, (held, triple))
        elif relation == "holding":
            held = triple
        elif relation in PLACES and subject in places:
            first = places[subject]
            text = f"'{subject}' would be both {first[0]} '{first[2]}' and {relation} '{object_}'"
            yield Problem(text, (first, triple))
        elif relation in PLACES:
            places[subject] = triple


def _circles(triples: tuple[Triple, ...]) -> list[Problem]:
    places: Mapping[str, Triple] = {t[1]: t for t in triples if t[0] in PLACES}
    for start in places:
        chain = [start]
        while chain[-1] in places:
            chain.append(places[chain[-1]][2])
            if chain[-1] == start:
                text = f"'{start}' would rest on itself: {' -> '.join(chain)}"
                return [Problem(text, tuple(places[ref] for ref in chain[:-1]))]
            if chain[-1] in chain[:-1]:
                break
    return []


def _out_of_reach(triples: tuple[Triple, ...], closed: Collection[str]) -> Iterator[Problem]:
    holding = next((triple for triple in triples if triple[0] == "holding"), None)
    if holding is None:
        return
    for container in sorted(closed):
        within = contents(container, triples)
        if holding[2] in within and ROBOT not in within:
            text = f"'{ROBOT}' would hold '{holding[2]}' inside '{container}', which is closed"
            yield Problem(text, (holding, *within[holding[2]]))
