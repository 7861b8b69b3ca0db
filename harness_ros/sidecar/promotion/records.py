# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The records of promotion: Rule, Case, Session, Policy, Decision; docs/promotion.md.

Scores are finite, and greater is better: most are from 0 to 1. A metric that has no score is not
in the mapping. What a mapping does not hold was not judged, which is neither good nor bad.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal

from pydantic import ConfigDict, Field, FiniteFloat, JsonValue, model_validator

from harness_ros.contract import Record
from harness_ros.statistics import CONFIDENCE, trials_to_exclude

OUTCOME_METRIC = "outcome_correct"
"""The verifier's score of the end state: tier 0, before every other metric."""

BREACH = "breach:"
"""How a signature begins that names a metric, as in `breach:tool_correctness`."""

Scores = dict[str, FiniteFloat]
Gate = Literal["never", "where_possible", "always"]
"""Whether a check can hold a promotion back: `where_possible` where the data can pass it at all."""


class Rule(Record):
    """A sentence that an agent learned, and what it is meant to better."""

    rule_id: str = Field(min_length=1)
    text: str
    """What the agent reads."""
    metric: str = ""
    """The rule's own metric, such as `tool_correctness`; empty where it names none."""
    signatures: tuple[str, ...] = ()
    """Signatures of the failures that it is made for, most important first."""
    author: str = ""
    submitted_at: str = ""
    """UTC, ISO 8601."""
    baseline_breach_rate: float | None = Field(default=None, ge=0, le=1)
    """Share of the sessions before the submission with one of the signatures; None: not known."""
    baseline_sessions: int = Field(default=0, ge=0)
    """The sessions that this rate was counted in."""


class Case(Record):
    """A session of the past, and the same task replayed with the rule."""

    case_id: str = Field(min_length=1)
    kind: Literal["failure", "win"]
    """`failure`: the rule is made for it; `win`: it went well, and has to go well again."""
    baseline_scores: Scores
    """Of the session, without the rule."""
    replay_scores: Scores | None = None
    """Of the replay, with the rule; None where nothing was judged."""
    exercised: bool
    """The replay read the rule."""
    started: bool
    """The replay began."""
    signatures: tuple[str, ...] = ()
    """Of the session; empty where they are not known, then all of the rule's count."""
    held_out: bool = False
    """No author of a rule has seen this case."""
    protected: bool = False
    """Kept for good: this win case is always among those that are replayed."""
    attempts: int = Field(default=1, ge=1)
    """Tries that the replay had; `replay_scores` are those of the best."""
    replay_attempts: tuple[Scores, ...] = ()
    """Every try with the rule, for pass^k; empty where only `replay_scores` are known."""
    baseline_attempts: tuple[Scores, ...] = ()
    """Plain repetitions without the rule, for the matched budget and pass^k. The session itself
    is not among them: it was chosen because it failed."""


class Session(Record):
    """What was reported of a session."""

    session_id: str = Field(min_length=1)
    signatures: tuple[str, ...] = ()
    """What went wrong, such as `breach:tool_correctness`; none where it went well."""
    scores: Scores = Field(default_factory=dict)
    attempts: tuple[Scores, ...] = ()
    """Plain repetitions of the same task; they become the `baseline_attempts` of the case."""
    protected: bool = False
    """A win that no rule may cost."""
    held_out: bool = False
    """No author of a rule has seen it."""
    reported_at: str = ""
    """UTC, ISO 8601."""


