# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What `harness-ros grade` is asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness_ros.bag.run_sources import ActionTool, RunFileError
from harness_ros.grading.work import Task


@dataclass(frozen=True)
class GradeOptions:
    """The options of `harness-ros grade`, by their names there."""

    bags: tuple[Path, ...]
    config: Path
    out: Path
    labels: Path | None = None
    workers: int = 1
    """0: one a processor."""
    ray: str | None = None
    """Address of a Ray cluster, or `auto`; `workers` is not looked at then."""
    resume: bool = False
    junit: Path | None = None
    fail_under: float | None = None
    clips: bool = False
    runs: Path | None = None
    tools: tuple[str, ...] = ()
    """`ACTION=TOOL`."""
    namespace: str = "/harness"
    definitions: tuple[Path, ...] = ()

    @property
    def alone(self) -> bool:
        """Whether this process does all the work."""
        return self.ray is None and self.workers == 1

    def task(self) -> Task:
        """What every piece of the work needs of them.

        Raises:
            RunFileError: one of the tools is written in another way, or there is a file too.
        """
        if self.runs is not None and self.tools:
            raise RunFileError("--runs and --tool: only one of them can say what the runs are")
        return Task(
            config=self.config,
            out=self.out,
            namespace=self.namespace,
            tools=tuple(ActionTool.parse(text) for text in self.tools),
            runs=self.runs,
            definitions=self.definitions,
            clips=self.clips,
        )
