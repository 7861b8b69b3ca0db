# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""SceneGraph: an immutable set of relations between named things, and how it changes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from pydantic import Field

from harness_ros.contract import Record
from harness_ros.scene import rules
from harness_ros.scene.effects import CLOSED, RELATIONS, Effects, Triple, matches
from harness_ros.scene.relation import ContainerState, Relation, SceneError, Source, Word

Relations = dict[Triple, Relation]


class SceneGraph(Record):
    """What is known of the world. A value: `apply` and `perceive` return another one."""

    refs: tuple[str, ...]
    """Every name that may occur, sorted."""
    containers: tuple[str, ...] = ()
    """Those of them that may be open or closed, sorted."""
    relations: tuple[Relation, ...] = ()
    """Sorted by relation (as in RELATIONS), subject, object."""
    states: tuple[ContainerState, ...] = ()
    """Of containers whose state is known, sorted by ref."""
    revision: int = 0
    """How many verdicts led here from the initial graph; empty effects do not count."""
    changed_by: dict[str, str] = Field(default_factory=dict)
    """The run whose verdict last changed or confirmed something of a ref."""
    evidence_ns: dict[Triple, int] = Field(default_factory=dict)
    """Stamp of the youngest evidence on each relation or pattern that a change has named. What
    was deleted is in here too: an older picture must not bring it back."""
    began_ns: int = 0
    """When the graph began anew; what was seen before then says nothing."""

    @classmethod
    def initial(
        cls,
        refs: Iterable[str],
        relations: Iterable[Triple] = (),
        states: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        containers: Iterable[str] = (),
        began_ns: int = 0,
    ) -> SceneGraph:
        """The graph before any verdict.

        Args:
            refs: every name that may occur, `robot` among them where something can be held.
            relations: (relation, subject, object) triples that hold at the start.
            states: of containers, `open` or `closed`.
            containers: refs that may be open or closed.
            began_ns: what was seen before then says nothing.

        Raises:
            SceneError: they contradict each other or name something unknown.
        """
        known = tuple(sorted(set(refs)))
        effects = Effects.model_validate({"add": tuple(relations), "state": states})
        problems = effects.problems(known, tuple(containers))
        if not problems:
            closed = {ref for ref, state in effects.state if state == CLOSED}
            found = rules.contradictions(sorted(set(effects.add), key=order), closed)
            problems = [problem.text for problem in found]
        if problems:
            raise SceneError("; ".join(problems))
        return cls(
            refs=known,
            containers=tuple(sorted(set(containers))),
            relations=_sorted({triple: _relation(triple, Word()) for triple in effects.add}),
            states=tuple(
                ContainerState(ref=ref, state=state) for ref, state in sorted(set(effects.state))
            ),
            began_ns=began_ns,
        )

    def apply(
        self, effects: Effects, run_id: str, stamp_ns: int, evidence_ns: int = 0
    ) -> SceneGraph:
        """The graph after the deletes, the states and then the adds of one success.

        A delete of what does not hold is no error. An add of what holds already confirms it anew.
        What perception alone has seen gives way where the effects do not fit beside it.

        Args:
            stamp_ns: when the verdict was given.
            evidence_ns: stamp of the Observation that it rests on; 0 stands for `stamp_ns`.

        Raises:
            SceneError: the effects do not fit; this graph stays as it is in any case.
        """
        if effects.empty:
            return self
        word = Word(source=Source.VERDICT, run_id=run_id, stamp_ns=stamp_ns)
        before = {relation.triple: relation for relation in self.relations}
        while True:
            after, states, problems = self._fold(effects, word, before)
            if not problems:
                break
            yielding = {
                triple
                for problem in problems
                for triple in problem.triples
                if triple in before and before[triple].source is Source.PERCEPTION
            }
            if not yielding:
                raise SceneError("; ".join(problem.text for problem in problems))
            before = {t: relation for t, relation in before.items() if t not in yielding}
        gone = {relation.triple for relation in self.relations} - set(after)
        touched = {ref for triple in (*gone, *effects.add) for ref in triple[1:]}
        touched |= {ref for ref, _ in effects.state}
        named = (*effects.delete, *gone, *effects.add)
        return self.model_copy(
            update={
                "relations": _sorted(after),
                "states": tuple(states[ref] for ref in sorted(states)),
                "revision": self.revision + 1,
                "changed_by": {**self.changed_by, **dict.fromkeys(touched, run_id)},
                "evidence_ns": self._evidence(named, evidence_ns or stamp_ns),
            }
        )

    def perceive(self, effects: Effects, stamp_ns: int, confidence: float) -> SceneGraph:
        """The graph after what a perception node saw; see `harness_ros.scene.perception`.

        Args:
            stamp_ns: of the picture.
            confidence: 0 to 1.

        Raises:
            SceneError: the effects do not fit; this graph stays as it is in any case.
        """
        word = Word(source=Source.PERCEPTION, stamp_ns=stamp_ns, confidence=confidence)
        before = {relation.triple: relation for relation in self.relations}
        after, _, problems = self._fold(effects, word, before)
        if problems:
            raise SceneError("; ".join(problem.text for problem in problems))
        named = (*effects.delete, *effects.add)
        evidence_ns = self._evidence(named, stamp_ns)
        return self.model_copy(update={"relations": _sorted(after), "evidence_ns": evidence_ns})

    def holding(self) -> str | None:
        """What the robot holds, or None."""
        return next((r.object for r in self.relations if r.relation == "holding"), None)

    def relations_of(self, ref: str) -> tuple[Relation, ...]:
        """Every relation with `ref` as subject or object.

        Raises:
            SceneError: `ref` is unknown.
        """
        self.check_known(ref)
        return tuple(r for r in self.relations if ref in (r.subject, r.object))

    def state(self, ref: str) -> ContainerState | None:
        """The state of a container, or None where it is not known."""
        return next((state for state in self.states if state.ref == ref), None)

    def contents(self, ref: str) -> tuple[str, ...]:
        """Everything that is inside a thing, also inside or on what is inside, sorted."""
        return tuple(sorted(rules.contents(ref, [r.triple for r in self.relations])))

    def youngest_evidence_ns(self, triple: Triple) -> int:
        """Stamp of the youngest evidence for or against a relation; 0 without any."""
        spoken = (ns for pattern, ns in self.evidence_ns.items() if matches(pattern, triple))
        return max(spoken, default=0)

    def check_known(self, ref: str) -> None:
        """Raises SceneError with the refs that are known, if this one is not."""
        if ref not in self.refs:
            raise SceneError(f"unknown ref '{ref}'; known are {list(self.refs)}")

    def _fold(
        self, effects: Effects, word: Word, before: Relations
    ) -> tuple[Relations, dict[str, ContainerState], list[rules.Problem]]:
        """Relations and states after the effects, and what of it cannot be."""
        wrong = effects.problems(self.refs, self.containers)
        if wrong:
            raise SceneError("; ".join(wrong))
        after = {
            triple: relation
            for triple, relation in before.items()
            if not any(matches(pattern, triple) for pattern in effects.delete)
        }
        after |= {triple: _relation(triple, word) for triple in effects.add}
        states = {state.ref: state for state in self.states}
        states |= {
            ref: ContainerState(ref=ref, state=state, **dict(word)) for ref, state in effects.state
        }
        closed = {ref for ref, state in states.items() if state.state == CLOSED}
        sealed = {state.ref for state in self.states if state.state == CLOSED} & closed
        problems = rules.contradictions(sorted(after, key=order), closed)
        return after, states, problems or rules.trespasses(list(before), list(after), sealed)

    def _evidence(self, named: Collection[Triple], stamp_ns: int) -> dict[Triple, int]:
        known = self.evidence_ns
        return {**known, **{item: max(stamp_ns, known.get(item, 0)) for item in named}}


def order(triple: Triple) -> tuple[int, str, str]:
    """Sorts relations as in RELATIONS, then by subject and object."""
    return RELATIONS.index(triple[0]), triple[1], triple[2]


def _relation(triple: Triple, word: Word) -> Relation:
    relation, subject, object_ = triple
    return Relation(relation=relation, subject=subject, object=object_, **dict(word))


def _sorted(relations: Relations) -> tuple[Relation, ...]:
    return tuple(relations[triple] for triple in sorted(relations, key=order))
