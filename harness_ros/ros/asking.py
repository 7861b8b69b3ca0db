# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Asking the evaluator for a verdict, for the gateway and for planners alike."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.client import Client

from harness_ros import srv
from harness_ros.contract import HarnessError, Verdict
from harness_ros.ros import conversion
from harness_ros.ros.threads import done_event

ATTEMPT_S = 5.0
"""How long one request waits: what was sent to an evaluator that was killed is never answered."""
ANSWER_GRACE_S = 1.0
PAUSE_S = 0.1
"""Between two requests, for an evaluator that answers at once."""
UNKNOWN_S = 2.0
"""A run that an evaluator has not heard of for so long was never announced."""
POLL_S = 0.1
TOOL_GOES_ON = "the tool to end"
"""What the evaluator says (`Phase.ARMED`) that an open run waits for."""
LAST_WORD_S = 1.0
"""A tool that vanished may have said that it ended; the evaluator has heard of it by then."""


class NoVerdict(HarnessError):
    """There is no verdict within the time; the text says what the evaluator said last."""


class UnknownRun(NoVerdict):
    """The evaluator is there and has not heard of the run."""


def ask_verdict(
    client: Client,
    run_id: str,
    timeout_s: float,
    run_exists: bool,
    run_ended: bool = True,
    stop: Callable[[], bool] = lambda: False,
) -> Verdict:
    """The verdict of a run; blocks, so never call it in an executor's thread.

    Args:
        client: of the service `get_verdict`.
        timeout_s: seconds to wait for the verdict.
        run_exists: the caller knows that there is such a run: an evaluator that does not know it
            yet will hear of it.
        run_ended: the tool gave its result; else a run that waits for its tool's end is not waited
            for.
        stop: whether to wait no longer; asked again and again.

    Raises:
        UnknownRun: the evaluator does not know the run.
        NoVerdict: there is none in time.
    """
    deadline = time.monotonic() + timeout_s
    unknown_since: float | None = None
    heard = f"{client.srv_name} did not answer"
    attempt_s = ATTEMPT_S if run_ended else LAST_WORD_S
    while True:
        answer = _ask(client, run_id, max(0.0, min(deadline - time.monotonic(), attempt_s)), stop)
        now = time.monotonic()
        if answer is None:
            unknown_since = None
        elif answer.found:
            return _checked(answer.verdict, run_id)
        else:
            heard = answer.reason
            unknown_since = None if answer.open else unknown_since or now
            if answer.open and not run_ended and TOOL_GOES_ON in heard:
                raise NoVerdict(heard)
            if unknown_since is not None and (
                not run_exists or now >= deadline or now - unknown_since >= UNKNOWN_S
            ):
                raise UnknownRun(heard)
        if now >= deadline or stop():
            raise NoVerdict(f"no verdict within {timeout_s:g} s: {heard}")
        time.sleep(PAUSE_S)


def _ask(client: Client, run_id: str, timeout_s: float, stop: Callable[[], bool]) -> Any:
    """One request; None where nothing was answered."""
    if not client.wait_for_service(timeout_sec=timeout_s):
        return None
    future = client.call_async(srv.GetVerdict.Request(run_id=run_id, timeout_s=timeout_s))
    answered = done_event(future)
    deadline = time.monotonic() + timeout_s + ANSWER_GRACE_S
    while not answered.wait(POLL_S):
        if time.monotonic() >= deadline or stop():
            client.remove_pending_request(future)
            return None
    return future.result()


def _checked(message: Any, run_id: str) -> Verdict:
    try:
        verdict = conversion.verdict_from_message(message)
    except conversion.ConversionError as error:
        raise NoVerdict(
            f"the evaluator's verdict of run {run_id} cannot be read: {error}"
        ) from None
    if verdict.run_id != run_id:
        raise NoVerdict(f"asked for run {run_id}, the evaluator answered for {verdict.run_id!r}")
    return verdict
