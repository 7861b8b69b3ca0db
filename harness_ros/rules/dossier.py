# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All that a store knows of one rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness_ros.contract import HarnessError, Record
from harness_ros.sidecar.promotion.evidence import ForwardEvidence, ReplayEvidence
from harness_ros.sidecar.promotion.forward import breach_counts
from harness_ros.sidecar.promotion.records import Case, Decision
from harness_ros.sidecar.promotion.store import RuleStore
from harness_ros.sidecar.promotion.stored import Round, RuleStatus, StateChange


class RulesError(HarnessError):
    """No such store or rule, or evidence that cannot be read."""


class TrialSoFar(Record):
    """The forward trial of a rule."""

    began_at: str
    breaches: int
    sessions: int
    """That count; the decision may need more."""


class Dossier(Record):
    """One rule: where it stands, and all that led there."""

    status: RuleStatus
    history: tuple[StateChange, ...]
    rounds: tuple[Round, ...]
    trial: TrialSoFar | None = None
    cases_now: tuple[Case, ...] = ()
    """The cases that its next round would have."""

    @property
    def since(self) -> str:
        """When it came to where it stands, its trial among that."""
        if self.status.on_trial and self.trial is not None:
            return self.trial.began_at
        return self.status.changed_at

    @property
    def forward(self) -> ForwardEvidence | None:
        """Of the forward trial that decided; None where none did."""
        for change in reversed(self.history):
            evidence = change.evidence.get("decision", {}).get("evidence", {})
            if evidence.get("trial") == "forward":
                return ForwardEvidence.model_validate(evidence)
        return None


def opened(path: Path) -> RuleStore:
    """The store, which has to be there.

    Raises:
        HarnessError: it is not there, or no rule store.
    """
    if not path.is_file():
        raise RulesError(f"--store {path}: no such file")
    return RuleStore(path)


def found(store: RuleStore, rule: str) -> RuleStatus:
    """The rule of this id, or whose id alone begins so.

    Raises:
        RulesError: none, or several.
    """
    exact = store.rule(rule)
    if exact is not None:
        return exact
    beginning = [item for item in store.rules() if rule and item.rule.rule_id.startswith(rule)]
    if len(beginning) == 1:
        return beginning[0]
    if beginning:
        ids = ", ".join(item.rule.rule_id for item in beginning)
        raise RulesError(f"{store.path}: several rules begin with '{rule}': {ids}")
    raise RulesError(f"{store.path}: no rule '{rule}'; `harness-ros rules list` shows all")


def dossier_of(store: RuleStore, rule: str) -> Dossier:
    """All of a rule.

    Raises:
        HarnessError: no such rule, or the store cannot be read.
    """
    status = found(store, rule)
    rule_id = status.rule.rule_id
    trial = store.trial(rule_id)
    so_far = None
    if trial is not None:
        breaches, sessions = breach_counts(status.rule, store.sessions(after=trial.after_session))
        so_far = TrialSoFar(began_at=trial.began_at, breaches=breaches, sessions=sessions)
    return Dossier(
        status=status,
        history=tuple(store.history(rule_id)),
        rounds=tuple(store.rounds_of(rule_id)),
        trial=so_far,
        cases_now=tuple(store.cases_for(status.rule)),
    )


def evidence_of(decision: Decision) -> ReplayEvidence | None:
    """What a decision by replays rests on; None where it says nothing.

    Raises:
        RulesError: it was written by another version.
    """
    evidence: dict[str, Any] = dict(decision.evidence)
    if evidence.get("trial") != "replay":
        return None
    try:
        return ReplayEvidence.model_validate(evidence)
    except ValidationError as error:
        said = error.errors(include_url=False)[0]
        where = ".".join(map(str, said["loc"]))
        raise RulesError(f"evidence of a round cannot be read: {where}: {said['msg']}") from None
