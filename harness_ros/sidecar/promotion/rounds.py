# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Validation: candidates are replayed on their cases, in turns and within budgets, and decided."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Protocol

from pydantic import Field, model_validator

from harness_ros.contract import Record
from harness_ros.sidecar.promotion.decide import decide
from harness_ros.sidecar.promotion.forward import decide_forward
from harness_ros.sidecar.promotion.records import Case, PendingReason, Policy, Rule, Scores
from harness_ros.sidecar.promotion.store import RuleStore
from harness_ros.sidecar.promotion.store_schema import StoreError
from harness_ros.sidecar.promotion.stored import Round, RuleStatus, State, StateChange, utc_now

log = logging.getLogger("harness_ros.sidecar")

GRACE_S = 5.0
"""So much later than its limits an answer may come, for what carries it."""


class ReplayLimits(Record):
    """Seconds that a replay may take."""

    environment_s: float = Field(default=60.0, gt=0)
    """Wait until its environment is there."""
    replay_s: float = Field(default=300.0, gt=0)
    """From then on."""

    @property
    def sum_s(self) -> float:
        """Both together."""
        return self.environment_s + self.replay_s


class Budgets(ReplayLimits):
    """Seconds that a replay, its wait for the environment, and a whole round may take."""

    round_s: float = Field(default=1800.0, gt=0)
    """No replay starts that could end later."""

    @model_validator(mode="after")
    def _a_replay_fits_a_round(self) -> Budgets:
        if self.round_s < self.sum_s:
            raise ValueError(
                f"round_s is {self.round_s:g}: at least environment_s + replay_s, which is "
                f"{self.sum_s:g}, or no replay could ever start"
            )
        return self


class ReplayOutcome(Record):
    """What came of a replay."""

    started: bool
    """The environment was there, and the agent ran."""
    exercised: bool = False
    """The agent read the rule."""
    scores: Scores | None = None
    """None, or without a metric: nobody could judge."""
    attempts: tuple[Scores, ...] = ()
    """Every try, where there were several; `scores` are those of the best."""
    reason: str = ""
    """What went wrong."""


class Replayer(Protocol):
    """Runs an agent on a case of the past, with a rule in its hands."""

    def replay(self, rule: Rule, case: Case, limits: ReplayLimits) -> ReplayOutcome:
        """Replays one case, and returns within the sum of the limits.

        An answer that comes later is evidence of nothing; so is an exception.
        """
        ...


