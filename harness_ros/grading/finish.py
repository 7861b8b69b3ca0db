# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is written once all runs are graded: summary.json, report.html, a JUnit file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness_ros.grading.command import Grading
from harness_ros.grading.junit import write_junit
from harness_ros.grading.kept_pictures import kept_checks, kept_views, view_folder
from harness_ros.grading.labels import Label
from harness_ros.grading.report import Label as Outcome
from harness_ros.grading.report import ReportData, write_report
from harness_ros.grading.report.writing import replaced
from harness_ros.grading.row import BagProblem
from harness_ros.grading.summary import Summary, summarize


def finish(
    grading: Grading,
    out: Path,
    title: str,
    labels: Mapping[str, Label] | None = None,
    junit: Path | None = None,
) -> Summary:
    """Writes all that a grading leaves beside results.jsonl.

    Raises:
        HarnessError: a file cannot be written.
    """
    problems = [*grading.problems, *_lost(grading)]
    summary = summarize(grading.rows, problems, labels, known=grading.known)
    replaced(out / "summary.json", [summary.to_json()])
    write_report(
        out / "report.html",
        ReportData(
            title=title,
            rows=grading.rows,
            problems=problems,
            summary=summary,
            views=lambda row: kept_views(view_folder(out, row)),
            annotated=lambda row: kept_checks(view_folder(out, row)),
            labels=_words(labels or {}),
            clips=lambda row: _clips(view_folder(out, row), out),
        ),
    )
    if junit is not None:
        write_junit(junit, grading.rows, problems)
    return summary


def _lost(grading: Grading) -> list[BagProblem]:
    """Runs that no row tells of, a problem each: a run never disappears."""
    return [
        BagProblem(bag=bag, problem=f"run {run_id} was not graded; --resume grades it")
        for bag, run_id in grading.ungraded
    ]


def _words(labels: Mapping[str, Label]) -> dict[str, Outcome]:
    return {
        run_id: "success" if label.success else "failure"
        for run_id, label in labels.items()
        if label.success is not None
    }


def _clips(folder: Path, out: Path) -> dict[str, str]:
    return {path.stem: path.relative_to(out).as_posix() for path in sorted(folder.glob("*.webm"))}
