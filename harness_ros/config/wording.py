# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How errors name keys and values."""

from __future__ import annotations

from typing import Any


def dotted(location: tuple[int | str, ...]) -> str:
    """A location of pydantic as it would be written: `tools.pick.cameras[0]`."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".") or "(top)"


def short(value: Any) -> str:
    """A value as Python writes it, cut to a length that fits a line."""
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."
