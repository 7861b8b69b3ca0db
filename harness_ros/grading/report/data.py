# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a report is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from harness_ros.contract import HarnessError
from harness_ros.grading.row import BagProblem, GradedRun
from harness_ros.grading.summary import Summary

Label = Literal["success", "failure"]
"""What a person says of the outcome of a run."""


class ReportError(HarnessError):
    """A report that cannot be written."""


@dataclass(frozen=True)
class ReportView:
    """A picture of a run."""

    name: str
    """Of the camera."""
    jpeg: bytes = field(repr=False)
    """A JPEG file; it goes into the report as it is."""
    width: int
    """Pixels."""
    height: int
    caption: str = ""


def no_views(row: GradedRun) -> Sequence[ReportView]:
    """The views of a report without pictures."""
    return ()


def no_annotation(row: GradedRun) -> ReportView | None:
    """The annotated picture of a report without any."""
    return None


def no_clips(row: GradedRun) -> Mapping[str, str]:
    """The recordings of a report without any."""
    return {}


@dataclass(frozen=True)
class ReportData:
    """All that a report shows. The same data make the same bytes."""

    title: str
    rows: Sequence[GradedRun]
    problems: Sequence[BagProblem] = ()
    summary: Summary | Mapping[str, Any] = field(default_factory=dict)
    """As `summarize` makes it, also read from summary.json; any other values of JSON are shown in
    tables, and the rates at the head are those of the rows."""
    views: Callable[[GradedRun], Sequence[ReportView]] = no_views
    """Views of a row. Called once a row while the file is written, in the order of the rows, so
    that the pictures of one run at a time are in memory."""
    annotated: Callable[[GradedRun], ReportView | None] = no_annotation
    """The picture with what the checks saw; called as `views` is."""
    labels: Mapping[str, Label] = field(default_factory=dict)
    """What people say of runs, by run_id."""
    clips: Callable[[GradedRun], Mapping[str, str]] = no_clips
    """Recordings of a row by camera: paths relative to the folder of the report, with `/`."""
    subtitle: str = ""
    """A line under the title, such as when and by which file was graded."""
