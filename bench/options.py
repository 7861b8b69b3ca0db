# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What every benchmark is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TypeVar

Value = TypeVar("Value")


class Effort(str, Enum):
    """How long to measure."""

    FULL = "full"
    QUICK = "quick"
    SMOKE = "smoke"
    """Shows that everything runs; the figures mean nothing."""


@dataclass(frozen=True)
class Options:
    """What every benchmark is told."""

    folder: Path
    """For ledgers and logs, on a disk; empty at the start and removed at the end."""
    effort: Effort = Effort.FULL
    tell: Callable[[str], None] = lambda _: None
    """Is given what the benchmark does now."""

    def choose(self, full: Value, quick: Value, smoke: Value) -> Value:
        """The one that belongs to the effort."""
        return {Effort.FULL: full, Effort.QUICK: quick, Effort.SMOKE: smoke}[self.effort]
