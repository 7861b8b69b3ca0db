# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From graded runs to trials: one call each, with the outcome of its last segment."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from harness_ros.contract import ExitCode
from harness_ros.grading.row import GradedRun


@dataclass(frozen=True)
class Trial:
    """A call of a tool; the unit of every rate of success."""

    runs: tuple[GradedRun, ...]
    """Its segments, in order."""

    @property
    def last(self) -> GradedRun:
        """The run whose verdict is the outcome."""
        return self.runs[-1]

    @property
    def judged(self) -> bool:
        """Whether somebody saw the outcome."""
        return self.last.judged

    @property
    def success(self) -> bool:
        """Whether the outcome is a success."""
        return self.last.exit_code is ExitCode.SUCCESS


def distinct(rows: Iterable[GradedRun]) -> tuple[list[GradedRun], list[str]]:
    """One row for each run_id, and the run_ids that several rows have.

    Two recorders may have recorded one run; a run_id is unique for ever (ToolRun.msg). The row
    that is judged is kept, then that of the bag whose name comes first.

    Returns:
        Rows and run_ids, in an order that does not depend on that of `rows`.
    """
    by_id: dict[str, list[GradedRun]] = defaultdict(list)
    for row in rows:
        by_id[row.run_id].append(row)
    kept = [
        same[0] if len(same) == 1 else min(same, key=lambda row: (not row.judged, row.line()))
        for same in by_id.values()
    ]
    kept.sort(key=lambda row: (row.started_at_ns, row.run_id))
    return kept, sorted(run_id for run_id, same in by_id.items() if len(same) > 1)


def trials_of(rows: Iterable[GradedRun]) -> list[Trial]:
    """The calls of runs that are distinct, in the order in which they began.

    A run without call_id is a call of its own.
    """
    by_call: dict[tuple[bool, str], list[GradedRun]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row.started_at_ns, row.run_id)):
        by_call[bool(row.call_id), row.call_id or row.run_id].append(row)
    return [
        Trial(tuple(sorted(runs, key=lambda row: (row.segment, row.started_at_ns, row.run_id))))
        for runs in by_call.values()
    ]


def shown_call(row: GradedRun) -> str:
    """`tool(name=value, ...)`, with the arguments in the order of their names."""
    values = (f"{name}={_shown(row.arguments[name])}" for name in sorted(row.arguments))
    return f"{row.tool_name}({', '.join(values)})"


def _shown(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def default_task(row: GradedRun) -> str:
    """Tool and arguments: calls that have both in common are trials of one task."""
    return f"{row.tool_name} {json.dumps(row.arguments, ensure_ascii=False, sort_keys=True)}"
