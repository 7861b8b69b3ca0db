# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules and cases for the tests of promotion, each field as a test reads it best."""

from __future__ import annotations

from typing import Any

from harness_ros.sidecar import Case, Rule

RULE = Rule(
    rule_id="r",
    text="Ask for the verdict of each place.",
    metric="tool_correctness",
    signatures=("breach:tool_correctness", "breach:grounding"),
)


def case(case_id: str, kind: str, before: Any, after: Any, **fields: Any) -> Case:
    """A case that counts; a number stands for `outcome_correct`."""
    return Case.model_validate(
        {
            "case_id": case_id,
            "kind": kind,
            "baseline_scores": scores(before),
            "replay_scores": None if after is None else scores(after),
            "exercised": True,
            "started": True,
            **fields,
        }
    )


def failure(case_id: str, before: Any, after: Any, **fields: Any) -> Case:
    return case(case_id, "failure", before, after, **fields)


def win(case_id: str, before: Any, after: Any, **fields: Any) -> Case:
    return case(case_id, "win", before, after, **fields)


def scores(of: Any) -> dict[str, float]:
    return of if isinstance(of, dict) else {"outcome_correct": of}
