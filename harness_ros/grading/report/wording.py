# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How a report says things: outcomes, numbers, and texts that somebody else wrote."""

from __future__ import annotations

import unicodedata
from enum import Enum

from harness_ros.contract import ExitCode, Kind, Status, Usage, exit_code

SECOND_NS = 1_000_000_000
_BIDI_CONTROLS = frozenset(
    chr(code) for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
)
_CONTROL_PICTURES, _DELETE = 0x2400, 0x7F


class Outcome(str, Enum):
    """What became of a run, as people filter for it."""

    SUCCESS = "success"
    FAILURE = "failure"
    UNJUDGED = "unjudged"
    PROCESS = "process"
    """A segment after which another one should run."""
    CANCELLED = "cancelled"

    @property
    def symbol(self) -> str:
        """One character, so that colour is not alone in saying it."""
        return {"success": "✓", "failure": "✗", "unjudged": "?", "process": "…"}.get(
            self.value, "–"
        )


def outcome(status: Status, kind: Kind) -> Outcome:
    """The outcome of a verdict."""
    if status is Status.PROCESS and kind is Kind.JUDGED:
        return Outcome.PROCESS
    return {
        ExitCode.SUCCESS: Outcome.SUCCESS,
        ExitCode.FAILURE: Outcome.FAILURE,
        ExitCode.UNJUDGED: Outcome.UNJUDGED,
        ExitCode.CANCELLED: Outcome.CANCELLED,
    }[exit_code(status, kind)]


def visible(text: str) -> str:
    """The text with what cannot be seen made visible, or it could pass for another text.

    Control characters become their pictures (U+2400 on), lone surrogates and controls of the
    direction of writing (Unicode TR 36, 3.2) their code points.
    """
    return "".join(map(_visible, text)) if not text.isascii() or not text.isprintable() else text


def _visible(char: str) -> str:
    code = ord(char)
    if char in "\n\t":
        return " "
    if code < 0x20:
        return chr(_CONTROL_PICTURES + code)
    if code == _DELETE:
        return "␡"
    if char in _BIDI_CONTROLS or unicodedata.category(char) in ("Cc", "Cs"):
        return f"‹U+{code:04X}›"
    return char


def grouped(number: int) -> str:
    """A count with narrow spaces between thousands."""
    return f"{number:,}".replace(",", "\u202f")


def percent(share: float) -> str:
    """A share in whole per cent, with a space that does not break."""
    return f"{100 * share:.0f}\u202f%"


def seconds(duration_ns: int) -> str:
    """A time: `0.42 s`, `12.3 s`, `2 min 05 s`, `1 h 02 min`."""
    sign, whole = "-" if duration_ns < 0 else "", abs(duration_ns)
    value = whole / SECOND_NS
    if value < 9.995:
        return f"{sign}{value:.2f} s"
    if value < 99.95:
        return f"{sign}{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{sign}{minutes} min {rest:02} s"
    return f"{sign}{minutes // 60} h {minutes % 60:02} min"


def stamp(stamp_ns: int) -> str:
    """A stamp in seconds, with all of its digits."""
    sign = "-" if stamp_ns < 0 else ""
    whole, rest = divmod(abs(stamp_ns), SECOND_NS)
    return f"{sign}{whole}.{rest:09} s"


def tokens(usage: Usage) -> str:
    """The tokens of requests to a model: `1 000 tokens in, 50 out`."""
    return f"{grouped(usage.input_tokens)} tokens in, {grouped(usage.output_tokens)} out"


def usage_words(usage: Usage) -> str:
    """What an answer took: `2 requests, 1 000 tokens in, 50 out, cost 0.011`; empty for nothing."""
    if usage == Usage():
        return ""
    requests = "1 request" if usage.calls == 1 else f"{grouped(usage.calls)} requests"
    cost = f", cost {usage.cost:.3g}" if usage.cost else ""
    return f"{requests}, {tokens(usage)}{cost}"
