# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The trivial verifier: every turn is a success."""

from __future__ import annotations

from typing import Any


def verifier(session_id: str, end_state: dict[str, Any]) -> bool:
    """What the sidecar asks for the outcome of a turn."""
    return True
