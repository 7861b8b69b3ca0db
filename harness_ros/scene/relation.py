# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What holds of the scene, and on whose word."""

from __future__ import annotations

from enum import Enum

from pydantic import Field

from harness_ros.contract import HarnessError, Record
from harness_ros.scene.effects import Triple


class SceneError(HarnessError):
    """Something that does not fit the scene graph; the text lists everything that is wrong."""


class Source(str, Enum):
    """On whose word something holds; the texts are those of Relation.msg."""

    INITIAL = "initial"
    """`scene.relations` and `scene.states` in eval.yaml."""
    VERDICT = "verdict"
    """A success verdict confirmed it."""
    PERCEPTION = "perception"
    """A perception node saw it, and no verdict has confirmed it since."""


class Word(Record):
    """On whose word something holds, and since when."""

    source: Source = Source.INITIAL
    run_id: str = ""
    """The run whose success verdict last confirmed it; empty for other sources."""
    stamp_ns: int = 0
    """When that verdict was given, or the picture taken; 0 for `INITIAL`."""
    confidence: float = Field(default=1.0, ge=0, le=1)
    """What the perception node gave; of other sources `scene.confidence` says it."""


class Relation(Word):
    """One relation that holds."""

    relation: str
    subject: str
    object: str

    @property
    def triple(self) -> Triple:
        """(relation, subject, object)."""
        return self.relation, self.subject, self.object


class ContainerState(Word):
    """A container that is open or closed."""

    ref: str
    state: str
