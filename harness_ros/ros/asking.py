# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Asking the evaluator for a verdict, for the gateway and for planners alike."""

from __future__ import annotations

import time

from rclpy.client import Client

from harness_ros import srv
from harness_ros.contract import HarnessError, Verdict
from harness_ros.ros import conversion
from harness_ros.ros.threads import wait

ATTEMPT_S = 5.0
"""How long one request waits: what was sent to an evaluator that was killed is never answered."""
ANSWER_GRACE_S = 1.0


class NoVerdict(HarnessError):
    """There is no verdict within the time; the text says what the evaluator said last."""


def ask_verdict(client: Client, run_id: str, timeout_s: float, run_exists: bool) -> Verdict:
    """The verdict of a run; blocks, so never call it in an executor's thread.

    Args:
        client: of the service `get_verdict`.
        timeout_s: seconds to wait for the verdict.
        run_exists: the caller knows that there is such a run: an evaluator that does not know it
            yet will hear of it.

    Raises:
        NoVerdict: there is none in time, or the run is unknown.
    """
    deadline = time.monotonic() + timeout_s
    heard = f"{client.srv_name} did not answer"
    while True:
        left_s = max(0.0, deadline - time.monotonic())
        if client.wait_for_service(timeout_sec=min(left_s, ATTEMPT_S)):
            attempt_s = min(left_s, ATTEMPT_S)
            future = client.call_async(srv.GetVerdict.Request(run_id=run_id, timeout_s=attempt_s))
            if not wait(future, attempt_s + ANSWER_GRACE_S):
                client.remove_pending_request(future)
            elif future.result().found:
                return conversion.verdict_from_message(future.result().verdict)
            else:
                answer = future.result()
                heard = answer.reason
                if not answer.open and not run_exists:
                    raise NoVerdict(heard)
        if time.monotonic() >= deadline:
            raise NoVerdict(f"no verdict within {timeout_s:g} s: {heard}")
