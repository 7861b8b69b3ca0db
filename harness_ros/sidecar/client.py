# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A verifier that asks the endpoint of a sidecar, for an agent harness that lives outside of ROS.

Only the standard library is used: the file also works alone, copied into another Python.
"""

from __future__ import annotations

import http.client
import json
import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

log = logging.getLogger("harness_ros.sidecar.client")

PATH = "/v1/verify_turn"
LONGEST_ANSWER = 4_000_000
"""Bytes."""
SCHEMES = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}


class Verifier:
    """A verifier `(session_id, end_state) -> float | None` over HTTP; usable from several threads.

    Whatever goes wrong is logged and is no verdict; nothing is raised by a call.

    Args:
        url: of the endpoint, such as `http://127.0.0.1:8765`.
        token: of the endpoint.
        timeout_s: wall-clock seconds for each wait; more than the sidecar's `verifier_timeout_s`.

    Raises:
        ValueError: the address or the token cannot be used.
    """

    def __init__(self, url: str, token: str, timeout_s: float = 10.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in SCHEMES or not parts.hostname:
            raise ValueError(f"url is {url!r}; such as 'http://127.0.0.1:8765' is wanted")
        if not token.isascii() or not token.isprintable() or not token:
            raise ValueError("the token is empty or holds characters that no header can carry")
        self._host, self._port = parts.hostname, parts.port
        self._connection = SCHEMES[parts.scheme]
        self._path = parts.path.rstrip("/") + PATH
        self._url = f"{parts.scheme}://{parts.netloc}{self._path}"
        self._token, self._timeout_s = token, timeout_s

    def __call__(
        self, session_id: str, end_state: Mapping[str, Any], turn_index: int = 0
    ) -> float | None:
        """The score, 0 to 1; None where there is no verdict."""
        result = self.verify_turn(session_id, turn_index, end_state)
        if result is None or not result["has_score"]:
            return None
        return float(result["score"])

    def verify_turn(
        self, session_id: str, turn_index: int, end_state: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """The whole answer, as the endpoint's description says; None where there is none."""
        try:
            asked = {
                "session_id": session_id,
                "turn_index": turn_index,
                "end_state": dict(end_state),
            }
            status, body = self._ask(json.dumps(asked, allow_nan=False).encode())
            answer = json.loads(body)
            if status != 200:
                raise ValueError(f"status {status}: {_error(answer)}")
            return _checked(answer)
        except Exception as error:
            log.warning(
                "session %s: no verdict from %s: %s: %s",
                repr(session_id)[:200],
                self._url,
                type(error).__name__,
                error,
            )
            return None

    def _ask(self, body: bytes) -> tuple[int, bytes]:
        # Neither proxies of the environment nor redirections: they would get the token.
        connection = self._connection(self._host, self._port, timeout=self._timeout_s)
        try:
            headers = {
                "Content-Type": "application/json",
                "Authorization": f"Bearer {self._token}",
            }
            connection.request("POST", self._path, body, headers)
            response = connection.getresponse()
            read = response.read(LONGEST_ANSWER + 1)
            if len(read) > LONGEST_ANSWER:
                raise ValueError(f"an answer of more than {LONGEST_ANSWER} bytes")
            return response.status, read
        finally:
            connection.close()


def _checked(answer: Any) -> dict[str, Any]:
    """An answer whose score can be used."""
    if not isinstance(answer, dict) or not isinstance(answer.get("has_score"), bool):
        raise ValueError(f"no TurnResult: {str(answer)[:200]}")
    score: Any = answer.get("score")
    number = isinstance(score, (int, float)) and not isinstance(score, bool)
    # Not a number is not between 0 and 1 either.
    if answer["has_score"] and not (number and 0 <= score <= 1):
        raise ValueError(f"score {str(score)[:80]}; a number from 0 to 1 is wanted")
    return answer


def _error(answer: Any) -> str:
    said = answer.get("error") if isinstance(answer, dict) else answer
    return str(said)[:200]
