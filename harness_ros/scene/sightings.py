# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What perception has seen lately, in memory: the ledger keeps only what changed something."""

from __future__ import annotations

from harness_ros.scene.effects import Effects, Triple
from harness_ros.scene.graph import SceneGraph
from harness_ros.scene.perception import SeenPose, Sighting
from harness_ros.scene.relation import Source, Word


class Sightings:
    """The youngest sighting of each relation and of each thing's pose."""

    def __init__(self) -> None:
        self._seen: dict[Triple, Word] = {}
        self._changed_ns: dict[Triple, int] = {}
        self._poses: dict[str, SeenPose] = {}

    @property
    def seen_ns(self) -> dict[Triple, int]:
        """Stamp of the youngest picture in which each relation was seen."""
        return {triple: word.stamp_ns for triple, word in self._seen.items()}

    @property
    def changed_ns(self) -> dict[Triple, int]:
        """Stamp of the picture with which perception last changed each relation."""
        return self._changed_ns

    @property
    def poses(self) -> dict[str, SeenPose]:
        """The youngest pose of each thing that was seen."""
        return dict(self._poses)

    def note(self, sighting: Sighting, changed: Effects) -> None:
        """Keeps what is younger than what was known.

        Args:
            sighting: a checked one.
            changed: what of it has changed the graph.
        """
        word = Word(
            source=Source.PERCEPTION, stamp_ns=sighting.stamp_ns, confidence=sighting.confidence
        )
        for triple in sighting.holds:
            if sighting.stamp_ns > self._seen.get(triple, Word()).stamp_ns:
                self._seen[triple] = word
        for pose in sighting.poses:
            if pose.ref not in self._poses or pose.stamp_ns > self._poses[pose.ref].stamp_ns:
                self._poses[pose.ref] = pose
        self._changed_ns |= dict.fromkeys((*changed.delete, *changed.add), sighting.stamp_ns)

    def refresh(self, graph: SceneGraph) -> SceneGraph:
        """The graph with what perception saw at the stamp at which it last saw it."""
        relations = tuple(
            relation.model_copy(update=dict(self._seen[relation.triple]))
            if relation.source is Source.PERCEPTION
            and self._seen.get(relation.triple, Word()).stamp_ns > relation.stamp_ns
            else relation
            for relation in graph.relations
        )
        return graph.model_copy(update={"relations": relations})

    def forget(self) -> None:
        """Forgets everything."""
        for known in (self._seen, self._changed_ns, self._poses):
            known.clear()
