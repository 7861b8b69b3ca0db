# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts beside what was said before: those recorded, and the labels of people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness_ros.contract import Kind, Record
from harness_ros.grading.labels import Label
from harness_ros.grading.rates import JudgeErrors
from harness_ros.grading.row import GradedRun, RecordedVerdict
from harness_ros.statistics import Rate, cohen_kappa, rate_of


class Said(Record):
    """One verdict of a run, in words."""

    status: str
    kind: Kind
    failure_reason: str
    evidence: tuple[str, ...]
    judge: str
    criteria_hash: str


class Disagreement(Record):
    """A run of which the judge now says something else than was recorded."""

    bag: str
    run_id: str
    tool_name: str
    segment: int
    recorded: Said
    now: Said


class RecordedAgreement(Record):
    """Verdicts beside those that were recorded, run by run; status and kind must be the same."""

    agreeing: Rate
    """Of the runs with a recorded verdict."""
    kappa: float | None
    """Cohen's, over status and kind; None where both are one and the same throughout."""
    unrecorded: int
    """Runs of whose verdict the bag knows nothing."""
    disagreements: tuple[Disagreement, ...]


class Mistake(Record):
    """A judged run whose label says the other thing."""

    bag: str
    run_id: str
    tool_name: str
    label: str
    verdict: Said


class Confusion(Record):
    """Judged runs beside their labels."""

    true_success: int
    false_success: int
    """Verdict success, label failure."""
    true_failure: int
    false_failure: int
    """Verdict failure, label success."""
    not_judged: int
    """Labelled runs without a judged outcome; in no rate."""
    false_success_rate: Rate
    """Of the runs labelled failure."""
    false_failure_rate: Rate
    """Of the runs labelled success."""
    success_precision: Rate
    """Label success, of the runs with verdict success."""
    kappa: float | None
    """Cohen's; None where verdicts and labels are one and the same throughout."""
    labelled_success: Rate
    """Label success, of all labelled runs, judged or not."""

    def errors(self, name: str) -> JudgeErrors:
        """The errors that these labels show; to correct the rates of other runs with."""
        return JudgeErrors(
            name=name,
            false_success=(self.false_success_rate.count, self.false_success_rate.of),
            false_failure=(self.false_failure_rate.count, self.false_failure_rate.of),
        )


class LabelComparison(Record):
    """Verdicts beside labels, run by run."""

    labelled: int
    unlabelled: int
    """Runs of which no label says anything."""
    unknown: tuple[str, ...]
    """run_ids of labels whose run is in no bag."""
    overall: Confusion
    by_tool: dict[str, Confusion]
    mistakes: tuple[Mistake, ...]


def compare_recorded(rows: Iterable[GradedRun], confidence: float) -> RecordedAgreement:
    """Distinct runs beside their recorded verdicts."""
    rows = list(rows)
    compared = [(row, row.recorded) for row in rows if row.recorded is not None]
    differing = [(row, then) for row, then in compared if not _agrees(row, then)]
    return RecordedAgreement(
        agreeing=rate_of(len(compared) - len(differing), len(compared), confidence),
        kappa=cohen_kappa(
            [(row.status, row.kind) for row, _ in compared],
            [(then.status, then.kind) for _, then in compared],
        ),
        unrecorded=len(rows) - len(compared),
        disagreements=tuple(
            Disagreement(
                bag=row.bag,
                run_id=row.run_id,
                tool_name=row.tool_name,
                segment=row.segment,
                recorded=_said(then),
                now=_said(row),
            )
            for row, then in differing
        ),
    )


def compare_labels(
    rows: Iterable[GradedRun], labels: Mapping[str, Label], confidence: float
) -> LabelComparison:
    """Distinct runs beside their labels."""
    rows = list(rows)
    said = {run_id: label.success for run_id, label in labels.items() if label.success is not None}
    pairs = [(row, said[row.run_id]) for row in rows if row.run_id in said]
    known = {row.run_id for row in rows}
    by_tool: dict[str, list[tuple[GradedRun, bool]]] = {row.tool_name: [] for row in rows}
    for row, label in pairs:
        by_tool[row.tool_name].append((row, label))
    return LabelComparison(
        labelled=len(pairs),
        unlabelled=len(rows) - len(pairs),
        unknown=tuple(sorted(labels.keys() - known)),
        overall=_confusion(pairs, confidence),
        by_tool={tool: _confusion(found, confidence) for tool, found in by_tool.items()},
        mistakes=tuple(
            Mistake(
                bag=row.bag,
                run_id=row.run_id,
                tool_name=row.tool_name,
                label="success" if label else "failure",
                verdict=_said(row),
            )
            for row, label in pairs
            if row.judged and _succeeded(row) is not label
        ),
    )


def _confusion(pairs: Sequence[tuple[GradedRun, bool]], confidence: float) -> Confusion:
    judged = [(_succeeded(row), label) for row, label in pairs if row.judged]
    true_success, false_success, false_failure, true_failure = (
        judged.count(pair) for pair in ((True, True), (True, False), (False, True), (False, False))
    )
    return Confusion(
        true_success=true_success,
        false_success=false_success,
        true_failure=true_failure,
        false_failure=false_failure,
        not_judged=len(pairs) - len(judged),
        false_success_rate=rate_of(false_success, false_success + true_failure, confidence),
        false_failure_rate=rate_of(false_failure, false_failure + true_success, confidence),
        success_precision=rate_of(true_success, true_success + false_success, confidence),
        kappa=cohen_kappa([verdict for verdict, _ in judged], [label for _, label in judged]),
        labelled_success=rate_of(sum(label for _, label in pairs), len(pairs), confidence),
    )


def _agrees(row: GradedRun, then: RecordedVerdict) -> bool:
    if row.agrees_with_recorded is None:
        return (row.status, row.kind) == (then.status, then.kind)
    return row.agrees_with_recorded


def _succeeded(row: GradedRun) -> bool:
    return row.exit_code == 0


def _said(verdict: GradedRun | RecordedVerdict) -> Said:
    return Said(
        status=verdict.status.name.lower(),
        kind=verdict.kind,
        failure_reason=verdict.failure_reason,
        evidence=verdict.evidence,
        judge=verdict.judge,
        criteria_hash=verdict.criteria_hash,
    )
