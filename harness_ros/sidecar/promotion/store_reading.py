# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What can be asked of a rule store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from harness_ros.contract import Record
from harness_ros.ledger.database import Database
from harness_ros.sidecar.promotion.forward import breach_signatures
from harness_ros.sidecar.promotion.records import Case, Rule, Session
from harness_ros.sidecar.promotion.store_schema import SCHEMA, StoreError
from harness_ros.sidecar.promotion.stored import (
    Round,
    RuleStatus,
    State,
    StateChange,
    Trial,
    case_of,
)

AnyRecord = TypeVar("AnyRecord", bound=Record)

MAX_FAILURES = 3
"""Failure cases of a round."""
MAX_WINS = 2
"""Protected wins of a round."""


class StoredRules:
    """The questions to a rule store, without its changes.

    Args:
        path: the file; it and its folder are made where they are missing.

    Raises:
        StoreError: the file cannot be opened, is no rule store, or is one of another schema. Every
            method raises it when the file cannot be read or written any more.
    """

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self._db = Database(self.path, SCHEMA)

    def close(self) -> None:
        """Closes the file; nothing else may be called afterwards."""
        self._db.close()

    def trial(self, rule_id: str) -> Trial | None:
        """The forward trial of a rule, going on or decided; None before it."""
        rows = self._db.rows("SELECT session, at FROM trial WHERE rule_id = ?", rule_id)
        if not rows:
            return None
        return Trial(rule_id=rule_id, after_session=rows[0][0], began_at=rows[0][1])

    def rules(self, state: State | None = None) -> list[RuleStatus]:
        """All rules, or those in a state, in the order in which they were submitted."""
        found = self._statuses("1 = 1", "rule.number")
        return [item for item in found if state is None or item.state is state]

    def rule(self, rule_id: str) -> RuleStatus | None:
        """The rule, or None."""
        return next(iter(self._statuses("rule.rule_id = ?", "rule.number", rule_id)), None)

    def candidates(self) -> list[RuleStatus]:
        """Candidates that are not on trial, in the order of their turns.

        First who waits longest: those that never had a turn, then by the round of the last turn.
        """
        order = (
            "coalesce((SELECT max(number) FROM round WHERE round.rule_id = rule.rule_id"
            " AND counted = 1), 0), rule.number"
        )
        found = self._statuses("1 = 1", order)
        return [item for item in found if item.state is State.CANDIDATE and not item.on_trial]

    def history(self, rule_id: str) -> list[StateChange]:
        """Every state that the rule was in, oldest first."""
        rows = self._db.rows(
            "SELECT state, reason, validator, evidence, at FROM state WHERE rule_id = ?"
            " ORDER BY number",
            rule_id,
        )
        return [
            StateChange(
                rule_id=rule_id,
                state=State(state),
                reason=reason,
                validator=validator,
                evidence=json.loads(evidence),
                at=at,
            )
            for state, reason, validator, evidence, at in rows
        ]

    def rounds_of(self, rule_id: str) -> list[Round]:
        """Every round of the rule, oldest first."""
        rows = self._db.rows("SELECT record FROM round WHERE rule_id = ? ORDER BY number", rule_id)
        return [self._load(Round, record) for (record,) in rows]

    def cases_for(self, rule: Rule) -> list[Case]:
        """The cases of a round: failures with a signature of the rule, and protected wins.

        A rule without signatures is for breaches of its own metric. The newest of each, newest
        first, at most `MAX_FAILURES` and `MAX_WINS`.
        """
        signatures = breach_signatures(rule)
        marks = ", ".join("?" * len(signatures))
        failures = self._db.rows(
            "SELECT record FROM session WHERE number IN"
            f" (SELECT session FROM session_signature WHERE signature IN ({marks}))"
            f" ORDER BY number DESC LIMIT {MAX_FAILURES}",
            *signatures,
        )
        wins = self._db.rows(
            f"SELECT record FROM session WHERE protected = 1 ORDER BY number DESC LIMIT {MAX_WINS}"
        )
        return [case_of(self._load(Session, record)) for (record,) in [*failures, *wins]]

    def sessions(self, after: int = 0) -> list[Session]:
        """Sessions with a greater number, in the order in which they were reported."""
        rows = self._db.rows("SELECT record FROM session WHERE number > ? ORDER BY number", after)
        return [self._load(Session, record) for (record,) in rows]

    def _rule(self, rule_id: str) -> Rule | None:
        rows = self._db.rows("SELECT record FROM rule WHERE rule_id = ?", rule_id)
        return self._load(Rule, rows[0][0]) if rows else None

    def _statuses(self, where: str, order: str, *values: Any) -> list[RuleStatus]:
        rows = self._db.rows(
            "SELECT rule.record, state.state, state.reason, state.validator, state.at,"
            " (SELECT count(*) FROM round WHERE rule_id = rule.rule_id AND counted = 1),"
            " (SELECT count(*) FROM round WHERE rule_id = rule.rule_id AND counted = 1"
            "  AND outcome = 'pending'),"
            " state.state = 'candidate' AND EXISTS"
            " (SELECT 1 FROM trial WHERE rule_id = rule.rule_id)"
            " FROM rule JOIN state ON state.number ="
            " (SELECT max(number) FROM state WHERE rule_id = rule.rule_id)"
            f" WHERE {where} ORDER BY {order}",
            *values,
        )
        return [
            RuleStatus(
                rule=self._load(Rule, record),
                state=State(state),
                reason=reason,
                validator=validator,
                changed_at=at,
                rounds=rounds,
                inconclusive=inconclusive,
                on_trial=bool(on_trial),
            )
            for record, state, reason, validator, at, rounds, inconclusive, on_trial in rows
        ]

    def _load(self, kind: type[AnyRecord], record: str) -> AnyRecord:
        try:
            return kind.model_validate_json(record)
        except ValidationError as error:
            said = "; ".join(
                f"{'.'.join(map(str, item['loc']))}: {item['msg']}"
                for item in error.errors(include_url=False)
            )
            raise StoreError(f"{self.path}: a damaged {kind.__name__}: {said}") from None
