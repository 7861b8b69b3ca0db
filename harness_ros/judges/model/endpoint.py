# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Asks a model behind an endpoint within a deadline: one request, counted and paid for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from harness_ros.contract import HarnessError
from harness_ros.judges.model.answer import beginning
from harness_ros.judges.model.connection import Body, Connection, RefusedError, host_of
from harness_ros.judges.model.reply import Reply, read_completion, words_of_error
from harness_ros.judges.model.retrying import is_passing, retry_after_s
from harness_ros.judges.model.settings import ModelSettings
from harness_ros.judges.model.spending import (
    CHARACTERS_PER_TOKEN,
    PIXELS_PER_TOKEN,
    Bill,
    Reservation,
    Spending,
)

CHANGEABLE = frozenset({400, 404, 415, 422, 501})
"""Status of an endpoint that does not know a part of the request."""
SCHEMA_WORDS = ("response_format", "json_schema", "schema", "structured output", "guided")


class EndpointError(HarnessError):
    """The endpoint gave no answer.

    Args:
        passing: the same request may be answered later.
        after_s: seconds after which the endpoint wants to be asked again, where it says so.
    """

    def __init__(self, words: str, passing: bool, after_s: float | None = None) -> None:
        super().__init__(words)
        self.passing = passing
        self.after_s = after_s


class Endpoint:
    """An endpoint as the event loop sees it that it is used in.

    Raises:
        HarnessError: there is no key in the environment, or no client library.
    """

    def __init__(self, settings: ModelSettings, spending: Spending) -> None:
        self._settings = settings
        self._spending = spending
        self._connection = Connection(settings)
        self._host = host_of(settings)
        # All votes of one judgement may be asked for at once, whatever `parallel` says.
        self._slots = asyncio.Semaphore(max(settings.parallel, settings.votes))
        self._schema = settings.structured_output != "none"
        self._length_key = "max_tokens"

    async def ask(
        self,
        messages: list[dict[str, Any]],
        schema: Mapping[str, Any],
        seed: int | None,
        deadline: float,
        bill: Bill,
    ) -> Reply:
        """What the model replies; where the endpoint refuses a part of the request, without it.

        Args:
            deadline: on the monotonic clock.

        Raises:
            EndpointError: no reply.
            AnswerError: a reply that is no chat completion.
            CapReachedError: the request may cost more than is left.
        """
        while True:
            arguments = self._arguments(messages, schema, seed)
            try:
                return await self._request(arguments, deadline, bill)
            except RefusedError as refused:
                if self._changed(refused, arguments):
                    continue
                raise EndpointError(
                    f"{self._host} answered with HTTP {refused.status}: "
                    f"{self._shown(words_of_error(refused.body))}",
                    is_passing(refused.status),
                    retry_after_s(refused.headers),
                ) from None

    async def close(self) -> None:
        """Closes the connections."""
        await self._connection.close()

    async def _request(self, arguments: Mapping[str, Any], deadline: float, bill: Bill) -> Reply:
        async with _Slot(self._slots, deadline):
            tokens = _input_tokens(arguments["messages"], self._settings)
            longest = self._settings.max_output_tokens
            with self._spending.reserve(tokens, longest, bill) as reservation:
                body = await self._post(arguments, deadline, reservation)
                reply = read_completion(body.text, body.content_type)
                if isinstance(reply, str):
                    words = self._shown(reply)
                    raise EndpointError(f"{self._host} answered with an error: {words}", True)
                reservation.took(reply.input_tokens, reply.output_tokens)
                return self._hidden(reply)

    async def _post(
        self, arguments: Mapping[str, Any], deadline: float, reservation: Reservation
    ) -> Body:
        begun = time.monotonic()
        try:
            return await asyncio.wait_for(self._connection.post(arguments), deadline - begun)
        except asyncio.TimeoutError:
            within_s = time.monotonic() - begun
            raise EndpointError(f"{self._host} did not answer in {within_s:.3g} s", True) from None
        except RefusedError:
            reservation.nothing()
            raise
        except HarnessError:
            raise
        except Exception as error:
            cause = error.__cause__ or error
            kind = type(cause).__name__
            if kind.startswith("Connect"):
                reservation.nothing()
            words = f"{kind}: {self._shown(str(cause))}"
            raise EndpointError(f"no answer from {self._host}: {words}", True) from None

    def _arguments(
        self, messages: list[dict[str, Any]], schema: Mapping[str, Any], seed: int | None
    ) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self._settings.model,
            "messages": messages,
            self._length_key: self._settings.max_output_tokens,
        }
        if self._settings.temperature is not None:
            arguments["temperature"] = self._settings.temperature
        if seed is not None:
            arguments["seed"] = seed
        if self._schema:
            arguments["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)},
            }
        return arguments

    def _changed(self, refused: RefusedError, arguments: Mapping[str, Any]) -> bool:
        """Whether the request can be sent without what was refused; holds for later ones too."""
        if refused.status not in CHANGEABLE:
            return False
        said = refused.body.lower()
        if "max_tokens" in arguments and "max_completion_tokens" in said:
            self._length_key = "max_completion_tokens"
            return True
        optional = self._settings.structured_output == "auto" and "response_format" in arguments
        if optional and any(word in said for word in SCHEMA_WORDS):
            self._schema = False
            return True
        return False

    def _shown(self, words: str) -> str:
        # Cut behind the key is taken out: a part of it would say as much.
        return beginning(self._connection.hide(" ".join(words.split())))

    def _hidden(self, reply: Reply) -> Reply:
        hide = self._connection.hide
        return reply.model_copy(
            update={
                "text": None if reply.text is None else hide(reply.text),
                "refusal": hide(reply.refusal),
                "tools": tuple(map(hide, reply.tools)),
                "finish_reason": hide(reply.finish_reason),
                "model": hide(reply.model),
            }
        )


class _Slot:
    """A place among the requests that are under way at the same time."""

    def __init__(self, slots: asyncio.Semaphore, deadline: float) -> None:
        self._slots = slots
        self._deadline = deadline

    async def __aenter__(self) -> None:
        try:
            await asyncio.wait_for(self._slots.acquire(), self._deadline - time.monotonic())
        except asyncio.TimeoutError:
            raise EndpointError(
                "the request was not sent: as many as may be (parallel) were under way", False
            ) from None

    async def __aexit__(self, *_: object) -> None:
        self._slots.release()


def _input_tokens(messages: list[dict[str, Any]], settings: ModelSettings) -> int:
    """As many as a request has at most, roughly: no endpoint counts alike."""
    characters, pictures = 0, 0
    for message in messages:
        content = message["content"]
        for part in [{"text": content}] if isinstance(content, str) else content:
            characters += len(part.get("text", ""))
            pictures += "image_url" in part
    pixels = pictures * settings.pixel_budget
    return characters // CHARACTERS_PER_TOKEN + pixels // PIXELS_PER_TOKEN
