# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A real HTTP server that speaks the protocol of OpenAI's chat completions, or misbehaves.

As a process of its own: `python openai_server.py --delay 0.05` says its address on standard output
and answers every question with the same success until its standard input ends.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SUCCESS = {
    "evidence": ["the cube lies in the tray"],
    "failure_reason": "",
    "confidence": 0.8,
    "status": "success",
}
USAGE = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}


@dataclass(frozen=True)
class Response:
    """What is sent back, and how."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay_s: float = 0.0
    """Before anything is sent."""
    pause_s: float = 0.0
    """Between any two bytes of the body."""
    cut_at: int | None = None
    """Bytes of the body after which the connection is closed."""
    missing: int = 0
    """Bytes that are announced behind the body and never come."""
    drop: bool = False
    """The connection is closed without a word."""


Behaviour = Response | Callable[[dict[str, Any]], Response]
"""A response, or what makes it of the body of the request."""


def says(text: str | None, finish_reason: str = "stop", **message: Any) -> Response:
    """A chat completion in which the model writes a text."""
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "server-of-the-tests-no-model",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": finish_reason,
            }
        ],
        "usage": USAGE,
    }
    return Response(json.dumps(completion).encode())


def answers(**changes: Any) -> Response:
    """A chat completion that holds a verdict; by default a success."""
    return says(json.dumps({**SUCCESS, **changes}))


def fails(status: int, message: str = "no", **headers: str) -> Response:
    """An error as OpenAI words it."""
    body = json.dumps({"error": {"message": message, "type": "error"}}).encode()
    return Response(body, status, {name.replace("_", "-"): text for name, text in headers.items()})


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    path: str
    headers: Mapping[str, str]
    """By their names in lower case."""
    body: dict[str, Any]

    @property
    def pictures(self) -> list[str]:
        """The data URIs of the pictures, in their order."""
        return [
            part["image_url"]["url"]
            for message in self.body["messages"]
            if isinstance(message["content"], list)
            for part in message["content"]
            if "image_url" in part
        ]

    @property
    def text(self) -> str:
        """All text of the messages, in its order."""
        texts = []
        for message in self.body["messages"]:
            content = message["content"]
            parts = [{"text": content}] if isinstance(content, str) else content
            texts += [part["text"] for part in parts if "text" in part]
        return "\n".join(texts)


class OpenAIServer:
    """Keeps what it got in `requests`; answers by `script`, and then by `default`."""

    def __init__(self, default: Behaviour | None = None) -> None:
        self.default: Behaviour = answers() if default is None else default
        self.script: deque[Behaviour] = deque()
        self.requests: list[Request] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def base_url(self) -> str:
        """For the settings of a judge."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> OpenAIServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait(self, seconds: float) -> None:
        """Waits, or until the server ends."""
        self._ended.wait(seconds)

    @contextmanager
    def take(self, request: Request) -> Iterator[Response]:
        """The response to a request, which counts as under way meanwhile."""
        with self._lock:
            self.requests.append(request)
            behaviour = self.script.popleft() if self.script else self.default
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            yield behaviour if isinstance(behaviour, Response) else behaviour(request.body)
        finally:
            with self._lock:
                self._at_once -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: OpenAIServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up is what many tests are about."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body are two packets; together they would wait for the client's acknowledgement.
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = json.loads(self.rfile.read(length))
        headers = {name.lower(): text for name, text in self.headers.items()}
        owner = self.server.owner
        with owner.take(Request(self.path, headers, body)) as response:
            owner.wait(response.delay_s)
            if response.drop:
                self.close_connection = True
                return
            self.send_response(response.status)
            self.send_header("Content-Type", response.content_type)
            self.send_header("Content-Length", str(len(response.body) + response.missing))
            for name, text in response.headers.items():
                self.send_header(name, text)
            self.end_headers()
            self._send(owner, response)

    def _send(self, owner: OpenAIServer, response: Response) -> None:
        body = response.body[: response.cut_at]
        if response.pause_s:
            for byte in body:
                self.wfile.write(bytes([byte]))
                owner.wait(response.pause_s)
        else:
            self.wfile.write(body)
        if response.missing:
            owner.wait(60)
        if response.cut_at is not None or response.missing:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    delay_s = parser.parse_args().delay
    response = Response(answers().body, delay_s=delay_s)
    with OpenAIServer(response) as server:
        print(json.dumps({"base_url": server.base_url}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
