# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the demo found: one record a call, and the summary of all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from harness_ros.contract import ExitCode, HarnessError, Record, Status, Verdict


class TruthError(HarnessError):
    """A run whose truth the tabletop did not write."""


class PlayedCall(Record):
    """A call, what its backend believed of it, and what really happened."""

    number: int
    """Counts from 1."""
    tool: str
    arguments: dict[str, str]
    run_ids: tuple[str, ...] = Field(min_length=1)
    backend_success: bool
    true_success: bool
    """The post-condition holds in the physics when the call ended."""
    fault: str
    """What the simulation did to the call; empty for nothing."""


class CallRecord(PlayedCall):
    """A call, and what was said of it."""

    verdict: Verdict

    @property
    def judged_success(self) -> bool:
        """Whether the final verdict is a success."""
        return self.verdict.status is Status.SUCCESS

    @property
    def agree(self) -> bool:
        """Whether somebody judged the call, and as it is."""
        judged = self.verdict.exit_code in (ExitCode.SUCCESS, ExitCode.FAILURE)
        return judged and self.judged_success == self.true_success


def truth_of(path: Path, run_ids: Sequence[str]) -> dict[str, Any]:
    """The tabletop's line on the last of these runs.

    Raises:
        TruthError: there is none.
    """
    if run_ids and path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            entry: dict[str, Any] = json.loads(line)
            if entry["run_id"] == run_ids[-1]:
                return entry
    raise TruthError(f"{path} has no line on run {run_ids[-1] if run_ids else '(none)'}")


def summary(
    calls: Sequence[CallRecord],
    verdicts: Sequence[Verdict],
    scene_updates: int,
    wall_s: float,
    seed: int,
) -> dict[str, Any]:
    """The content of summary.json."""
    kinds = Counter(verdict.kind.value or "judged" for verdict in verdicts)
    return {
        "calls": len(calls),
        "runs": sum(len(call.run_ids) for call in calls),
        "verdicts": len(verdicts),
        "verdicts_by_status": dict(Counter(verdict.status.name.lower() for verdict in verdicts)),
        "verdicts_by_kind": dict(kinds),
        "backend_success": sum(call.backend_success for call in calls),
        "judged_success": sum(call.judged_success for call in calls),
        "true_success": sum(call.true_success for call in calls),
        "agree": sum(call.agree for call in calls),
        "false_success": sum(call.judged_success and not call.true_success for call in calls),
        "false_failure": sum(call.true_success and not call.judged_success for call in calls),
        "backend_false_success": sum(
            call.backend_success and not call.true_success for call in calls
        ),
        "scene_updates": scene_updates,
        "wall_s": round(wall_s, 1),
        "seed": seed,
    }
