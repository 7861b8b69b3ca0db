# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""SceneChange: one event of the scene graph, as the ledger keeps it."""

from __future__ import annotations

from enum import Enum

from pydantic import Field

from harness_ros.contract import Record
from harness_ros.scene.effects import Effects


class Outcome(str, Enum):
    """What an event did to the scene graph."""

    INITIAL = "initial"
    """The graph began anew with the relations and states in `effects`."""
    APPLIED = "applied"
    """A success verdict changed the graph."""
    REJECTED = "rejected"
    """A success verdict did not fit the graph, which stayed as it was."""
    PERCEIVED = "perceived"
    """A perception node saw something that changed the graph."""


class SceneChange(Record):
    """One event: the fold of all of them, in the order of their numbers, is the scene graph."""

    number: int = Field(ge=1)
    """Counts from 1 without gaps."""
    position: int = Field(ge=0)
    """Position in the ledger of the last verdict that was looked at."""
    outcome: Outcome
    run_id: str = ""
    """Empty where the event is not of a verdict."""
    tool_name: str = ""
    effects: Effects = Effects()
    """Filled, so that a later change of eval.yaml does not change the past."""
    reason: str = ""
    """Why it was rejected; empty otherwise."""
    stamp_ns: int = 0
    """When the verdict was given, the picture taken, or the graph begun anew by a person; 0 where
    a new ledger began."""
    evidence_ns: int = 0
    """Stamp of the Observation that the verdict rests on; 0 stands for `stamp_ns`."""
    seen_by: str = ""
    """The perception node's name of itself."""
    confidence: float = Field(default=1.0, ge=0, le=1)
    """What the perception node gave."""
