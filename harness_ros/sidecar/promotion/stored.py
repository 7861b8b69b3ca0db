# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a rule store keeps beside rules and sessions: changes of state, rounds, trials."""

from __future__ import annotations

from datetime import datetime, timezone
from enum import Enum
from typing import Any

from pydantic import Field

from harness_ros.contract import Record
from harness_ros.sidecar.promotion.records import Case, Decision, Rule, Session


class State(str, Enum):
    """How far a rule is trusted."""

    CANDIDATE = "candidate"
    """Submitted, and not decided yet."""
    ACTIVE = "active"
    """Promoted."""
    RETIRED = "retired"
    """Decided against; for good."""


class StateChange(Record):
    """One row of a rule's history."""

    rule_id: str
    state: State
    reason: str
    validator: str
    """Who decided; empty for the submission."""
    evidence: dict[str, Any]
    at: str
    """UTC."""


class Round(Record):
    """One validation of one rule: its cases as they were replayed, and what was decided."""

    rule_id: str
    validator: str
    started_at: str
    """UTC."""
    seconds: float
    cases: tuple[Case, ...]
    problems: dict[str, str] = Field(default_factory=dict)
    """Why a replay is no evidence, by case_id."""
    decision: Decision
    counted: bool = True
    """False: the budget of the round ended before the rule had its turn, so it keeps its place."""


class Trial(Record):
    """The forward trial of a rule."""

    rule_id: str
    after_session: int
    """Number of the last session before it."""
    began_at: str
    """UTC."""


class RuleStatus(Record):
    """A rule, and where it stands."""

    rule: Rule
    state: State
    reason: str
    validator: str
    changed_at: str
    """UTC: when it came into this state."""
    rounds: int = 0
    """Rounds that had its turn."""
    inconclusive: int = 0
    """Of these, rounds that left it pending."""
    on_trial: bool = False
    """A candidate whose forward trial goes on."""


def utc_now() -> str:
    """The time as the store writes it: ISO 8601, UTC, with microseconds."""
    return datetime.now(timezone.utc).isoformat(timespec="microseconds")


def case_of(session: Session) -> Case:
    """The case that a session is, not replayed yet."""
    return Case(
        case_id=session.session_id,
        kind="failure" if session.signatures else "win",
        baseline_scores=session.scores,
        replay_scores=None,
        exercised=False,
        started=False,
        signatures=session.signatures,
        held_out=session.held_out,
        protected=session.protected,
        baseline_attempts=session.attempts,
    )
