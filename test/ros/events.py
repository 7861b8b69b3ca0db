# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Waiting for what a test wants to see."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def until(condition: Callable[[], Any], timeout_s: float = 10.0) -> bool:
    """Waits for a condition; whether it came to hold in time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
