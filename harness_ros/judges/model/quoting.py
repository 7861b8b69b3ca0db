# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Text that comes from outside of the instruction, as JSON strings that it cannot break out of.

Letters of every script stay as they are. Escaped is what could end the quotes or hide from a
reader: quotation marks of any kind, line ends, control and format characters (the bidirectional
overrides and the invisible tags among them), variation selectors, and what is no character at all.
"""

from __future__ import annotations

import json
import unicodedata

NAME_LENGTH = 200
"""Characters that are kept of a name."""

_ESCAPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""General categories of Unicode."""


def quoted(text: str, most: int | None = None) -> str:
    """The text as a JSON string, on one line.

    Args:
        most: characters that are kept; behind the quotes of a longer text stands that it was cut.
    """
    kept = text if most is None else text[:most]
    escaped = "".join(
        char if char.isascii() or not _treacherous(char) else json.dumps(char)[1:-1]
        for char in json.dumps(kept, ensure_ascii=False)
    ).replace("\x7f", "\\u007f")
    return escaped if len(kept) == len(text) else f"{escaped} (cut; {len(text)} characters)"


def _treacherous(char: str) -> bool:
    if unicodedata.category(char) in _ESCAPED:
        return True
    name = unicodedata.name(char, "")
    # A single one is the apostrophe of many languages, and ends nothing here.
    is_quote = "QUOTATION MARK" in name and "SINGLE" not in name
    return is_quote or "VARIATION SELECTOR" in name
