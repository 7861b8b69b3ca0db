# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The live table of the demo."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from harness_ros.contract import ExitCode
from harness_ros.sim.demo.result import CallRecord

VERDICT_STYLES = {ExitCode.SUCCESS: "bold green", ExitCode.FAILURE: "bold red"}


def table(calls: Sequence[CallRecord], running: str = "") -> Table:
    """The calls so far, and the one that runs now."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True)
    made.add_column("#", justify="right", no_wrap=True)
    made.add_column("tool", no_wrap=True)
    made.add_column("arguments", ratio=3)
    made.add_column("backend says", no_wrap=True)
    made.add_column("verdict", no_wrap=True)
    made.add_column("evidence", ratio=5)
    made.add_column("truth", no_wrap=True)
    for call in calls:
        made.add_row(*_row(call))
    if running:
        made.add_row(str(len(calls) + 1), Text(running, style="dim"), "", "", Text("…", "dim"))
    return made


def _row(call: CallRecord) -> list[str | Text]:
    verdict = call.verdict
    word = verdict.status.name.lower()
    if verdict.exit_code is ExitCode.UNJUDGED:
        word = verdict.kind.value
    evidence = verdict.evidence[0] if verdict.evidence else verdict.failure_reason
    mark = "" if call.agree else "  ✗ disagrees"
    segments = f" ×{len(call.run_ids)}" if len(call.run_ids) > 1 else ""
    return [
        str(call.number),
        call.tool + segments,
        " → ".join(call.arguments.values()),
        Text("success", "green") if call.backend_success else Text("failure", "red"),
        Text(word, VERDICT_STYLES.get(verdict.exit_code, "bold yellow")),
        Text(evidence, "dim"),
        Text(
            ("holds" if call.true_success else "does not hold") + mark,
            "green" if call.true_success else "red",
        ),
    ]
