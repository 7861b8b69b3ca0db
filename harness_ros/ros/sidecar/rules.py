# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers to the services about rules: what the store holds, and rounds that decide."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

from harness_ros import srv
from harness_ros.contract import HarnessError
from harness_ros.ros.conversion import encodable
from harness_ros.ros.diagnostics import Level, Report
from harness_ros.ros.sidecar.messages import (
    UnusableMessage,
    rule_from_request,
    rule_to_message,
    session_from_request,
)
from harness_ros.sidecar.promotion.rounds import Validation
from harness_ros.sidecar.promotion.store import RuleStore
from harness_ros.sidecar.promotion.stored import State


class RuleServices:
    """One method a service; each blocks and never raises for what a request holds.

    Args:
        store: of the rules.
        validation: runs rounds on it.
    """

    def __init__(self, store: RuleStore, validation: Validation) -> None:
        self._store = store
        self._validation = validation
        self._round = threading.Lock()
        self._validating = ""
        self._last_round = ""

    def submit(self, request: Any) -> Any:
        """Answers SubmitRule."""
        try:
            rule = rule_from_request(request)
            known = self._store.rule(rule.rule_id) is not None
            self._store.submit(rule)
            status = self._store.rule(rule.rule_id)
        except HarnessError as error:
            return srv.SubmitRule.Response(reason=_text(error))
        assert status is not None
        return srv.SubmitRule.Response(
            accepted=True, rule_id=rule.rule_id, state=status.state.value, known=known
        )

    def report(self, request: Any) -> Any:
        """Answers ReportSession; decides the forward trials that the session ends."""
        try:
            new = self._store.report(session_from_request(request))
        except HarnessError as error:
            return srv.ReportSession.Response(reason=_text(error))
        response = srv.ReportSession.Response(accepted=True, known=not new)
        try:
            response.decided = [change.rule_id for change in self._validation.settle_trials()]
        except HarnessError as error:
            response.reason = f"the session is kept, forward trials wait: {_text(error)}"
        return response

    def validate(self, request: Any) -> Any:
        """Answers ValidateRule, at the end of the round."""
        response = srv.ValidateRule.Response(rule_id=request.rule_id)
        if not self._round.acquire(blocking=False):
            response.reason = f"a round is under way ({self._validating}): ask again when it ended"
            return response
        try:
            self._validating = request.rule_id or "the candidate whose turn it is"
            made = self._validation.validate(request.rule_id)
            if made is None:
                response.reason = "there is no candidate that waits for a round"
                return response
            status = self._store.rule(made.rule_id)
        except HarnessError as error:
            response.reason = _text(error)
            return response
        finally:
            self._round.release()
        assert status is not None
        decision = made.decision
        self._last_round = f"{made.rule_id[:12]}: {decision.outcome}, {decision.reason}"
        problems = [f"case '{case}': {why}" for case, why in made.problems.items()]
        response.validated = True
        response.reason = encodable("; ".join([decision.reason, *problems]))
        response.rule_id = made.rule_id
        response.state = status.state.value
        response.outcome = decision.outcome
        if decision.pending_reason is not None:
            response.pending_reason = decision.pending_reason.value
        response.evidence = json.dumps(decision.evidence)
        return response

    def listed(self, request: Any) -> Any:
        """Answers ListRules."""
        try:
            state = _state(request.state)
            rules = [rule_to_message(status) for status in self._store.rules(state)]
        except HarnessError as error:
            return srv.ListRules.Response(reason=_text(error))
        return srv.ListRules.Response(found=True, rules=rules)

    def reports(self) -> Iterator[Report]:
        """How many rules are in which state, for diagnostics."""
        by_state = Counter(status.state.value for status in self._store.rules())
        values = {
            "store": self._store.path,
            **{state.value: by_state[state.value] for state in State},
            "round under way": self._validating if self._round.locked() else "",
            "last round": self._last_round,
        }
        candidates, active, retired = (by_state[state.value] for state in State)
        text = f"{candidates} candidates, {active} active, {retired} retired"
        yield Report("rules", Level.OK, text, values)


def _state(text: str) -> State | None:
    if not text:
        return None
    try:
        return State(text)
    except ValueError:
        allowed = [state.value for state in State]
        raise UnusableMessage(f"state is '{text}'; one of {allowed} is wanted, or none") from None


def _text(error: HarnessError) -> str:
    return encodable(str(error))
