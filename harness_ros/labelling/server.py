# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The local server of the page: on 127.0.0.1 alone, under an address that nobody can guess."""

from __future__ import annotations

import hmac
import json
import re
import secrets
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from harness_ros.contract import HarnessError
from harness_ros.labelling.page_writing import page_of
from harness_ros.labelling.runs import LabellingError
from harness_ros.labelling.session import Session

ADDRESS = "127.0.0.1"
HOSTS = ("127.0.0.1", "localhost")
"""Names that the page may be asked for by, whatever the port, so that it can be forwarded. A page
of the Internet whose name is made to lead here still sends its own name (DNS rebinding)."""
LONGEST_BODY = 1 << 16
"""Bytes."""
PICTURE = re.compile(r"runs/(\d{1,9})/(\d{1,4})\.jpg")
RUN = re.compile(r"runs/(\d{1,9})")


class LabelServer(ThreadingHTTPServer):
    """Serves one session until it is shut down.

    Args:
        title: of the page.
        port: 0 takes a free one.

    Raises:
        LabellingError: the port is taken.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, session: Session, title: str, port: int = 0) -> None:
        self.session, self.title = session, title
        self.token = secrets.token_urlsafe(24)
        try:
            super().__init__((ADDRESS, port), _Handler)
        except OSError as error:
            raise LabellingError(f"--port {port}: {error.strerror or error}") from None

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of a browser that has gone before it had its answer."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        """The address of the page; only whoever knows it gets an answer."""
        return f"http://{ADDRESS}:{self.server_address[1]}/{self.token}/"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "harness-ros", ""
    timeout = 60

    def do_GET(self) -> None:
        path = self._allowed_path()
        if path is None:
            return
        session = self._server.session
        if path == "":
            page = page_of(self._server.title, session.overview())
            policy = {"Content-Security-Policy": page.policy}
            self._send(HTTPStatus.OK, page.html.encode(), "text/html; charset=utf-8", policy)
        elif path == "summary":
            self._answer(session.summary)
        elif match := RUN.fullmatch(path):
            index = int(match[1])
            self._answer(lambda: session.run(index))
        elif match := PICTURE.fullmatch(path):
            self._picture(int(match[1]), int(match[2]))
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "no such page")

    def do_POST(self) -> None:
        path = self._allowed_path()
        if path is None:
            return
        match = RUN.fullmatch(path.removesuffix("/label").removesuffix("/verdict"))
        fields = self._body()
        if fields is None:
            return
        session = self._server.session
        index = -1 if match is None else int(match[1])
        if match and path.endswith("/label"):
            label, note = fields.get("label"), fields.get("note", "")
            self._answer(lambda: session.say(index, label, note))
        elif match and path.endswith("/verdict"):
            self._answer(lambda: session.verdict(index))
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "no such page")

    @property
    def _server(self) -> LabelServer:
        return cast(LabelServer, self.server)

    def _allowed_path(self) -> str | None:
        """What is asked for below the token; None where the request was refused."""
        host = self.headers.get("Host", "")
        origin = self.headers.get("Origin")
        token, _, path = self.path.partition("?")[0].removeprefix("/").partition("/")
        if host.rpartition(":")[0] not in HOSTS and host not in HOSTS:
            self._refuse(HTTPStatus.FORBIDDEN, f"asked for as '{host[:80]}': not {HOSTS[0]}")
        elif origin is not None and origin != f"http://{host}":
            self._refuse(HTTPStatus.FORBIDDEN, "asked by another page")
        elif not hmac.compare_digest(token.encode(), self._server.token.encode()):
            self._refuse(HTTPStatus.NOT_FOUND, "this is not the address that harness-ros printed")
        else:
            return path
        return None

    def _body(self) -> dict[str, Any] | None:
        """The JSON of a request; None where it was refused."""
        length = self.headers.get("Content-Length", "")
        # Pages of other origins may send forms and text, but no JSON.
        if self.headers.get_content_type() != "application/json":
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "JSON is wanted")
            return None
        if not length.isdecimal() or int(length) > LONGEST_BODY:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {LONGEST_BODY} bytes")
            return None
        try:
            fields = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            fields = None
        if not isinstance(fields, dict):
            self._refuse(HTTPStatus.BAD_REQUEST, "an object of JSON is wanted")
            return None
        return fields

    def _answer(self, answer: Callable[[], dict[str, Any]]) -> None:
        try:
            fields = answer()
        except HarnessError as error:
            self._send_json(HTTPStatus.CONFLICT, {"error": str(error)})
        else:
            self._send_json(HTTPStatus.OK, fields)

    def _picture(self, index: int, number: int) -> None:
        try:
            jpeg = self._server.session.picture(index, number)
        except HarnessError as error:
            self._refuse(HTTPStatus.NOT_FOUND, str(error))
        else:
            # The page asks for those of the next run beforehand.
            kept = {"Cache-Control": "private, max-age=3600"}
            self._send(HTTPStatus.OK, jpeg, "image/jpeg", kept)

    def _send_json(self, status: HTTPStatus, fields: dict[str, Any]) -> None:
        self._send(status, json.dumps(fields).encode(), "application/json", {})

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        # What was not read of the request must not be taken for the next one.
        self.close_connection = True
        self._send(status, f"{why}\n".encode(), "text/plain; charset=utf-8", {})

    def _send(self, status: HTTPStatus, body: bytes, kind: str, more: dict[str, str]) -> None:
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "Content-Security-Policy": "default-src 'none'",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            **more,
        }
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing: the terminal is for the person who labels."""
