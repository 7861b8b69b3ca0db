# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Several judgements of one Observation become one: those of a panel, or votes of one judge.

A member that could not judge, or whose answer contradicts itself, counts as one that says nothing
of the outcome: it is in the way of a majority and of unanimity, and never helps a success.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping, Sequence
from enum import Enum
from queue import Empty, SimpleQueue
from typing import NamedTuple

from harness_ros.contract import EvaluationRequest, Judgement, Kind, Status, Usage
from harness_ros.judges.base import Judge, inconsistency, no_judgement
from harness_ros.judges.settings import Rule

MARGIN_S = 0.5
"""At most so long before its time is up a panel answers, so that the answer is still heard."""


class _Said(Enum):
    """What a judgement comes to."""

    SUCCESS = "success"
    PROCESS = "process"
    FAILURE = "failure"
    INCONCLUSIVE = "inconclusive"
    NOTHING = "could not judge"


def combine(
    judgements: Sequence[Judgement], rule: Rule, names: Sequence[str] | None = None
) -> Judgement:
    """One judgement made of several; its `judge` is empty.

    Args:
        judgements: of the same question; the outcome does not depend on their order.
        rule: as in PanelSettings. Where it gives no outcome, that is a failure, inconclusive.
        names: who gave each judgement, for the evidence; `vote 1`, `vote 2`, ... by default.

    Returns:
        With an `error` where the rule takes "could not judge" for the outcome; its kind is
        JUDGE_PROTOCOL_VIOLATION where all that could not judge had answered and not as asked. The
        confidence is the share of judgements that say what came out; none without an outcome.
    """
    names = names or [f"vote {number}" for number in range(1, len(judgements) + 1)]
    votes = [_without_contradiction(judgement) for judgement in judgements]
    said = [_said(vote) for vote in votes]
    outcome = _outcome(said, rule)
    usage = _sum(votes)
    if outcome is None:
        return Judgement(
            status=Status.FAILURE,
            failure_reason=f"cannot tell by the rule '{rule}': {_counted(said, names)}",
            kind=Kind.INCONCLUSIVE,
            evidence=_evidence(votes, said, names),
            usage=usage,
        )
    deciding = [vote for vote, saying in zip(votes, said, strict=True) if saying is outcome]
    if outcome is _Said.NOTHING:
        errors = [
            f"{name}: {vote.error}" for name, vote in zip(names, votes, strict=True) if vote.error
        ]
        nothing = no_judgement("", "; ".join(errors) or "nobody was asked")
        kinds = {vote.kind for vote in deciding}
        violation = kinds == {Kind.JUDGE_PROTOCOL_VIOLATION}
        return nothing.model_copy(
            update={
                "kind": Kind.JUDGE_PROTOCOL_VIOLATION if violation else Kind.JUDGED,
                "evidence": _evidence(votes, said, names),
                "usage": usage,
            }
        )
    return Judgement(
        status=deciding[0].status,
        kind=deciding[0].kind,
        failure_reason="; ".join(
            dict.fromkeys(vote.failure_reason for vote in deciding if vote.failure_reason)
        ),
        evidence=_evidence(votes, said, names),
        confidence=len(deciding) / len(votes),
        usage=usage,
    )


def _without_contradiction(judgement: Judgement) -> Judgement:
    """The judgement, or that it is none where it contradicts itself."""
    problem = "" if judgement.error else inconsistency(judgement)
    if not problem:
        return judgement
    return judgement.model_copy(update={"error": problem, "kind": Kind.JUDGE_PROTOCOL_VIOLATION})


def _said(vote: Judgement) -> _Said:
    if vote.error:
        return _Said.NOTHING
    if vote.kind is Kind.INCONCLUSIVE:
        return _Said.INCONCLUSIVE
    return _Said[vote.status.name]


