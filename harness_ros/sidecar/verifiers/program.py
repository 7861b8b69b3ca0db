# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`command`: a program of yours reads the end state and answers with its exit code."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from harness_ros.sidecar.verifier import give_reason

SESSION_VARIABLE = "HARNESS_ROS_SESSION_ID"
"""Environment variable in which the program finds the session."""
MOST_OUTPUT = 1_000_000
"""Bytes that a program may write before it is ended."""
TOLD = 300
"""Characters of the end of its output, in the reason."""


def command(
    session_id: str,
    end_state: dict[str, Any],
    *,
    command: Sequence[str],
    timeout_s: float = 30.0,
    failed: Sequence[int] = (1,),
    folder: str | Path | None = None,
) -> float | None:
    """1 where the program's exit code is 0, 0 where it is 1, and no verdict for any other.

    The program gets `end_state` as JSON on standard input and the session in the environment
    variable `HARNESS_ROS_SESSION_ID`. It is started without a shell, in a group of its own: the
    group is killed when the program has ended, takes too long or writes too much.

    Args:
        command: the program and its arguments.
        timeout_s: wall-clock seconds.
        failed: exit codes that mean that the session failed.
        folder: where it is started.
    """
    if isinstance(command, str) or not command:
        give_reason(f"command is {command!r}; a list of the program and its arguments is wanted")
        return None
    try:
        code, output = _run(session_id, end_state, list(command), timeout_s, folder)
    except (OSError, ValueError, TypeError, _Ended) as error:
        give_reason(f"command '{command[0]}': {error}")
        return None
    told = " ".join(output[-TOLD:].split())
    give_reason(f"command '{command[0]}' ended with {code}" + (f": {told}" if told else ""))
    if code == 0:
        return 1.0
    return 0.0 if code in failed else None


class _Ended(Exception):
    """Why the program was ended."""


def _run(
    session_id: str,
    end_state: dict[str, Any],
    command: list[str],
    timeout_s: float,
    folder: str | Path | None,
) -> tuple[int, str]:
    """The exit code, negative for a signal, and what was written."""
    deadline = time.monotonic() + timeout_s
    # A file and not a pipe: a program that reads nothing holds up nobody.
    with tempfile.TemporaryFile() as given:
        given.write(json.dumps(end_state).encode())
        given.seek(0)
        process = subprocess.Popen(
            command,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, SESSION_VARIABLE: session_id},
            start_new_session=True,
        )
    assert process.stdout is not None
    with process.stdout:
        try:
            output = _output(process, process.stdout, deadline)
        finally:
            # Before it is waited for: until then nobody else can have its number.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
    return code, output


def _output(process: subprocess.Popen[bytes], stream: IO[bytes], deadline: float) -> str:
    """What the program writes until it has ended; what it started may outlive it."""
    kept, total, closed = b"", 0, False
    os.set_blocking(stream.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise _Ended("it took too long and was ended")
            ended = _has_ended(process)
            if closed:
                time.sleep(min(0.005, left))
                chunk = None
            elif ended or selector.select(min(left, 0.05)):
                chunk = stream.read(65536)
                closed = chunk == b""
            else:
                continue
            total += len(chunk or b"")
            kept = (kept + (chunk or b""))[-4 * TOLD :]
            if total > MOST_OUTPUT:
                raise _Ended(f"it wrote more than {MOST_OUTPUT} bytes and was ended")
            if ended and not chunk:
                return kept.decode(errors="replace")


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has; its exit code is left to be waited for."""
    options = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, options) is not None
