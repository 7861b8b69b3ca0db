# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""When a request is sent again, and how long to wait before."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from random import Random

FIRST_S = 0.5
LONGEST_S = 8.0
BUSY = frozenset({408, 409, 425, 429})
"""Beside 5xx: the request was right, and the endpoint could not answer it now."""
NEVER = frozenset({501, 505, 511})
"""The same again would fail again."""


def is_passing(status: int) -> bool:
    """Whether a request that failed with this HTTP status may succeed later."""
    return status in BUSY or (status >= 500 and status not in NEVER)


def backoff_s(failures: int, random: Random) -> float:
    """Seconds to wait after so many failures: doubled each time, less up to half by chance.

    What fails for many at once must not come back at once.
    """
    return min(LONGEST_S, FIRST_S * 2.0 ** min(failures - 1, 30)) * random.uniform(0.5, 1.0)


def retry_after_s(headers: Mapping[str, str], now_s: float | None = None) -> float | None:
    """Seconds after which the endpoint wants to be asked again; None where it does not say.

    `Retry-After` holds seconds or a date (RFC 9110, 10.2.3); `retry-after-ms` is OpenAI's own.

    Args:
        headers: of the answer, with names that are found in any case.
        now_s: Unix time; now by default.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        then_s = parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return max(0.0, then_s - (time.time() if now_s is None else now_s))


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
