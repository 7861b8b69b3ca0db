# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""SceneStore: the scene graph as a fold over the verdicts in the ledger.

A message that announces a verdict is only a doorbell: what is applied is what the evaluator wrote
to the ledger. Each success becomes one event, which carries the verdict's position, in one
transaction; the graph in memory is never ahead of the events on disk.
"""

from __future__ import annotations

import threading

from pydantic import ValidationError

from harness_ros.config import BUILTIN_REFS, EvaluationConfig
from harness_ros.contract import HarnessError, Status, Verdict
from harness_ros.ledger import Ledger
from harness_ros.scene.change import Outcome, SceneChange
from harness_ros.scene.effects import ANY, Effects, Triple
from harness_ros.scene.graph import SceneError, SceneGraph


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
        self._graph: SceneGraph
        self._number: int
        """Of the last event in the graph."""
        self._position: int
        """Of the last verdict that was looked at."""
        self._began_with: set[Triple]
        self._replay()
        if self._number == 0:
            self._begin()

    @property
    def graph(self) -> SceneGraph:
        """The graph after the last verdict that was looked at."""
        return self._graph

    @property
    def warning(self) -> str:
        """Says that the configuration begins with other relations than this graph did, or empty."""
        if self._began_with == set(self._config.scene.relations):
            return ""
        return (
            f"{self._ledger.path}: the scene graph goes on from what it began with, "
            f"{sorted(self._began_with)}; `scene.relations` is different now "
            "and takes effect with a reset or a new ledger"
        )

    def catch_up(self) -> list[SceneChange]:
        """Applies every success that the ledger got since the last one looked at.

        Returns:
            What was applied or rejected by this call, in the order of the verdicts.
        """
        changes: list[SceneChange] = []
        with self._lock:
            while not self._pass(changes):
                # Another process wrote an event first: its events are the truth.
                self._replay()
        return changes

    def reset(self) -> None:
        """Begins anew with `scene.relations`, for when a person has put the world in order."""
        with self._lock:
            self.catch_up()
            self._begin()

    def _pass(self, changes: list[SceneChange]) -> bool:
        for position, verdict in self._ledger.verdicts_after(self._position):
            if verdict.status is Status.SUCCESS:
                change, graph = self._judge(position, verdict)
                if not self._ledger.record_scene_event(change):
                    return False
                self._graph, self._number = graph, change.number
                changes.append(change)
            self._position = position
        return True

    def _judge(self, position: int, verdict: Verdict) -> tuple[SceneChange, SceneGraph]:
        effects, reason, graph = Effects(), "", self._graph
        try:
            effects = self._config.effects(verdict.tool_name, verdict.arguments)
            graph = graph.apply(effects, verdict.run_id, verdict.given_at_ns)
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
        )
        return change, graph

    def _begin(self) -> None:
        relations = self._config.scene.relations
        SceneGraph.initial({*self._config.objects, *BUILTIN_REFS}, relations)
        self._ledger.record_scene_event(
            SceneChange(
                number=self._number + 1,
                position=self._position,
                outcome=Outcome.INITIAL,
                effects=Effects(add=relations),
            )
        )
        self._replay()

    def _replay(self) -> None:
        events = list(self._ledger.scene_events())
        starts = [i for i, event in enumerate(events) if event.outcome is Outcome.INITIAL]
        current = events[starts[-1] :] if starts else []
        # Things that left the configuration stay known as long as the graph's history names them.
        named = {
            ref
            for event in current
            if event.outcome is not Outcome.REJECTED
            for triple in (*event.effects.delete, *event.effects.add)
            for ref in triple[1:]
        }
        refs = {*self._config.objects, *BUILTIN_REFS, *named} - {ANY}
        graph = SceneGraph.initial(refs, current[0].effects.add if current else ())
        for event in current[1:]:
            if event.outcome is Outcome.APPLIED:
                try:
                    graph = graph.apply(event.effects, event.run_id, event.stamp_ns)
                except SceneError as error:
                    raise SceneError(
                        f"{self._ledger.path}: scene event {event.number} "
                        f"(run {event.run_id}) cannot be replayed: {error}"
                    ) from None
        self._graph = graph
        self._number = events[-1].number if events else 0
        self._position = events[-1].position if events else 0
        self._began_with = set(current[0].effects.add) if current else set()
