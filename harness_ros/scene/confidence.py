# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How far to trust what the scene graph holds, and how that fades with age."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from harness_ros.scene.effects import RELATIONS, RelationName
from harness_ros.scene.relation import Relation, Source

NANOSECONDS = 1e9
NEVER = -1.0
"""Age of what was never confirmed or seen (Relation.msg)."""

Seconds = Annotated[float, Field(gt=0)]


def _of_each_relation(value: Any) -> Any:
    if value is None:
        return {}
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return dict.fromkeys(RELATIONS, value)
    return value


class Confidence(BaseModel):
    """`scene.confidence`: what a relation's source is worth, and how long."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    initial: float = Field(default=0.5, ge=0, le=1)
    """Of what the configuration began with; it has no age and does not fade."""
    verdict: float = Field(default=1.0, ge=0, le=1)
    """Of what a verdict has confirmed, at that moment."""
    half_life_s: Annotated[dict[RelationName, Seconds], BeforeValidator(_of_each_relation)] = Field(
        default_factory=dict
    )
    """Seconds in which confidence halves, of each relation or one number for all; without, a
    relation does not fade."""
    certain: float = Field(default=0.9, ge=0, le=1)
    """The brief says of a relation that can fade how old it is, once less certain than this."""

    def given(self, relation: Relation) -> float:
        """What its source gave a relation, 0 to 1."""
        if relation.source is Source.PERCEPTION:
            return relation.confidence
        return self.verdict if relation.source is Source.VERDICT else self.initial

    def now(self, relation: Relation, now_ns: int) -> float:
        """What is left of it, 0 to 1: it halves with every half-life."""
        half_life_s = self.half_life_s.get(relation.relation)  # type: ignore[call-overload]
        if half_life_s is None or relation.source is Source.INITIAL:
            return self.given(relation)
        return float(self.given(relation) * 0.5 ** (age_s(relation, now_ns) / half_life_s))

    def note(self, relation: Relation, now_ns: int) -> str:
        """Words for the brief on what is uncertain about a relation; empty where nothing is."""
        if relation.source is Source.PERCEPTION:
            return f"seen {_ago(age_s(relation, now_ns))}, not confirmed"
        if relation.relation not in self.half_life_s or self.now(relation, now_ns) >= self.certain:
            return ""
        if relation.source is Source.INITIAL:
            return "from the configuration, never confirmed"
        return f"confirmed {_ago(age_s(relation, now_ns))}"


def age_s(relation: Relation, now_ns: int) -> float:
    """Seconds since a relation was confirmed or seen; NEVER where it never was.

    It is 0, not negative, where the clock is behind: simulated time that began anew.
    """
    if relation.source is Source.INITIAL:
        return NEVER
    return max(0.0, (now_ns - relation.stamp_ns) / NANOSECONDS)


def _ago(seconds: float) -> str:
    """The age in the unit that a person would use."""
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{int(seconds // length)} {unit} ago"
    return f"{int(seconds)} s ago"
