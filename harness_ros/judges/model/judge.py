# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The model judge: what a model says of the views, as a judgement within its time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial

from harness_ros.contract import EvaluationRequest, HarnessError, Judgement, Kind, Status
from harness_ros.judges.base import no_judgement
from harness_ros.judges.model.answer import (
    AnswerError,
    CriticPiece,
    ModelAnswer,
    answer_schema,
    critic_schema,
    parse_answer,
    parse_critic,
)
from harness_ros.judges.model.asking import Asked, Asker, all_of, asked
from harness_ros.judges.model.funds import Funds
from harness_ros.judges.model.question import CLAIMS, ask_about, criticise
from harness_ros.judges.model.session import ModelSession, answer_within_s
from harness_ros.judges.model.settings import ModelSettings
from harness_ros.judges.model.spending import Account, Bill
from harness_ros.judges.panel import combine

STATUS = {
    "success": (Status.SUCCESS, Kind.JUDGED),
    "failure": (Status.FAILURE, Kind.JUDGED),
    "inconclusive": (Status.FAILURE, Kind.INCONCLUSIVE),
    "process": (Status.PROCESS, Kind.JUDGED),
}


class ModelJudge:
    """Asks a vision-language model; may be called from several threads at the same time.

    Args:
        name: key under `judges` in eval.yaml.
        funds: what its spending cap is of; by default of this judge alone.
    """

    def __init__(self, name: str, settings: ModelSettings, funds: Funds | None = None) -> None:
        self.name = name
        self._settings = settings
        self._who = f"{name} ({settings.model})"
        self._session = ModelSession(name, settings, funds)

    @property
    def account(self) -> Account:
        """What the judge took since it was started."""
        return self._session.account

    def prepare(self) -> str:
        """Loads the client library; returns what keeps the judge from judging, or nothing."""
        return self._session.prepare()

    def judge(self, request: EvaluationRequest) -> Judgement:
        """What the model says; `error` where it says nothing, or not as it was asked."""
        within_s = answer_within_s(self._settings.timeout_s)
        deadline, bill = time.monotonic() + within_s, Bill()
        notes: tuple[str, ...] = ()
        try:
            question = ask_about(request, self._settings)
            notes = question.notes
            # Encoded here: the thread of the session sends and reads what others wait for.
            what = asked(
                question,
                "judge",
                answer_schema(question.statuses),
                self._settings,
                request.post_condition,
                deadline,
                bill,
            )
            judgement = self._session.run(partial(self._judgement, what=what), deadline)
        except HarnessError as error:
            judgement = _without_answer(error)
        except TimeoutError:
            judgement = no_judgement("", f"no answer within {within_s:.3g} s")
        except Exception as error:
            judgement = no_judgement("", f"the judge failed: {error!r}")
        evidence = (*judgement.evidence, *notes)
        return judgement.model_copy(
            update={"judge": self._who, "evidence": evidence, "usage": bill.total}
        )

    def close(self) -> None:
        """Ends what runs in the background; the judge may be used again."""
        self._session.close()

    async def _judgement(self, asker: Asker, what: Asked) -> Judgement:
        numbers = range(1, self._settings.votes + 1)
        votes = await asyncio.gather(*(_vote(asker, what, number) for number in numbers))
        judgement = votes[0] if len(votes) == 1 else combine(votes, self._settings.rule)
        if self._settings.critic and judgement.status is Status.SUCCESS and not judgement.error:
            claims = [line for vote in votes if _is_success(vote) for line in vote.evidence]
            return await self._criticised(asker, what, judgement, list(dict.fromkeys(claims)))
        return judgement

    async def _criticised(
        self, asker: Asker, what: Asked, success: Judgement, claims: Sequence[str]
    ) -> Judgement:
        """The success, or what became of it when its evidence was looked for."""
        parts = [claims[start : start + CLAIMS] for start in range(0, len(claims), CLAIMS)]
        try:
            found = await all_of(self._look_for(asker, what, part) for part in parts)
        except HarnessError as error:
            failed = _without_answer(error)
            words = f"the critic did not answer: {failed.error}"
            return failed.model_copy(
                update={"error": words, "failure_reason": words, "evidence": success.evidence}
            )
        pieces = [piece for part in found for piece in part]
        return _surviving(success, claims, pieces)

    async def _look_for(
        self, asker: Asker, what: Asked, claims: Sequence[str]
    ) -> tuple[CriticPiece, ...]:
        question = criticise(what.question, claims, self._settings)
        critic = asked(
            question,
            "critic",
            critic_schema(),
            self._settings,
            what.post_condition,
            what.deadline,
            what.bill,
        )
        return await asker.answer(critic, 1, partial(parse_critic, pieces=len(claims)))


async def _vote(asker: Asker, what: Asked, number: int) -> Judgement:
    try:
        answer = await asker.answer(
            what, number, partial(parse_answer, statuses=what.question.statuses)
        )
    except HarnessError as error:
        return _without_answer(error)
    return _said(answer)


def _said(answer: ModelAnswer) -> Judgement:
    status, kind = STATUS[answer.status]
    return Judgement(
        status=status,
        kind=kind,
        evidence=tuple(answer.evidence),
        failure_reason=answer.failure_reason,
        confidence=answer.confidence,
    )


def _without_answer(error: HarnessError) -> Judgement:
    """No judgement: the model answered and not as asked, or it did not answer."""
    nothing = no_judgement("", str(error))
    if isinstance(error, AnswerError):
        return nothing.model_copy(update={"kind": Kind.JUDGE_PROTOCOL_VIOLATION})
    return nothing


def _is_success(vote: Judgement) -> bool:
    return vote.status is Status.SUCCESS and not vote.error


def _surviving(
    success: Judgement, claims: Sequence[str], pieces: Sequence[CriticPiece]
) -> Judgement:
    """A success all of whose evidence was found again; else nobody can tell."""
    missed = [
        f"{claim!r} ({piece.reason or 'no reason given'})"
        for claim, piece in zip(claims, pieces, strict=True)
        if not piece.visible
    ]
    if not missed:
        line = f"critic: found all {len(claims)} pieces of claimed evidence"
        return success.model_copy(update={"evidence": (*success.evidence, line)})
    return success.model_copy(
        update={
            "status": Status.FAILURE,
            "kind": Kind.INCONCLUSIVE,
            "confidence": None,
            "failure_reason": (
                f"a critic did not find {len(missed)} of {len(claims)} pieces of the evidence of a "
                f"success: {'; '.join(missed)}"
            ),
        }
    )
