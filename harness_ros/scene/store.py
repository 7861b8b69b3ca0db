# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""SceneStore: the scene graph as a fold over the verdicts in the ledger.

A message that announces a verdict is only a doorbell: what is applied is what the evaluator wrote
to the ledger. Each success becomes one event, which carries the verdict's position, in one
transaction; the graph in memory is never ahead of the events on disk. What perception sees becomes
an event where it changes something, so that a restart keeps it.
"""

from __future__ import annotations

import threading

from pydantic import ValidationError

from harness_ros.config import BUILTIN_REFS, EvaluationConfig
from harness_ros.contract import HarnessError, Status, Verdict
from harness_ros.ledger import Ledger
from harness_ros.scene.change import Outcome, SceneChange
from harness_ros.scene.effects import ANY, Effects
from harness_ros.scene.graph import SceneGraph
from harness_ros.scene.perception import Sighting
from harness_ros.scene.relation import SceneError
from harness_ros.scene.sightings import Sightings


class SceneStore:
    """The scene graph of one ledger; usable from several threads, and beside other processes.

    Args:
        ledger: where the verdicts are read and the events are kept.
        config: gives the objects, the relations to begin with and the effects of each tool.

    Raises:
        SceneError: `scene.relations` contradict each other, or the recorded events do.
        LedgerError: the ledger cannot be read or written.
    """

    def __init__(self, ledger: Ledger, config: EvaluationConfig):
        self._ledger = ledger
        self._config = config
        self._lock = threading.RLock()
        self._sightings = Sightings()
        self._graph: SceneGraph
        self._number: int
        """Of the last event in the graph."""
        self._position: int
        """Of the last verdict that was looked at."""
        self._began_with: Effects
        self._untold: list[SceneChange] = []
        """What `catch_up` has not returned yet."""
        self._replay()
        if self._number == 0:
            self._begin()

    @property
    def graph(self) -> SceneGraph:
        """The graph after the last event, as the ledger has it."""
        return self._graph

    @property
    def present(self) -> SceneGraph:
        """The graph, with what perception saw at the stamp at which it last saw it."""
        with self._lock:
            return self._sightings.refresh(self._graph)

    @property
    def sightings(self) -> Sightings:
        """What perception has seen lately."""
        return self._sightings

    @property
    def warning(self) -> str:
        """Says that the configuration begins with other relations than this graph did, or empty."""
        now = self._beginning()
        if set(self._began_with.add) == set(now.add) and (
            dict(self._began_with.state) == dict(now.state)
        ):
            return ""
        return (
            f"{self._ledger.path}: the scene graph goes on from what it began with, "
            f"{sorted(self._began_with.add)} and {dict(sorted(self._began_with.state))}; "
            "`scene.relations` or `scene.states` are different now and take effect with a reset "
            "(service scene/reset) or a new ledger"
        )

    def catch_up(self) -> list[SceneChange]:
        """Applies every success that the ledger got since the last one looked at.

        Returns:
            What was applied or rejected since the last call, in the order of the verdicts.
        """
        with self._lock:
            self._apply_verdicts()
            changes, self._untold = self._untold, []
        return changes

    def perceive(self, sighting: Sighting, now_ns: int) -> SceneChange | None:
        """Takes what a perception node saw, as far as `scene.perception` allows it.

        Args:
            now_ns: the present time on the clock of the stamps.

        Returns:
            What it changed, or None where it changed nothing.

        Raises:
            SceneError: something in it is no number, from the future, unknown, or cannot be true
                beside what the graph holds; then nothing of it is taken.
        """
        perception = self._config.scene.perception
        with self._lock:
            self._apply_verdicts()
            perception.check(sighting, self._graph, now_ns)
            if sighting.confidence < perception.min_confidence:
                return None
            while True:
                change, graph = self._perceived(sighting)
                if change is None or self._ledger.record_scene_event(change):
                    break
                self._apply_verdicts()
            self._sightings.note(sighting, change.effects if change else Effects())
            if change is not None:
                self._graph, self._number = graph, change.number
            return change

    def reset(self, now_ns: int = 0) -> None:
        """Begins anew with `scene.relations`, for when a person has put the world in order.

        Args:
            now_ns: what perception saw before this says nothing any more.
        """
        with self._lock:
            self.catch_up()
            while not self._begin(now_ns):
                self.catch_up()

    def _apply_verdicts(self) -> None:
        if any(self._ledger.scene_events(after=self._number)):
            # What another process wrote is the truth, also where no verdict led to it.
            self._replay()
        while not self._pass():
            self._replay()

    def _pass(self) -> bool:
        for position, verdict in self._ledger.verdicts_after(self._position):
            if verdict.status is Status.SUCCESS:
                change, graph = self._judge(position, verdict)
                if not self._ledger.record_scene_event(change):
                    return False
                self._graph, self._number = graph, change.number
                self._untold.append(change)
            self._position = position
        return True

    def _judge(self, position: int, verdict: Verdict) -> tuple[SceneChange, SceneGraph]:
        effects, reason, graph = Effects(), "", self._graph
        try:
            effects = self._config.effects(verdict.tool_name, verdict.arguments)
            graph = graph.apply(
                effects, verdict.run_id, verdict.given_at_ns, verdict.observed_at_ns
            )
        except (HarnessError, ValidationError) as error:
            # ValidationError: a property that filled a placeholder is not text.
            reason = str(error)
        change = SceneChange(
            number=self._number + 1,
            position=position,
            outcome=Outcome.REJECTED if reason else Outcome.APPLIED,
            run_id=verdict.run_id,
            tool_name=verdict.tool_name,
            effects=effects,
            reason=reason,
            stamp_ns=verdict.given_at_ns,
            evidence_ns=verdict.observed_at_ns,
        )
        return change, graph

    def _perceived(self, sighting: Sighting) -> tuple[SceneChange | None, SceneGraph]:
        effects = self._config.scene.perception.admitted(
            sighting, self._graph, self._sightings.seen_ns, self._sightings.changed_ns
        )
        if effects.empty:
            return None, self._graph
        try:
            graph = self._graph.perceive(effects, sighting.stamp_ns, sighting.confidence)
        except SceneError as error:
            raise SceneError(f"from '{sighting.seen_by}': {error}") from None
        change = SceneChange(
            number=self._number + 1,
            position=self._position,
            outcome=Outcome.PERCEIVED,
            effects=effects,
            stamp_ns=sighting.stamp_ns,
            seen_by=sighting.seen_by,
            confidence=sighting.confidence,
        )
        return change, graph

    def _beginning(self) -> Effects:
        scene = self._config.scene
        return Effects(add=scene.relations, state=tuple(sorted(scene.states.items())))

    def _begin(self, now_ns: int = 0) -> bool:
        """Whether the event was recorded; another process may have been first."""
        first = SceneChange(
            number=self._number + 1,
            position=self._position,
            outcome=Outcome.INITIAL,
            effects=self._beginning(),
            stamp_ns=now_ns,
        )
        self._initial(first, [])
        recorded = self._ledger.record_scene_event(first)
        self._replay()
        if recorded:
            self._sightings.forget()
        return recorded

    def _replay(self) -> None:
        events = list(self._ledger.scene_events())
        starts = [i for i, event in enumerate(events) if event.outcome is Outcome.INITIAL]
        current = events[starts[-1] :] if starts else []
        graph = self._initial(current[0] if current else None, current)
        for event in current[1:]:
            try:
                graph = _after(graph, event)
            except SceneError as error:
                raise SceneError(
                    f"{self._ledger.path}: scene event {event.number} "
                    f"(run {event.run_id}) cannot be replayed: {error}"
                ) from None
        self._graph = graph
        self._number = events[-1].number if events else 0
        self._position = events[-1].position if events else 0
        self._began_with = current[0].effects if current else Effects()

    def _initial(self, first: SceneChange | None, history: list[SceneChange]) -> SceneGraph:
        effects = first.effects if first else Effects()
        # Things that left the configuration stay known as long as the graph's history names them.
        kept = [event.effects for event in history if event.outcome is not Outcome.REJECTED]
        named = {ref for item in kept for triple in (*item.delete, *item.add) for ref in triple[1:]}
        stateful = {ref for item in kept for ref, _ in item.state}
        return SceneGraph.initial(
            ({*self._config.objects, *BUILTIN_REFS} | named | stateful) - {ANY},
            effects.add,
            effects.state,
            self._config.containers | stateful,
            first.stamp_ns if first else 0,
        )


def _after(graph: SceneGraph, event: SceneChange) -> SceneGraph:
    if event.outcome is Outcome.APPLIED:
        return graph.apply(event.effects, event.run_id, event.stamp_ns, event.evidence_ns)
    if event.outcome is Outcome.PERCEIVED:
        return graph.perceive(event.effects, event.stamp_ns, event.confidence)
    return graph
