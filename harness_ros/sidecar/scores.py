# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a verifier's answer means as a score."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

SHOWN = 200
"""Characters of an answer, in the words about it."""


def score_of(answer: Any) -> tuple[float | None, str]:
    """The score that an answer gives, and what is wrong with the answer.

    Returns:
        The score, 0 to 1, or None; and words about the answer, empty where it is as agreed. A
        number outside of 0 to 1 is clamped and has words too.
    """
    if answer is None:
        return None, ""
    if hasattr(type(answer), "item") and getattr(answer, "shape", None) == ():
        # A scalar of NumPy; its booleans are no bool.
        answer = answer.item()
    if isinstance(answer, bool):
        return float(answer), ""
    if not isinstance(answer, Real):
        return None, f"it answered {shown(answer)}; a number from 0 to 1, a bool or None is wanted"
    # Not math.isfinite at once: a long integer does not fit into a float.
    if isinstance(answer, float) and not math.isfinite(answer):
        return None, f"it answered {answer!r}, which is no number from 0 to 1"
    number: Any = answer
    clamped = 0.0 if number <= 0 else 1.0 if number >= 1 else float(number)
    if clamped != answer:
        return clamped, f"it answered {shown(answer)}, taken as {clamped:g}"
    return clamped, ""


def shown(value: Any) -> str:
    """A value as Python writes it, cut; whatever its class does when it is asked."""
    try:
        text = repr(value)
    except Exception as error:
        text = f"a {type(value).__name__} that cannot be shown ({type(error).__name__})"
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
