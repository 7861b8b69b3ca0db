# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a perception node sees of the scene, and how much of that is taken.

A picture says something about the world at its stamp, and so does the Observation of a verdict.
So these two stamps are compared: `observed_at`, not the moment at which the judge had made up its
mind, which may be seconds later. The younger evidence counts; of equal age, the verdict's.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping

from pydantic import BaseModel, ConfigDict, Field

from harness_ros.contract import Record
from harness_ros.scene import rules
from harness_ros.scene.effects import Effects, RelationName, Triple, matches
from harness_ros.scene.graph import SceneGraph
from harness_ros.scene.relation import SceneError, Source

NANOSECONDS = 1e9
XYZ = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


class SeenPose(Record):
    """Where a thing was seen."""

    ref: str
    frame_id: str
    stamp_ns: int
    position: XYZ
    """Metres."""
    orientation: Quaternion = (0.0, 0.0, 0.0, 1.0)
    """x, y, z, w."""


class Sighting(Record):
    """All that a perception node says of one picture (SceneUpdate.msg)."""

    stamp_ns: int
    """Of the picture."""
    seen_by: str
    confidence: float
    holds: tuple[Triple, ...] = ()
    gone: tuple[Triple, ...] = ()
    """What no longer holds; `*` matches every subject or every object, as in effects."""
    poses: tuple[SeenPose, ...] = ()


class Perception(BaseModel):
    """`scene.perception`: what is taken of the topic `scene/perception`; nothing by default."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    relations: tuple[RelationName, ...] = ()
    """Relations that a perception node may change; with none, the topic is not listened to."""
    min_confidence: float = Field(default=0.5, ge=0, le=1)
    """What is less certain is passed over."""
    future_tolerance_s: float = Field(default=0.5, ge=0)
    """How far a stamp may lie ahead of the scene graph's clock."""
    min_interval_s: float = Field(default=1.0, ge=0)
    """A relation changes at most once in this time of the pictures' stamps, so that a detector
    that flickers does not fill the ledger."""

    @property
    def on(self) -> bool:
        """Whether anything is taken at all."""
        return bool(self.relations)

    def check(self, sighting: Sighting, graph: SceneGraph, now_ns: int) -> None:
        """Looks for what no sighting may hold.

        Raises:
            SceneError: a number that is none, a stamp in the future, a ref that is unknown; the
                text lists everything that is wrong.
        """
        problems = [
            *self._stamp_problems("the picture", sighting.stamp_ns, now_ns),
            *Effects(delete=sighting.gone, add=sighting.holds).problems(graph.refs),
        ]
        if not 0 <= sighting.confidence <= 1:
            problems.append(f"confidence {sighting.confidence}; 0 to 1 is wanted")
        for pose in sighting.poses:
            problems += self._stamp_problems(f"the pose of '{pose.ref}'", pose.stamp_ns, now_ns)
            problems += _pose_problems(pose, graph.refs)
        if problems:
            raise SceneError(f"from '{sighting.seen_by}': {'; '.join(problems)}")

    def admitted(
        self,
        sighting: Sighting,
        graph: SceneGraph,
        seen_ns: Mapping[Triple, int],
        changed_ns: Mapping[Triple, int],
    ) -> Effects:
        """What of a sighting changes the graph; empty where nothing does.

        Args:
            sighting: a checked one.
            seen_ns: stamp of the youngest picture in which each relation was seen.
            changed_ns: stamp of the picture with which perception last changed each relation.

        Returns:
            Effects that name each relation; they may contradict what the graph holds.
        """
        interval_ns = self.min_interval_s * NANOSECONDS

        def is_news(triple: Triple) -> bool:
            known_ns = max(
                graph.youngest_evidence_ns(triple), seen_ns.get(triple, 0), graph.began_ns
            )
            since_ns = sighting.stamp_ns - changed_ns.get(triple, -math.inf)
            return sighting.stamp_ns > known_ns and since_ns >= interval_ns

        sources = {relation.triple: relation.source for relation in graph.relations}
        delete = tuple(
            triple
            for triple in sources
            if triple[0] in self.relations
            and any(matches(pattern, triple) for pattern in sighting.gone)
            and triple not in sighting.holds
            and is_news(triple)
        )
        left = [triple for triple in sources if triple not in delete]
        add = tuple(
            triple
            for triple in dict.fromkeys(sighting.holds)
            if triple[0] in self.relations
            # What a verdict has confirmed stays on the verdict's word.
            and sources.get(triple, Source.INITIAL) is Source.INITIAL
            and is_news(triple)
            and all(is_news(other) for other in left if rules.rivals(triple, other))
        )
        return Effects(delete=delete, add=add)

    def _stamp_problems(self, what: str, stamp_ns: int, now_ns: int) -> Iterator[str]:
        if stamp_ns <= 0:
            yield f"{what} has no stamp"
        ahead_s = (stamp_ns - now_ns) / NANOSECONDS
        if ahead_s > self.future_tolerance_s:
            yield (
                f"{what} is stamped {ahead_s:.3f} s ahead of the clock of the scene graph, "
                f"{self.future_tolerance_s:g} s are allowed: are the clocks the same, and "
                "`use_sim_time`?"
            )


def _pose_problems(pose: SeenPose, known: Collection[str]) -> Iterator[str]:
    if pose.ref not in known:
        yield f"pose of unknown ref '{pose.ref}'; known are {sorted(known)}"
    if not pose.frame_id:
        yield f"the pose of '{pose.ref}' has no frame_id"
    if not all(math.isfinite(number) for number in (*pose.position, *pose.orientation)):
        yield f"the pose of '{pose.ref}' is {pose.position}, {pose.orientation}: not all numbers"
