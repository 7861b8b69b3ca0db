# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rates of errors in words: they are small, so with a decimal."""

from __future__ import annotations

from harness_ros.statistics import Rate


def fine(share: float | None) -> str:
    """A share in per cent: `3.3 %`, with a space that does not break."""
    return "–" if share is None else f"{100 * share:.1f}\u202f%"


def spread(rate: Rate) -> str:
    """The interval of a rate: `0.9 to 11.2 %`."""
    if rate.low is None or rate.high is None:
        return ""
    return f"{100 * rate.low:.1f} to {fine(rate.high)}"