class Validation:
    """Decides on the candidates of a store.

    Args:
        store: where they are, and where every round and decision is kept.
        replayer: replays cases; asked for one at a time.
        policy: what promotes and what retires.
        budgets: on the steady clock.
        validator: name that decisions are signed with.
        clock: seconds that never jump.
    """

    def __init__(
        self,
        store: RuleStore,
        replayer: Replayer,
        policy: Policy | None = None,
        budgets: Budgets | None = None,
        validator: str = "replay",
        clock: Callable[[], float] = time.monotonic,
    ):
        self._store = store
        self._replayer = replayer
        self._policy = policy or Policy()
        self._budgets = budgets or Budgets()
        self._validator = validator
        self._clock = clock

    def validate(self, rule_id: str = "") -> Round | None:
        """A round for one rule alone.

        Args:
            rule_id: of a candidate; empty for the one whose turn it is.

        Returns:
            The round; None where no rule was named and there is no candidate.

        Raises:
            StoreError: the rule is not known, decided, or on its forward trial.
        """
        self._begin_trials()
        if rule_id:
            return self._turn(self._candidate(rule_id), self._end(), whole=True)
        turns = self._store.candidates()
        return self._turn(turns[0], self._end(), whole=True) if turns else None

    def run_round(self) -> list[Round]:
        """A round for as many candidates as its budget allows, first those that waited longest.

        One that the end of the budget cuts short keeps its place: it is first in the next round,
        and has the whole budget there.
        """
        self._begin_trials()
        end = self._end()
        done: list[Round] = []
        for status in self._store.candidates():
            if not self._fits(end):
                break
            done.append(self._turn(status, end, whole=not done))
        return done

    def settle_trials(self) -> list[StateChange]:
        """Decides the forward trials that have seen enough sessions."""
        changes = []
        for status in self._store.rules(State.CANDIDATE):
            trial = self._store.trial(status.rule.rule_id)
            if trial is not None:
                sessions = self._store.sessions(after=trial.after_session)
                decision = decide_forward(status.rule, sessions, self._policy)
                changes.append(
                    self._store.record_trial(trial.rule_id, decision, f"{self._validator}, forward")
                )
        return [change for change in changes if change is not None]

    def _candidate(self, rule_id: str) -> RuleStatus:
        status = self._store.rule(rule_id)
        if status is None:
            raise StoreError(f"{self._store.path}: no rule '{rule_id}'")
        if status.state is not State.CANDIDATE:
            raise StoreError(
                f"{self._store.path}: rule '{rule_id}' is {status.state.value} since "
                f"{status.changed_at}: only candidates are validated"
            )
        if status.on_trial:
            raise StoreError(
                f"{self._store.path}: rule '{rule_id}' is on its forward trial after "
                f"{status.inconclusive} rounds without a decision: the next sessions decide"
            )
        return status

    def _turn(self, status: RuleStatus, end: float, whole: bool) -> Round:
        started_at, started = utc_now(), self._clock()
        cases: list[Case] = []
        problems: dict[str, str] = {}
        cut = False
        # Wins first: a budget that ends must not leave out what could have shown a loss.
        for case in sorted(self._store.cases_for(status.rule), key=lambda case: case.kind != "win"):
            if self._fits(end):
                case, problem = self._replayed(status.rule, case)
            else:
                cut, problem = True, "not replayed: the budget of the round had ended"
            cases.append(case)
            if problem:
                problems[case.case_id] = problem
        decision = decide(status.rule, cases, self._policy)
        made = Round(
            rule_id=status.rule.rule_id,
            validator=self._validator,
            started_at=started_at,
            seconds=self._clock() - started,
            cases=tuple(cases),
            problems=problems,
            decision=decision,
            counted=whole or not cut,
        )
        self._store.record_round(made)
        self._begin_trials()
        return made

    def _replayed(self, rule: Rule, case: Case) -> tuple[Case, str]:
        """The case with what its replay gave, and what went wrong."""
        limits = ReplayLimits(
            environment_s=self._budgets.environment_s, replay_s=self._budgets.replay_s
        )
        begun = self._clock()
        try:
            outcome = self._replayer.replay(rule, case, limits)
        except Exception as error:
            # Whatever a client of somebody else raises, the round goes on.
            log.exception("replay of case '%s' with rule '%s'", case.case_id, rule.rule_id)
            return case, f"{type(error).__name__}: {error}"
        took = self._clock() - begun
        if took > limits.sum_s + GRACE_S:
            outcome = ReplayOutcome(
                started=outcome.started,
                exercised=outcome.exercised,
                reason=f"the answer came after {took:.0f} s; {limits.sum_s:g} s are allowed",
            )
        replayed = {
            "started": outcome.started,
            "exercised": outcome.exercised,
            "replay_scores": outcome.scores,
            "replay_attempts": outcome.attempts,
            "attempts": max(1, len(outcome.attempts)),
        }
        return case.model_copy(update=replayed), outcome.reason

    def _begin_trials(self) -> None:
        for status in self._store.candidates():
            if status.inconclusive < self._policy.inconclusive_rounds:
                continue
            # A trial that has nothing to count would never end: such a rule stays with replays.
            untried = decide_forward(status.rule, [], self._policy)
            if untried.pending_reason is not PendingReason.NO_SIGNATURE:
                self._store.begin_trial(status.rule.rule_id)

    def _end(self) -> float:
        return self._clock() + self._budgets.round_s

    def _fits(self, end: float) -> bool:
        """Whether a replay can have its whole budget before the end."""
        return end - self._clock() >= self._budgets.sum_s
