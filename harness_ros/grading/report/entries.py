# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows as the script of the page reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from harness_ros.contract import Kind, Status
from harness_ros.grading.report.data import Label, ReportData, ReportError
from harness_ros.grading.report.wording import (
    Outcome,
    outcome,
    seconds,
    stamp,
    usage_words,
    visible,
)
from harness_ros.grading.row import GradedRun
from harness_ros.grading.trials import shown_call

SHORT_ID = 8
"""Letters of a run_id where it stands for the whole."""

Entry = dict[str, Any]


def entries(data: ReportData) -> Iterator[Entry]:
    """An entry for each row, in their order. Every text in it can be seen (see `visible`).

    Raises:
        ReportError: a label that is none, or a clip that is no relative path.
    """
    begins: dict[str, int] = {}
    for row in data.rows:
        begins[row.bag] = min(begins.get(row.bag, row.started_at_ns), row.started_at_ns)
    for index, row in enumerate(data.rows):
        label = _label(row, data.labels)
        yield {
            **_call(row, index),
            **_verdict(row),
            **_times(row, begins[row.bag]),
            "recorded": _recorded(row),
            "agrees": row.agrees_with_recorded,
            "label": label,
            "mistaken": _mistaken(row, label),
            "clips": [
                [visible(camera), clip_link(row.run_id, file)]
                for camera, file in data.clips(row).items()
            ],
        }


def said(status: Status, kind: Kind) -> str:
    """A verdict in words."""
    return f"{status.name.lower()}{f' ({kind.value})' if kind is not Kind.JUDGED else ''}"


def clip_link(run_id: str, file: str) -> str:
    """The address of a clip, as an attribute can hold it.

    Raises:
        ReportError: it does not lie beside the report.
    """
    if not file or PurePosixPath(file).is_absolute() or "\\" in file or "\0" in file:
        raise ReportError(
            f"run {run_id}: clip '{visible(file)}': a path relative to the folder of the report "
            "is wanted, with / between folders"
        )
    # The dot keeps `javascript:` and the like from being read as a scheme.
    return "./" + quote(file, safe="/", errors="surrogatepass")


def _call(row: GradedRun, index: int) -> Entry:
    return {
        "index": index,
        "bag": visible(row.bag),
        "run": visible(row.run_id),
        "short": visible(row.run_id[:SHORT_ID]),
        "callId": visible(row.call_id),
        "tool": visible(row.tool_name),
        "call": visible(shown_call(row)),
        "segment": row.segment,
        "postCondition": visible(row.post_condition),
    }


def _verdict(row: GradedRun) -> Entry:
    found = outcome(row.status, row.kind)
    return {
        "outcome": found.value,
        "symbol": found.symbol,
        "said": said(row.status, row.kind),
        "kind": row.kind.value,
        "reason": visible(row.failure_reason),
        "evidence": _lines(row.evidence),
        "judge": visible(row.judge),
        "criteria": visible(row.criteria_hash[:12]),
        "errorCard": visible(row.error_card),
        "confidence": None if row.confidence is None else f"{row.confidence:.2f}",
        "usage": usage_words(row.usage) or None,
        "observed": visible(row.observation_summary),
    }


def _times(row: GradedRun, begin_ns: int) -> Entry:
    ended = row.ended_at_ns
    seen = row.observed_at_ns or None
    return {
        "beganNs": row.started_at_ns - begin_ns,
        "began": seconds(row.started_at_ns - begin_ns),
        "tookNs": None if ended is None else ended - row.started_at_ns,
        "took": None if ended is None else seconds(ended - row.started_at_ns),
        "seenAfter": None if ended is None or seen is None else seconds(seen - ended),
        "startStamp": stamp(row.started_at_ns),
        "endStamp": None if ended is None else stamp(ended),
        "seenStamp": None if seen is None else stamp(seen),
    }


def _recorded(row: GradedRun) -> Entry | None:
    if row.recorded is None:
        return None
    recorded = row.recorded
    found = outcome(recorded.status, recorded.kind)
    return {
        "outcome": found.value,
        "symbol": found.symbol,
        "said": said(recorded.status, recorded.kind),
        "reason": visible(recorded.failure_reason),
        "evidence": _lines(recorded.evidence),
        "judge": visible(recorded.judge),
        "criteria": visible(recorded.criteria_hash[:12]),
        "otherCriteria": bool(recorded.criteria_hash)
        and recorded.criteria_hash != row.criteria_hash,
    }


def _lines(evidence: Sequence[str]) -> list[str]:
    return [visible(line) for line in evidence]


def _label(row: GradedRun, labels: Mapping[str, Label]) -> Label | None:
    label = labels.get(row.run_id)
    if label not in (None, "success", "failure"):
        raise ReportError(f"run {row.run_id}: label '{label}': 'success' or 'failure' is wanted")
    return label


def _mistaken(row: GradedRun, label: Label | None) -> str | None:
    found = outcome(row.status, row.kind)
    if label == "failure" and found is Outcome.SUCCESS:
        return "false success"
    if label == "success" and found is Outcome.FAILURE:
        return "false failure"
    return None
