# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Scores, times and outcomes of rules in words."""

from __future__ import annotations

from harness_ros.sidecar.promotion.records import Decision


def score(value: float | None) -> str:
    """A score: `0.85`; a dash where there is none."""
    return "–" if value is None else f"{value:.2f}"


def signed(value: float | None) -> str:
    """A gain or loss: `+0.25`, `−0.10`, `0.00`."""
    if value is None:
        return "–"
    words = f"{abs(value):.2f}"
    if words == "0.00":
        return words
    return f"{'+' if value > 0 else chr(0x2212)}{words}"


def moment(at: str) -> str:
    """A time of the store, to the second: `2026-05-04 09:30:12 UTC`."""
    date, _, time = at.partition("T")
    if not time:
        return at or "–"
    return f"{date} {time[:8]} UTC"


def outcome_words(decision: Decision) -> str:
    """`promote`, `retire`, or `pending (below margin)`."""
    if decision.pending_reason is None:
        return decision.outcome
    return f"{decision.outcome} ({decision.pending_reason.value.replace('_', ' ')})"
