# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Graded runs for tests, made of a few letters."""

from __future__ import annotations

from typing import Any

from harness_ros.contract import Kind, Status
from harness_ros.grading.row import GradedRun, RecordedVerdict

SECOND = 1_000_000_000
VERDICTS = {
    "S": (Status.SUCCESS, Kind.JUDGED, ""),
    "F": (Status.FAILURE, Kind.JUDGED, "not held"),
    "P": (Status.PROCESS, Kind.JUDGED, ""),
    "B": (Status.FAILURE, Kind.SEGMENT_BUDGET_EXHAUSTED, "still in process"),
    "i": (Status.FAILURE, Kind.INCONCLUSIVE, "marker 3 is not seen"),
    "o": (Status.FAILURE, Kind.OBSERVATION_UNAVAILABLE, "no frame of camera top"),
    "c": (Status.FAILURE, Kind.CANCELLED, "cancelled"),
}


def graded(verdict: str, run_id: str, /, recorded: str = "", **fields: Any) -> GradedRun:
    """A run with the verdict of a letter, and recorded with another's."""
    status, kind, reason = VERDICTS[verdict]
    then = None
    if recorded:
        old = VERDICTS[recorded]
        then = RecordedVerdict(
            status=old[0],
            kind=old[1],
            failure_reason=old[2],
            evidence=("as it was seen then",),
            judge="deterministic 1",
            criteria_hash="0",
        )
    started = fields.get("started_at_ns", 100 * SECOND)
    given = {
        "bag": "bags/evening",
        "run_id": run_id,
        "call_id": run_id,
        "tool_name": "pick",
        "arguments": {"target": "cup"},
        "segment": 1,
        "started_at_ns": started,
        "ended_at_ns": started + 2 * SECOND,
        "recorded_at_ns": started + 2 * SECOND,
        "status": status,
        "kind": kind,
        "failure_reason": reason,
        "evidence": (f"evidence of {run_id}",),
        "judge": "deterministic 2",
        "criteria_hash": "1",
        "post_condition": "The cup is held.",
        "observed_at_ns": started + 3 * SECOND,
        "observation_summary": "",
        "recorded": then,
        "agrees_with_recorded": None if then is None else (status, kind) == old[:2],
    }
    return GradedRun.model_validate({**given, **fields})


def evening(verdicts: str, prefix: str = "r", **fields: Any) -> list[GradedRun]:
    """One call with one run for each letter, a minute apart."""
    return [
        graded(
            letter,
            f"{prefix}{number}",
            **{"started_at_ns": (100 + 60 * number) * SECOND, **fields},
        )
        for number, letter in enumerate(verdicts)
    ]
