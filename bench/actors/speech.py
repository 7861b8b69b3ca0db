# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How an actor speaks with its benchmark."""

from __future__ import annotations

import json
import sys
from typing import Any


def say(**words: Any) -> None:
    """Tells the benchmark something."""
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def hear() -> dict[str, Any] | None:
    """Waits for the next order; None when the benchmark is gone."""
    line = sys.stdin.readline()
    order: dict[str, Any] | None = json.loads(line) if line else None
    return order
