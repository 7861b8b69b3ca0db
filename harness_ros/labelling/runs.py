# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""RunToLabel and Shown: a run as the page of labels knows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_ros.contract import Arguments, HarnessError, Kind, Status
from harness_ros.grading.report import ReportView


class LabellingError(HarnessError):
    """Runs that cannot be labelled; the text says what would be right."""


@dataclass(frozen=True)
class Said:
    """What a judge said of a run; the page does not show it before the run is labelled."""

    status: Status
    kind: Kind
    reason: str
    evidence: Sequence[str]
    judge: str


@dataclass(frozen=True)
class RunToLabel:
    """A run that somebody can look at, because there is an Observation."""

    run_id: str
    tool: str
    arguments: Arguments
    segment: int
    post_condition: str
    """Filled: what the label is about."""
    said: Said | None
    """None where no verdict is known."""


@dataclass(frozen=True)
class Shown:
    """What was seen after a run."""

    pictures: Sequence[ReportView]
    summary: str
    """Of the Observation: signals, distances and when they were taken."""

    @property
    def measured(self) -> list[str]:
        """Signals and distances, such as `width 0.05 m`; what has another form is left whole."""
        return [
            item
            for part in self.summary.split("; ")
            for item in _measured(part)
            if item and item != "none"
        ]


def _measured(part: str) -> list[str]:
    if part.startswith("views "):
        return []
    if part.startswith("signals "):
        return part.removeprefix("signals ").split(", ")
    taken = part.split(", spread ")[0]
    return [f"seen {taken}" if taken.endswith(" after the end") else taken]
