# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What `harness-ros calibrate` is asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness_ros.bag.run_sources import ActionTool
from harness_ros.contract import HarnessError
from harness_ros.grading.work import Task


class CalibrationError(HarnessError):
    """What keeps a judge from being measured; the text says what would be right."""


@dataclass(frozen=True)
class CalibrateOptions:
    """The options of `harness-ros calibrate`, by their names there."""

    config: Path
    labels: Path
    judge: str
    out: Path
    """The card; its page is beside it, with the suffix .html."""
    bags: tuple[Path, ...] = ()
    runs: Path | None = None
    """A folder of `harness-ros grade`, a bag, or the ledger of an evaluator."""
    repeat: int = 1
    """How often the judge is asked about each run."""
    sweep_pixels: tuple[int, ...] = ()
    sweep_views: tuple[int, ...] = ()
    tools: tuple[str, ...] = ()
    """`ACTION=TOOL`, for bags without ToolRun messages."""
    namespace: str = "/harness"
    definitions: tuple[Path, ...] = ()

    @property
    def page(self) -> Path:
        """The page for people."""
        return self.out.with_suffix(".html")

    def task(self) -> Task:
        """How runs are found in a bag: as `harness-ros grade` finds them.

        Raises:
            RunFileError: one of the tools is written in another way.
        """
        return Task(
            config=self.config,
            out=self.out.parent,
            namespace=self.namespace,
            tools=tuple(ActionTool.parse(text) for text in self.tools),
            definitions=self.definitions,
            pictures=False,
        )


def numbers(option: str, text: str | None, least: int, most: int) -> tuple[int, ...]:
    """The numbers of an option such as `1,2,3`, each once.

    Raises:
        CalibrationError: one is no whole number, or none that is allowed.
    """
    found: dict[int, None] = {}
    for part in (text or "").split(",") if text is not None else ():
        word = part.strip().replace("_", "")
        if not (word.isascii() and word.isdigit() and least <= int(word) <= most):
            raise CalibrationError(
                f"{option} {text}: '{part.strip()}' is no whole number from {least} to {most}; "
                "several are separated by commas"
            )
        found[int(word)] = None
    return tuple(found)
