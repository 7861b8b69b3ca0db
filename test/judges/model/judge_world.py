# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What model judges are asked in tests, and with which key."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from harness_ros.contract import EvaluationRequest, Observation, Signal, View

KEY = "sk-test-0123456789-abcdefghijkl"
KEY_VARIABLE = "HARNESS_TEST_KEY"


def request_of(post_condition: str = "The cube lies in the tray.") -> EvaluationRequest:
    """A question about one small view and a signal."""
    pixels = np.arange(24 * 32 * 3, dtype=np.uint32).astype(np.uint8)
    view = View(
        name="tray",
        stamp_ns=2,
        frame_id="tray",
        height=24,
        width=32,
        encoding="rgb8",
        step=96,
        is_bigendian=False,
        data=pixels.tobytes(),
        topic="/tray/image_raw",
    )
    observation = Observation(
        run_id="run-1",
        captured_at_ns=2,
        views=(view,),
        signals=(Signal(name="gripper_width", value=0.04, unit="m", stamp_ns=2),),
    )
    return EvaluationRequest(post_condition=post_condition, criterion="", observation=observation)


def together(jobs: int, job: Callable[[int], Any]) -> list[Any]:
    """What a job returns, called that often at the same time."""
    results: list[Any] = [None] * jobs
    gate = threading.Barrier(jobs)

    def run(number: int) -> None:
        gate.wait()
        results[number] = job(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
