# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of the demo: live on a terminal, a line a call elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.live import Live
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


class Display:
    """Shows calls as they go on.

    Args:
        console: where to; what is not a terminal gets a line when a call has ended.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._calls: list[CallRecord] = []
        self._live = Live(table([]), console=console, refresh_per_second=4)

    def __enter__(self) -> Display:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def running(self, what: str) -> None:
        """A call is at this stage."""
        self._live.update(table(self._calls, what))

    def ended(self, call: CallRecord) -> None:
        """A call has its verdict."""
        self._calls.append(call)
        self._live.update(table(self._calls))
        if not self._console.is_terminal:
            number, tool, arguments, backend, verdict, evidence, truth = map(str, _row(call))
            self._console.print(
                f"{number:>2}  {tool} {arguments}: backend {backend}, verdict {verdict}, "
                f"truth {truth} ({evidence})",
                soft_wrap=True,
                highlight=False,
                markup=False,
            )