def _outcome(said: Sequence[_Said], rule: Rule) -> _Said | None:
    """What comes out by the rule; None where it cannot be told."""
    if not said:
        return _Said.NOTHING
    if rule == "any_failure" and _Said.FAILURE in said:
        return _Said.FAILURE
    most = max(_Said, key=said.count)
    wanted = len(said) // 2 + 1 if rule == "majority" else len(said)
    return most if said.count(most) >= wanted else None


def _counted(said: Sequence[_Said], names: Sequence[str]) -> str:
    """Who said what: `2 of 3 success (a, b), 1 failure (c)`."""
    parts = []
    for kind in _Said:
        who = [name for name, saying in zip(names, said, strict=True) if saying is kind]
        if who:
            parts.append(f"{len(who)} {kind.value} ({', '.join(who)})")
    return f"of {len(said)} judgements " + ", ".join(parts)


def _evidence(
    votes: Sequence[Judgement], said: Sequence[_Said], names: Sequence[str]
) -> tuple[str, ...]:
    """Each line with who said it; first who disagrees, where any do."""
    lines = [f"disagreement: {_counted(said, names)}"] if len(set(said)) > 1 else []
    for vote, saying, name in zip(votes, said, names, strict=True):
        reason = vote.error or vote.failure_reason
        lines.append(f"{name}: {saying.value}" + (f": {reason}" if reason else ""))
        lines += [f"{name}: {line}" for line in vote.evidence]
    return tuple(lines)


def _sum(votes: Sequence[Judgement]) -> Usage:
    """All that the answers took; the same in whatever order they came."""
    total = sum((vote.usage for vote in votes), Usage())
    return total.model_copy(update={"cost": math.fsum(vote.usage.cost for vote in votes)})


class Member(NamedTuple):
    """A judge that a panel asks."""

    judge: Judge
    timeout_s: float
    """Wall-clock seconds to wait for its answer."""
    parallel: int
    """Questions that are with it at the same time, of this panel."""


class PanelJudge:
    """Asks all its members at the same time, and waits for none longer than it may.

    Args:
        name: key under `judges` in eval.yaml.
        timeout_s: within which the whole panel answers, what is missing included.
        members: by their names.
    """

    def __init__(
        self, name: str, rule: Rule, timeout_s: float, members: Mapping[str, Member]
    ) -> None:
        self.name = name
        self._rule = rule
        self._within_s = timeout_s - min(MARGIN_S, timeout_s / 20)
        self._members = dict(members)
        self.asks = tuple(member.judge for member in members.values())
        self._slots = {
            key: threading.BoundedSemaphore(member.parallel) for key, member in members.items()
        }

    def judge(self, request: EvaluationRequest) -> Judgement:
        """What the rule makes of the members' judgements."""
        waiting = {key: self._ask(key, request) for key in self._members}
        judgements = [
            self._answer(key, answers, deadline) for key, (answers, deadline) in waiting.items()
        ]
        return combine(judgements, self._rule, list(self._members)).model_copy(
            update={"judge": self.name}
        )

    def _ask(self, key: str, request: EvaluationRequest) -> tuple[SimpleQueue[Judgement], float]:
        """Where the answer of a member will be, and until when it counts."""
        member, slots = self._members[key], self._slots[key]
        answers: SimpleQueue[Judgement] = SimpleQueue()
        within_s = min(member.timeout_s, self._within_s)
        deadline = time.monotonic() + within_s

        def ask() -> None:
            if not slots.acquire(timeout=within_s):
                return
            try:
                answers.put(member.judge.judge(request))
            except Exception as error:
                answers.put(no_judgement(member.judge.name, f"the judge failed: {error!r}"))
            finally:
                slots.release()

        # No pool: its threads would be waited for at the end of the process, and a judge may hang.
        threading.Thread(target=ask, name=f"judge {key}", daemon=True).start()
        return answers, deadline

    def _answer(self, key: str, answers: SimpleQueue[Judgement], deadline: float) -> Judgement:
        try:
            return answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except Empty:
            within_s = min(self._members[key].timeout_s, self._within_s)
            return no_judgement(key, f"no answer in {within_s:.3g} s")
