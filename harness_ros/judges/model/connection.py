# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The `openai` client: key from the environment, limited bodies, no redirects, no retries."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from harness_ros.contract import HarnessError
from harness_ros.judges.model.answer import AnswerError, beginning
from harness_ros.judges.model.settings import ModelSettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

BODY_LIMIT = 1 << 20
"""Bytes of a reply that are read at most; an answer has a few thousand."""
SHORTEST_SECRET = 8
"""Characters of a key that is worth hiding; servers that check none are given words like EMPTY."""
OWN_HOST = "api.openai.com"
NO_KEY = "none"
"""The client wants one in any case."""


MOST_CONNECT_S = 5.0
"""After which an endpoint is taken for one that is not there."""


class KeyMissingError(HarnessError):
    """The environment does not hold the key that the configuration names, or holds no key."""


class RefusedError(HarnessError):
    """The endpoint answered with a status that is no success."""

    def __init__(self, status: int, headers: Mapping[str, str], body: str) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.headers = headers
        self.body = body


class Body(NamedTuple):
    """What an endpoint replied with a status of success."""

    content_type: str
    text: str


class Connection:
    """One client of an endpoint, in one event loop.

    Raises:
        KeyMissingError: there is no key in the environment.
        HarnessError: the client library is not installed.
    """

    def __init__(self, settings: ModelSettings) -> None:
        self._variable = settings.api_key_env
        self._key = _key(settings)
        self._client = _client(settings, self._key, self._refuse)

    async def post(self, arguments: Mapping[str, Any]) -> Body:
        """Asks for a chat completion.

        Raises:
            RefusedError: the endpoint did not want to or could not answer.
            AnswerError: the reply is too long.
            Exception: whatever the client raises where the connection fails.
        """
        try:
            return await self._post(arguments)
        except Exception as error:
            if isinstance(error.__cause__, RefusedError):
                # Some versions of the client take what a hook raises for a broken connection.
                raise error.__cause__ from None
            raise

    def hide(self, text: str) -> str:
        """The text without the key, should it hold it."""
        if len(self._key) < SHORTEST_SECRET:
            return text
        return text.replace(self._key, f"<{self._variable}>")

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _post(self, arguments: Mapping[str, Any]) -> Body:
        create = self._client.chat.completions.with_streaming_response.create
        # As `extra_body`, since the client walks through all that is given otherwise, pictures and
        # all, to rename keys that need no other name: half of what a request costs it.
        request = create(model=arguments["model"], messages=[], extra_body=arguments)
        async with request as response:
            text = await self._read(response.iter_bytes())
            if len(text) >= BODY_LIMIT:
                raise AnswerError(
                    f"the endpoint replied with more than {BODY_LIMIT} bytes: {beginning(text)}"
                )
            return Body(self.hide(response.headers.get("content-type", "")), text)

    async def _refuse(self, response: Any) -> None:
        # Before the client looks at it, which would read a body of any length.
        if response.status_code >= 300:
            text = await self._read(response.aiter_bytes())
            raise RefusedError(response.status_code, response.headers, text)

    async def _read(self, chunks: AsyncIterator[bytes]) -> str:
        """The body without the key, up to the limit."""
        body = bytearray()
        async for chunk in chunks:
            body += chunk
            if len(body) >= BODY_LIMIT:
                break
        # Before it is shown or cut: a part of the key would say as much.
        return self.hide(bytes(body[:BODY_LIMIT]).decode("utf-8", "replace"))


def host_of(settings: ModelSettings) -> str:
    """Host and port of the endpoint; the rest of its address may hold a secret."""
    parts = urlsplit(settings.base_url)
    return (parts.hostname or "") + (f":{parts.port}" if parts.port else "")


def missing(settings: ModelSettings) -> str:
    """What keeps a client from being made; empty where nothing does."""
    if importlib.util.find_spec("openai") is None:
        return "the Python package openai is not installed: pip install openai"
    try:
        _key(settings)
    except KeyMissingError as error:
        return str(error)
    return ""


def _key(settings: ModelSettings) -> str:
    if settings.api_key_env is None:
        return ""
    key = os.environ.get(settings.api_key_env, "").strip()
    if not key:
        raise KeyMissingError(
            f"the environment variable {settings.api_key_env} is not set: it must hold the key "
            f"for {host_of(settings)} (api_key_env)"
        )
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise KeyMissingError(
            f"the environment variable {settings.api_key_env} holds no key: there are characters "
            "in it that no key has, such as blanks"
        )
    return key


def _client(settings: ModelSettings, key: str, refuse: Any) -> AsyncOpenAI:
    import openai

    # Deadlines are kept by whoever asks, that for connecting here: until then nothing was sent, and
    # nothing is charged.
    connect_s = min(MOST_CONNECT_S, settings.timeout_s / 4)
    return openai.AsyncOpenAI(
        api_key=key or NO_KEY,
        base_url=settings.base_url,
        max_retries=0,
        timeout=openai.Timeout(None, connect=connect_s),
        http_client=openai.DefaultAsyncHttpxClient(
            timeout=openai.Timeout(None, connect=connect_s),
            follow_redirects=False,
            event_hooks={"request": [partial(_clean, _unwanted(settings))], "response": [refuse]},
        ),
    )


def _unwanted(settings: ModelSettings) -> tuple[str, ...]:
    """Headers that the client fills from environment variables for OpenAI, whoever is asked."""
    if urlsplit(settings.base_url).hostname == OWN_HOST:
        return ()
    return ("openai-organization", "openai-project")


async def _clean(unwanted: tuple[str, ...], request: Any) -> None:
    """Takes out of a request what the endpoint has no business with."""
    if request.headers.get("authorization") == f"Bearer {NO_KEY}":
        del request.headers["authorization"]
    for name in unwanted:
        request.headers.pop(name, None)
