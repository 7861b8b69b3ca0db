# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The verifier over HTTP, for agents in another Python: on 127.0.0.1 alone, with a token.

`POST /v1/verify_turn` takes a TurnRequest and answers with a TurnResult; `GET /openapi.json`
describes both, as their models say.
"""

from __future__ import annotations

import hmac
import json
import logging
import os
import secrets
import stat
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from harness_ros.config.sidecar import HttpConfig
from harness_ros.contract import HarnessError
from harness_ros.sidecar.http_description import (
    DESCRIPTION,
    LONGEST_BODY,
    VERIFY,
    Refusal,
    TurnRequest,
    openapi,
)
from harness_ros.sidecar.turns import TurnVerifier, refuse_constant

log = logging.getLogger("harness_ros.sidecar")

ADDRESS = "127.0.0.1"
HOSTS = ("127.0.0.1", "localhost")
"""Names that the endpoint may be asked for by, whatever the port, so that it can be forwarded."""
LONGEST_PASSED_OVER = 8_000_000
"""Bytes."""
SHORTEST_TOKEN = 16
"""Characters."""
MOST_CONNECTIONS = 64
SILENT_S = 30
"""A connection on which nothing comes for so long is closed."""


class EndpointError(HarnessError):
    """The endpoint cannot be opened; the text names key, value and cause."""


class HttpEndpoint(ThreadingHTTPServer):
    """Answers turns until it is closed.

    Args:
        token: every request carries it: `Authorization: Bearer <token>`.
        port: 0 takes a free one.

    Raises:
        EndpointError: the token is too short, or the port is taken.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, turns: TurnVerifier, token: str, port: int = 0) -> None:
        if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable():
            raise EndpointError(
                f"the token has {len(token)} characters; at least {SHORTEST_TOKEN} of ASCII are "
                "wanted"
            )
        self.turns = turns
        self._token = token.encode()
        self._places = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._thread: threading.Thread | None = None
        try:
            super().__init__((ADDRESS, port), _Handler)
        except OSError as error:
            raise EndpointError(f"port {port} of {ADDRESS}: {error.strerror or error}") from None

    @property
    def url(self) -> str:
        """The address, without a path."""
        return f"http://{ADDRESS}:{self.server_address[1]}"

    def start(self) -> None:
        """Begins to answer, in a thread."""
        self._thread = threading.Thread(
            target=self.serve_forever, args=(0.1,), name="http", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Answers no more."""
        if self._thread is not None:
            self.shutdown()
            self._thread.join()
            self._thread = None
        self.server_close()

    def allows(self, token: str) -> bool:
        """Whether this is the token; the time does not tell how much of it is right."""
        return hmac.compare_digest(token.encode(), self._token)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Takes a connection, if there is a place for it."""
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            log.warning("%s: more than %d connections", self.url, MOST_CONNECTIONS)
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serves a connection and gives its place back."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of a client that has gone before it had its answer."""
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            log.error("%s: a request failed", self.url, exc_info=error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "harness-ros", ""
    timeout = SILENT_S
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        if self._allowed(DESCRIPTION):
            self._send(HTTPStatus.OK, json.dumps(openapi()).encode())

    def do_POST(self) -> None:
        if not self._allowed(VERIFY):
            return
        request = self._request()
        if request is None:
            return
        result = self._endpoint.turns.verify_now(
            request.session_id, request.turn_index, request.end_state
        )
        self._send(HTTPStatus.OK, result.model_dump_json().encode())

    @property
    def _endpoint(self) -> HttpEndpoint:
        return cast(HttpEndpoint, self.server)

    def _allowed(self, path: str) -> bool:
        """Whether the request may be answered; else it has been refused."""
        host = self.headers.get("Host", "")
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        if host.rpartition(":")[0] not in HOSTS and host not in HOSTS:
            # A page of the Internet whose name is made to lead here sends its own name.
            self._refuse(HTTPStatus.FORBIDDEN, f"asked for as '{host[:80]}': not {ADDRESS}")
        elif "Origin" in self.headers:
            self._refuse(HTTPStatus.FORBIDDEN, "asked by a page in a browser")
        elif scheme.lower() != "bearer" or not self._endpoint.allows(token.strip()):
            self._refuse(
                HTTPStatus.UNAUTHORIZED,
                "the header 'Authorization: Bearer <token>' is missing, or the token is another",
            )
        elif self.path != path:
            self._refuse(
                HTTPStatus.NOT_FOUND, f"there are POST {VERIFY} and GET {DESCRIPTION} alone"
            )
        else:
            return True
        return False

    def _request(self) -> TurnRequest | None:
        """What is asked; None where it was refused."""
        length = self.headers.get("Content-Length", "")
        if self.headers.get_content_type() != "application/json":
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "application/json is wanted")
        elif "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdecimal()):
            self._refuse(HTTPStatus.LENGTH_REQUIRED, "the header Content-Length is wanted")
        elif len(length) > 9 or int(length) > LONGEST_BODY:
            self._pass_over(int(length[:9]))
            self._refuse(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {LONGEST_BODY} bytes are allowed"
            )
        else:
            body = self.rfile.read(int(length))
            try:
                fields = json.loads(body, parse_constant=refuse_constant)
                return TurnRequest.model_validate(fields)
            except ValidationError as error:
                first = error.errors(include_url=False, include_context=False)[0]
                where = ".".join(map(str, first["loc"])) or "the body"
                self._refuse(HTTPStatus.UNPROCESSABLE_ENTITY, f"{where}: {first['msg']}")
            except (ValueError, RecursionError) as error:
                self._refuse(HTTPStatus.BAD_REQUEST, f"no JSON: {str(error)[:200]}")
        return None

    def _pass_over(self, length: int) -> None:
        """Reads a body that is only a little too long: whoever still sends it hears no answer."""
        left = min(length, LONGEST_PASSED_OVER)
        while left > 0 and (chunk := self.rfile.read(min(left, 65536))):
            left -= len(chunk)

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        # What was not read of the request must not be taken for the next one.
        self.close_connection = True
        self._send(status, Refusal(error=why).model_dump_json().encode())

    def _send(self, status: HTTPStatus, body: bytes) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        }
        if status is HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = "Bearer"
        if self.close_connection:
            headers["Connection"] = "close"
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing: the verifier says what there is to say."""


def endpoint_of(config: HttpConfig, turns: TurnVerifier) -> HttpEndpoint:
    """The endpoint that a configuration asks for; it is not started.

    Raises:
        EndpointError: the token cannot be used, or the port is taken.
    """
    return HttpEndpoint(turns, token_of(config.token_file), config.port)


def token_of(path: Path) -> str:
    """The token of a file, which is made with a new one where it is missing.

    Raises:
        EndpointError: it cannot be read or made, or others can read it.
    """
    where = f"sidecar.http.token_file: {path}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            pass
        else:
            with open(made, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(32) + "\n")
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            raise EndpointError(f"{where} has mode {mode:o}, others can read it: chmod 600 {path}")
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise EndpointError(f"{where}: {getattr(error, 'strerror', None) or error}") from None