class Policy(Record):
    """What promotes and what retires a rule."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    promote_margin: float = Field(default=0.05, gt=0)
    """A failure case has improved where its target gains at least this."""
    regress_margin: float = Field(default=0.05, gt=0)
    """A case has regressed where a metric loses at least this."""
    min_sessions: int = Field(default=5, ge=1)
    """Distinct sessions of a forward trial."""
    forward_bound: float | None = Field(default=None, gt=0, lt=1)
    """Instead of `min_sessions`: as many sessions as it takes to exclude greater breach rates
    than this when none of them breaches; 0.1 takes 29 at a confidence of 0.95."""
    forward_margin: float = Field(default=0.05, gt=0, le=1)
    """A forward trial with breaches promotes at the baseline rate minus this, or below."""
    inconclusive_rounds: int = Field(default=3, ge=1)
    """Rounds of replays without a decision, after which the forward trial decides."""
    confidence: float = Field(default=CONFIDENCE, gt=0, lt=1)
    """Of intervals and bounds; the permutation test asks for p of at most 1 minus this."""
    significance: Gate = "where_possible"
    """Whether the permutation test over failure cases has to be passed. It can be where so many
    cases can reach p ≤ 1 - confidence at all: from 5 cases on at 0.95."""
    matched_budget: Gate = "where_possible"
    """Whether the replays have to beat plain repetition by `promote_margin`. They can be compared
    where a failure case has at least as many plain repetitions as its replay had tries."""
    held_out: Gate = "where_possible"
    """Whether held-out failure cases have to improve by `promote_margin` on average; possible
    where one has a verdict."""
    success_threshold: float = 0.9
    """The target's score from which on a try counts as a success in pass^k."""
    resamples: int = Field(default=1000, ge=100)
    """Of the bootstrap interval; ten times as many of a permutation test of many cases."""
    seed: int = 0
    """Of those resamples: the same cases always give the same decision."""

    @property
    def sessions_needed(self) -> int:
        """Distinct sessions until a forward trial decides."""
        if self.forward_bound is None:
            return self.min_sessions
        return trials_to_exclude(self.forward_bound, self.confidence)


class PendingReason(str, Enum):
    """Why nothing is decided yet: no other reasons exist."""

    NO_CASES = "no_cases"
    """There is nothing to replay."""
    NOT_STARTED = "not_started"
    """No replay began."""
    NOT_EXERCISED = "not_exercised"
    """No replay read the rule."""
    NO_VERDICT = "no_verdict"
    """No replay that read the rule was judged."""
    NO_SHARED_METRIC = "no_shared_metric"
    """No replay has a metric that the baseline has, or none that the rule answers for."""
    NO_FAILURE_CASE = "no_failure_case"
    """Only win cases were judged: nothing can improve."""
    BELOW_MARGIN = "below_margin"
    """No failure case improved by the margin, none regressed."""
    REGRESSED_ELSEWHERE = "regressed_elsewhere"
    """A failure case lost a metric that the rule does not answer for."""
    HELD_OUT_NOT_IMPROVED = "held_out_not_improved"
    """What the rule's author did not see did not improve, or was asked for and not judged."""
    NO_BETTER_THAN_REPETITION = "no_better_than_repetition"
    """Plain repetition gains as much, or was asked for and not measured."""
    NOT_SIGNIFICANT = "not_significant"
    """So much improvement over so many cases may be luck."""
    TOO_FEW_SESSIONS = "too_few_sessions"
    """The forward trial goes on."""
    NO_SIGNATURE = "no_signature"
    """The rule names neither signature nor metric: a forward trial has nothing to count."""


class Decision(Record):
    """What becomes of a rule, and why."""

    outcome: Literal["promote", "retire", "pending"]
    pending_reason: PendingReason | None = None
    """Set where the outcome is `pending`, and only there."""
    targets: dict[str, str] = Field(default_factory=dict)
    """The metric that each case was decided by; cases with none are not in it."""
    reason: str
    """For people."""
    evidence: dict[str, JsonValue] = Field(default_factory=dict)
    """A ReplayEvidence or ForwardEvidence as JSON."""

    @model_validator(mode="after")
    def _reason_where_pending(self) -> Decision:
        if (self.outcome == "pending") != (self.pending_reason is not None):
            raise ValueError(
                f"outcome {self.outcome!r} with pending_reason {self.pending_reason}: "
                "a pending decision has one, others have none"
            )
        return self
