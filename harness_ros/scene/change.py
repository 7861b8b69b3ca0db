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
    """The graph began anew with the relations in `effects.add`."""
    APPLIED = "applied"
    """A success verdict changed the graph."""
    REJECTED = "rejected"
    """A success verdict did not fit the graph, which stayed as it was."""


class SceneChange(Record):
    """One event: the fold of all of them, in the order of their numbers, is the scene graph."""

    number: int = Field(ge=1)
    """Counts from 1 without gaps."""
    position: int = Field(ge=0)
    """Position in the ledger of the verdict; every verdict up to it has been looked at."""
    outcome: Outcome
    run_id: str = ""
    """Empty for `INITIAL`."""
    tool_name: str = ""
    effects: Effects = Effects()
    """Filled, so that a later change of eval.yaml does not change the past."""
    reason: str = ""
    """Why it was rejected; empty otherwise."""
    stamp_ns: int = 0
    """When the verdict was given; 0 for `INITIAL`."""
