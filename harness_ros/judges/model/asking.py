# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From a question to an answer as it was asked for: recorded, or from the model, tried again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from random import Random
from typing import Any, NamedTuple, TypeVar

from harness_ros.judges.model.answer import AnswerError
from harness_ros.judges.model.cassette import Cassette, Role, asked_of
from harness_ros.judges.model.endpoint import Endpoint, EndpointError
from harness_ros.judges.model.question import Question, messages
from harness_ros.judges.model.reply import Reply, answer_text
from harness_ros.judges.model.retrying import backoff_s
from harness_ros.judges.model.settings import ModelSettings
from harness_ros.judges.model.spending import Bill, Spending

Answer = TypeVar("Answer")
Read = Callable[[str], Answer]
"""Makes an answer of the text of a model; raises AnswerError where it is none."""

MALFORMED = 2
"""Requests at most for one answer that is not as it was asked for. What is well-formed is never
asked for again, whatever it says."""
FIRST_SHARE = 2 / 3
"""Of the time that is left, for the first of several requests: else one that hangs takes all."""


class Asked(NamedTuple):
    """One question, as it is asked for one judgement."""

    question: Question
    role: Role
    schema: Mapping[str, Any]
    messages: list[dict[str, Any]]
    post_condition: str
    deadline: float
    """On the monotonic clock."""
    bill: Bill


def asked(
    question: Question,
    role: Role,
    schema: Mapping[str, Any],
    settings: ModelSettings,
    post_condition: str,
    deadline: float,
    bill: Bill,
) -> Asked:
    """A question with its messages, which all votes share."""
    sent = messages(question, settings)
    return Asked(question, role, schema, sent, post_condition, deadline, bill)


class Asker:
    """Asks for answers in one event loop.

    Args:
        open_endpoint: gives the endpoint; only called where an answer is not recorded.
    """

    def __init__(
        self,
        settings: ModelSettings,
        cassette: Cassette | None,
        spending: Spending,
        open_endpoint: Callable[[], Endpoint],
    ) -> None:
        self._settings = settings
        self._cassette = cassette
        self._spending = spending
        self._open_endpoint = open_endpoint
        self._random = Random()

    async def answer(self, asked: Asked, vote: int, read: Read[Answer]) -> Answer:
        """The answer to a question.

        Args:
            vote: which of several answers, from 1.

        Raises:
            AnswerError: the model answered, and not as asked.
            HarnessError: there is no answer, and why.
        """
        if self._cassette is not None:
            recorded = self._cassette.find(asked.question, vote, asked.post_condition)
            if recorded is not None:
                self._spending.replay()
                return read(answer_text(recorded))
        return await self._from_model(asked, vote, read)

    async def _from_model(self, asked: Asked, vote: int, read: Read[Answer]) -> Answer:
        endpoint = self._open_endpoint()
        malformed = 0
        for request in range(1, self._settings.attempts + 1):
            last = request == self._settings.attempts
            try:
                reply = await self._reply(endpoint, asked, vote, first=request == 1 and not last)
            except EndpointError as error:
                await self._wait(error, request, asked.deadline)
                continue
            except AnswerError:
                malformed += 1
                if last or malformed == MALFORMED:
                    raise
                continue
            try:
                read(answer_text(reply))
            except AnswerError:
                malformed += 1
                if not last and malformed < MALFORMED:
                    continue
            # What is recorded is played back later, and so counts now: a malformed answer too.
            return read(answer_text(self._kept(asked, vote, reply)))
        raise AssertionError("the last request returns or raises")

    async def _reply(self, endpoint: Endpoint, asked: Asked, vote: int, first: bool) -> Reply:
        now = time.monotonic()
        left_s = asked.deadline - now
        deadline = now + left_s * FIRST_SHARE if first else asked.deadline
        seed = self._settings.seed
        # Else all votes would be one and the same sample.
        seed = None if seed is None else seed + vote - 1
        return await endpoint.ask(asked.messages, asked.schema, seed, deadline, asked.bill)

    async def _wait(self, error: EndpointError, request: int, deadline: float) -> None:
        """Waits before the next request.

        Raises:
            EndpointError: there will be none.
        """
        attempts = self._settings.attempts
        which = f"{error} (request {request} of {attempts})" if attempts > 1 else str(error)
        if not error.passing:
            raise error
        if request == attempts:
            raise EndpointError(which, False)
        wait_s = backoff_s(request, self._random) if error.after_s is None else error.after_s
        left_s = deadline - time.monotonic()
        if wait_s >= left_s:
            raise EndpointError(
                f"{which}; {max(0.0, left_s):.3g} s are left of timeout_s, and the next request "
                f"would have to wait {wait_s:.3g} s",
                False,
            )
        await asyncio.sleep(wait_s)

    def _kept(self, asked: Asked, vote: int, reply: Reply) -> Reply:
        """The answer, or that which is recorded for the question already."""
        if self._cassette is None:
            return reply
        what = asked_of(asked.question, asked.role, self._settings.model, asked.post_condition)
        return self._cassette.keep(asked.question, vote, what, reply)


async def all_of(asked: Iterable[Awaitable[Answer]]) -> list[Answer]:
    """The answers to questions that are asked at once.

    Raises:
        Exception: that of the first which has none, when all have ended: what the others took is
            known by then.
    """
    found = await asyncio.gather(*asked, return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return [one for one in found if not isinstance(one, BaseException)]
