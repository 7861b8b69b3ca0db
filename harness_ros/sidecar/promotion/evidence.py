# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a Decision rests on: `Decision.evidence` is one of these as JSON.

Standard errors are None where one case says nothing of how cases differ.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harness_ros.contract import Record
from harness_ros.sidecar.promotion.records import PendingReason
from harness_ros.statistics import Rate


class CaseEvidence(Record):
    """What one case says."""

    case_id: str
    kind: Literal["failure", "win"]
    held_out: bool
    no_verdict: PendingReason | None = None
    """Why the case is evidence of nothing; None: it counts."""
    target: str | None = None
    """The metric that it is decided by."""
    before: float | None = None
    """The baseline's score of the target."""
    after: float | None = None
    """The replay's score of the target."""
    gain: float | None = None
    """After minus before."""
    deltas: dict[str, float] = Field(default_factory=dict)
    """Replay minus baseline, of each metric that both have."""
    retired_by: tuple[str, ...] = ()
    """Metrics whose loss retires the rule."""
    lost_elsewhere: tuple[str, ...] = ()
    """Metrics that were lost and that the rule does not answer for."""
    repetition: float | None = None
    """The target's score to expect of plain repetition, with as many tries as the replay had."""


class MeanGain(Record):
    """Gain of the target over cases."""

    cases: int
    mean: float
    standard_error: float | None = None
    low: float | None = None
    """Bootstrap interval over cases; too short where they are few."""
    high: float | None = None


class PermutationTest(Record):
    """How often luck alone would have gained as much."""

    cases: int
    p_value: float
    smallest_p: float
    """That so many cases could reach at best."""
    level: float
    """The p to stay at or below."""
    exact: bool
    """All signs were tried; else some, drawn by lot."""


class Check(Record):
    """A check beyond margins."""

    passed: bool | None
    """None where the data cannot say."""
    gates: bool
    """Whether a promotion has to pass it."""
    says: str
    """What was seen, or what the data cannot show."""


class PassHat(Record):
    """How often all of k tries succeed, over cases with so many tries; beside the mean."""

    arm: Literal["with_rule", "plain"]
    k: int
    cases: int
    rate: float
    standard_error: float | None = None


class ReplayEvidence(Record):
    """Of a decision by replays."""

    trial: Literal["replay"] = "replay"
    cases: tuple[CaseEvidence, ...]
    failures: MeanGain | None = None
    wins: MeanGain | None = None
    shown: MeanGain | None = None
    """Failure cases that the rule's author may have seen."""
    held_out: MeanGain | None = None
    """Failure cases that no author has seen."""
    drop: float | None = None
    """Mean gain of the shown cases minus that of the held-out ones."""
    drop_standard_error: float | None = None
    permutation: PermutationTest | None = None
    over_repetition: MeanGain | None = None
    """Replays minus plain repetition."""
    checks: dict[str, Check] = Field(default_factory=dict)
    """By name: held_out, matched_budget, significance."""
    pass_hat_k: tuple[PassHat, ...] = ()
    limits: tuple[str, ...] = ()
    """What the data cannot show."""


class ForwardEvidence(Record):
    """Of a decision by a forward trial."""

    trial: Literal["forward"] = "forward"
    session_ids: tuple[str, ...]
    """The sessions that count, in order."""
    sessions_needed: int
    not_scored: int
    """Sessions without a score of what the rule is for: they do not count."""
    breaches: Rate
    standard_error: float | None = None
    possible_rate: float | None = None
    """Breach rates up to this one would not be surprised by so few breaches; one-sided."""
    baseline_rate: float | None = None
    baseline_sessions: int = 0
    chance_at_baseline: float | None = None
    """Probability of at most so many breaches if the rule changed nothing."""
