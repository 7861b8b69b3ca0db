# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""RuleStore: rules, sessions and rounds in one SQLite file that is only appended to.

As in the ledger, commits are synchronous (FULL): what was acknowledged is there after a power loss.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from harness_ros.sidecar.promotion.forward import breach_counts
from harness_ros.sidecar.promotion.records import Decision, Rule, Session
from harness_ros.sidecar.promotion.store_reading import StoredRules
from harness_ros.sidecar.promotion.store_schema import StoreError
from harness_ros.sidecar.promotion.stored import (
    Round,
    State,
    StateChange,
    Trial,
    utc_now,
)

SUBMITTED = "submitted"
"""Reason of the first state."""
_OUTCOMES = {"promote": State.ACTIVE, "retire": State.RETIRED}


class RuleStore(StoredRules):
    """One rule store; usable from several threads, and from several processes at the same time."""

    def __enter__(self) -> RuleStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, rule: Rule) -> Rule:
        """Adds a candidate, with the breach rate of the sessions so far where it has none.

        Returns:
            The rule as the store has it: the one of before when it is submitted again.

        Raises:
            StoreError: its rule_id is that of another rule.
        """
        with self._db.transaction() as db:
            known = self._rule(rule.rule_id)
            if known is not None:
                if _content(known) != _content(rule):
                    raise StoreError(
                        f"{self.path}: rule_id '{rule.rule_id}' is that of another rule, submitted "
                        f"{known.submitted_at}: a rule is never changed, submit it with an own id"
                    )
                return known
            rule = self._with_baseline(rule)
            if not rule.submitted_at:
                rule = rule.model_copy(update={"submitted_at": utc_now()})
            db.execute(
                "INSERT INTO rule (rule_id, record) VALUES (?, ?)",
                (rule.rule_id, rule.model_dump_json()),
            )
            first = StateChange(
                rule_id=rule.rule_id,
                state=State.CANDIDATE,
                reason=SUBMITTED,
                validator="",
                evidence={},
                at=utc_now(),
            )
            _append_state(db, first)
        return rule

    def report(self, session: Session) -> bool:
        """Adds a session.

        Returns:
            False, and nothing changed, when the same session was reported before.

        Raises:
            StoreError: its session_id is that of another session, or it is protected and no win.
        """
        if session.protected and session.signatures:
            raise StoreError(
                f"{self.path}: session '{session.session_id}' is protected and has signatures "
                f"({', '.join(session.signatures)}): only a win, which has none, is protected"
            )
        with self._db.transaction() as db:
            rows = self._db.rows(
                "SELECT record FROM session WHERE session_id = ?", session.session_id
            )
            if rows:
                known = self._load(Session, rows[0][0])
                if known.model_copy(update={"reported_at": session.reported_at}) != session:
                    raise StoreError(
                        f"{self.path}: session '{session.session_id}' was reported "
                        f"{known.reported_at} with other contents: a session is reported once"
                    )
                return False
            if not session.reported_at:
                session = session.model_copy(update={"reported_at": utc_now()})
            number = db.execute(
                "INSERT INTO session (session_id, protected, record) VALUES (?, ?, ?)",
                (session.session_id, session.protected, session.model_dump_json()),
            ).lastrowid
            db.executemany(
                "INSERT INTO session_signature (signature, session) VALUES (?, ?)",
                [(signature, number) for signature in dict.fromkeys(session.signatures)],
            )
        return True

    def change(
        self,
        rule_id: str,
        state: State,
        reason: str,
        validator: str,
        evidence: Mapping[str, Any] | None = None,
    ) -> StateChange:
        """Changes the state of a rule: from candidate to active or retired, or active to retired.

        Raises:
            StoreError: no such rule, another change than these, or no reason.
        """
        made = StateChange(
            rule_id=rule_id,
            state=state,
            reason=reason,
            validator=validator,
            evidence=dict(evidence or {}),
            at=utc_now(),
        )
        if not reason:
            raise StoreError(f"{self.path}: rule '{rule_id}': a change of state needs a reason")
        with self._db.transaction() as db:
            self._change(db, made)
        return made

    def record_round(self, made: Round) -> StateChange | None:
        """Adds a round, and in the same commit the change of state that it decided.

        A round that ends after another has decided is kept and changes nothing.

        Returns:
            The change; None where there is none.

        Raises:
            StoreError: no such rule.
        """
        decision = made.decision
        with self._db.transaction() as db:
            state = self._must_be(made.rule_id)
            number = db.execute(
                "INSERT INTO round (rule_id, outcome, counted, record) VALUES (?, ?, ?, ?)",
                (made.rule_id, decision.outcome, made.counted, made.model_dump_json()),
            ).lastrowid
            if state is not State.CANDIDATE:
                return None
            return self._decided(db, made.rule_id, decision, made.validator, {"round": number})

    def record_trial(self, rule_id: str, decision: Decision, validator: str) -> StateChange | None:
        """Adds the change of state that a forward trial decided.

        Args:
            rule_id: of a rule on trial.
            decision: of the trial.
            validator: who made it.

        Returns:
            The change; None while the trial goes on, and for a rule that is decided already.

        Raises:
            StoreError: no such rule.
        """
        with self._db.transaction() as db:
            if self._must_be(rule_id) is not State.CANDIDATE:
                return None
            return self._decided(db, rule_id, decision, validator, {})

    def begin_trial(self, rule_id: str) -> Trial:
        """Begins the forward trial of a candidate, with the next session; once.

        Raises:
            StoreError: no such rule, or it is no candidate any more.
        """
        with self._db.transaction() as db:
            self._must_be(rule_id, State.CANDIDATE)
            if self.trial(rule_id) is None:
                db.execute(
                    "INSERT INTO trial (rule_id, session, at)"
                    " VALUES (?, (SELECT coalesce(max(number), 0) FROM session), ?)",
                    (rule_id, utc_now()),
                )
            trial = self.trial(rule_id)
            assert trial is not None
        return trial

    def _with_baseline(self, rule: Rule) -> Rule:
        if rule.baseline_breach_rate is not None:
            return rule
        count, of = breach_counts(rule, self.sessions())
        rate = count / of if of else None
        return rule.model_copy(update={"baseline_breach_rate": rate, "baseline_sessions": of})

    def _decided(
        self,
        db: sqlite3.Connection,
        rule_id: str,
        decision: Decision,
        validator: str,
        evidence: Mapping[str, Any],
    ) -> StateChange | None:
        state = _OUTCOMES.get(decision.outcome)
        if state is None:
            return None
        change = StateChange(
            rule_id=rule_id,
            state=state,
            reason=decision.reason,
            validator=validator,
            evidence={**evidence, "decision": decision.model_dump(mode="json")},
            at=utc_now(),
        )
        self._change(db, change)
        return change

    def _change(self, db: sqlite3.Connection, change: StateChange) -> None:
        now = self._must_be(change.rule_id)
        try:
            _append_state(db, change)
        except sqlite3.IntegrityError as error:
            raise StoreError(
                f"{self.path}: rule '{change.rule_id}' is {now.value} and cannot become "
                f"{change.state.value}: {error}"
            ) from None

    def _must_be(self, rule_id: str, wanted: State | None = None) -> State:
        status = self.rule(rule_id)
        if status is None:
            raise StoreError(f"{self.path}: no rule '{rule_id}'")
        if wanted is not None and status.state is not wanted:
            raise StoreError(
                f"{self.path}: rule '{rule_id}' is {status.state.value} since {status.changed_at}, "
                f"and no {wanted.value}"
            )
        return status.state


def _append_state(db: sqlite3.Connection, change: StateChange) -> None:
    evidence = json.dumps(change.evidence, allow_nan=False)
    db.execute(
        "INSERT INTO state (rule_id, state, reason, validator, evidence, at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            change.rule_id,
            change.state.value,
            change.reason,
            change.validator,
            evidence,
            change.at,
        ),
    )


def _content(rule: Rule) -> Rule:
    """What makes two submissions the same rule: all but what the store adds."""
    added: dict[str, Any] = {
        "submitted_at": "",
        "baseline_breach_rate": None,
        "baseline_sessions": 0,
    }
    return rule.model_copy(update=added)
