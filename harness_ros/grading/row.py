# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""GradedRun: one line of results.jsonl."""

from __future__ import annotations

import json

from pydantic import Field

from harness_ros.contract import Arguments, ExitCode, Kind, Record, Status, Usage, exit_code


class RecordedVerdict(Record):
    """What was said of the run when it was recorded."""

    status: Status
    kind: Kind
    failure_reason: str
    evidence: tuple[str, ...]
    judge: str
    criteria_hash: str


class GradedRun(Record):
    """A run of a bag and what the judge says of it now.

    The same bag, configuration and judge give the same bytes, so nothing here depends on when,
    where or by how many workers it was graded.
    """

    bag: str
    """Path of the bag as it was given."""
    run_id: str
    call_id: str
    tool_name: str
    arguments: Arguments
    segment: int
    started_at_ns: int
    """Stamps on the clock of the message headers."""
    ended_at_ns: int | None
    """None where the bag ends before the run does."""
    recorded_at_ns: int
    """When the recorder received the end of the run, or its start where there is no end."""
    status: Status
    kind: Kind
    failure_reason: str
    evidence: tuple[str, ...]
    judge: str
    criteria_hash: str
    post_condition: str
    """Filled; empty where the run's arguments are not allowed or its tool is unknown."""
    observed_at_ns: int
    """Stamp of the youngest view or signal; 0 when there was no Observation."""
    observation_summary: str
    recorded: RecordedVerdict | None = None
    """None where the bag has no verdict of this run."""
    agrees_with_recorded: bool | None = None
    """Whether status and kind are those recorded; None where nothing was recorded."""
    error_card: str = ""
    """Id of the judge's error card, `uncalibrated`, or `stale: ` and why; empty where no judge was
    asked."""
    confidence: float | None = None
    """How sure the judge is of its status, 0 to 1; None where it does not say."""
    usage: Usage = Usage()
    """What the judge's answer took; all 0 for judges of which nothing is counted."""

    @property
    def exit_code(self) -> ExitCode:
        """The exit code that a call would have had with this as its last verdict."""
        return exit_code(self.status, self.kind)

    @property
    def judged(self) -> bool:
        """Whether somebody saw the outcome; rates are over judged runs."""
        return self.exit_code in (ExitCode.SUCCESS, ExitCode.FAILURE)

    def line(self) -> str:
        """The line in results.jsonl, without its end: JSON with sorted keys, status by name."""
        fields = self.model_dump(mode="json")
        fields["status"] = self.status.name.lower()
        if self.recorded is not None:
            fields["recorded"]["status"] = self.recorded.status.name.lower()
        return json.dumps(fields, sort_keys=True, ensure_ascii=False)


class BagProblem(Record):
    """Something of a bag that could not be read, graded or found; the rest of it was graded."""

    bag: str
    problem: str = Field(min_length=1)
    fatal: bool = False
    """Nothing of the bag was graded."""


def parse_line(line: str) -> GradedRun:
    """The run of a line of results.jsonl.

    Raises:
        pydantic.ValidationError: the line holds no graded run.
    """
    fields = json.loads(line)
    for holder in (fields, fields.get("recorded") or {}):
        if isinstance(holder.get("status"), str):
            holder["status"] = Status[holder["status"].upper()]
    return GradedRun.model_validate(fields)
