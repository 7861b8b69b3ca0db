# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages of the sidecar as records, and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Any

from builtin_interfaces.msg import Time
from pydantic import ValidationError

from harness_ros import action, msg
from harness_ros.contract import HarnessError
from harness_ros.ros.conversion import encodable
from harness_ros.sidecar.promotion import Case, Rule, Session
from harness_ros.sidecar.promotion.rounds import ReplayOutcome
from harness_ros.sidecar.promotion.stored import RuleStatus

Scores = dict[str, float]


class UnusableMessage(HarnessError):
    """A message that is no record; the text names field and value."""


def rule_from_request(request: Any) -> Rule:
    """The rule of a SubmitRule request. The same words always have the same rule_id.

    Raises:
        UnusableMessage: it has no text.
    """
    if not request.text.strip():
        raise UnusableMessage("text is empty: what the agent is to read is wanted")
    content = [request.text, request.metric, list(request.signatures), request.author]
    return Rule(
        rule_id=hashlib.sha256(json.dumps(content).encode()).hexdigest(),
        text=request.text,
        metric=request.metric,
        signatures=tuple(request.signatures),
        author=request.author,
    )


def session_from_request(request: Any) -> Session:
    """The session of a ReportSession request.

    Raises:
        UnusableMessage: it has no session_id, or its scores are none.
    """
    if not request.session_id.strip():
        raise UnusableMessage("session_id is empty")
    scores = scores_from_messages(request.scores, "scores")
    attempts = _attempts(request)
    try:
        return Session(
            session_id=request.session_id,
            signatures=tuple(request.signatures),
            scores=scores,
            attempts=attempts,
            protected=request.always_replayed,
            held_out=request.held_out,
        )
    except ValidationError as error:
        raise UnusableMessage(_words(error)) from None


def scores_from_messages(messages: Iterable[msg.MetricScore], field: str) -> Scores:
    """Scores by metric.

    Args:
        field: is named in errors.

    Raises:
        UnusableMessage: a metric has no name or is there twice, or a score is not finite.
    """
    scores: Scores = {}
    for item in messages:
        if not item.metric:
            raise UnusableMessage(f"{field}: a score without metric ({item.score:g})")
        if item.metric in scores:
            raise UnusableMessage(f"{field}: metric '{item.metric}' is there twice")
        if not abs(item.score) < float("inf"):
            raise UnusableMessage(
                f"{field}: '{item.metric}' is {item.score}; a finite number is wanted, and a "
                "metric that nobody could judge is left out"
            )
        scores[item.metric] = item.score
    return scores


def rule_to_message(status: RuleStatus) -> msg.LearnedRule:
    """LearnedRule.msg of a rule of the store."""
    rule = status.rule
    return msg.LearnedRule(
        rule_id=rule.rule_id,
        text=rule.text,
        metric=rule.metric,
        signatures=list(rule.signatures),
        author=rule.author,
        submitted_at=_time(rule.submitted_at),
        state=status.state.value,
        changed_at=_time(status.changed_at),
        reason=encodable(status.reason),
        validator=status.validator,
        rounds=status.rounds,
        inconclusive=status.inconclusive,
        on_trial=status.on_trial,
    )


def replay_goal(rule: Rule, case: Case, environment_s: float, replay_s: float) -> Any:
    """The goal that asks for a replay."""
    return action.ReplayCase.Goal(
        rule_id=rule.rule_id,
        rule_text=rule.text,
        case_id=case.case_id,
        kind=case.kind,
        environment_timeout_s=environment_s,
        replay_timeout_s=replay_s,
    )


def replay_outcome(result: Any) -> ReplayOutcome:
    """What a replay came to; scores that are none are no evidence, and the reason says so."""
    scores: Scores = {}
    attempts: tuple[Scores, ...] = ()
    reason = result.reason
    try:
        scores = scores_from_messages(result.scores, "scores")
        attempts = _attempts(result)
    except UnusableMessage as error:
        scores, reason = {}, "; ".join(filter(None, [str(error), reason]))
    return ReplayOutcome(
        started=result.started,
        exercised=result.exercised,
        scores=scores or None,
        attempts=attempts,
        reason=reason,
    )


def _attempts(message: Any) -> tuple[Scores, ...]:
    return tuple(
        scores_from_messages(attempt.scores, f"attempts[{number}].scores")
        for number, attempt in enumerate(message.attempts)
    )


def _time(text: str) -> Time:
    """A stamp of the store, in ISO 8601, as a message; zero where there is none."""
    if not text:
        return Time()
    at = datetime.fromisoformat(text.replace("Z", "+00:00"))
    since = at - datetime(1970, 1, 1, tzinfo=timezone.utc)
    seconds = since.days * 86400 + since.seconds
    return Time(sec=seconds, nanosec=since.microseconds * 1000)


def _words(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, item['loc']))}: {item['msg']} (value: {item['input']!r})"
        for item in error.errors(include_url=False)
    )
