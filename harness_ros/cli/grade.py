# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`harness-ros grade`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness_ros.cli.bag_options import MessageFolders, Tools


def grade(
    bags: Annotated[
        list[Path],
        typer.Argument(help="rosbag2 folders, or .mcap and .db3 files.", metavar="BAG..."),
    ],
    config: Annotated[Path, typer.Option(help="The eval.yaml to judge by.")],
    out: Annotated[Path, typer.Option(help="Folder for results, summary and report.")],
    labels: Annotated[
        Path | None, typer.Option(help="CSV or JSON lines: run_id, label (success or failure).")
    ] = None,
    workers: Annotated[
        int, typer.Option(help="Processes on this machine; 0: one a processor.", min=0)
    ] = 1,
    ray: Annotated[
        str | None, typer.Option(help="Address of a Ray cluster, or `auto`.", metavar="ADDRESS")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep what is graded by these criteria already.")
    ] = False,
    junit: Annotated[Path | None, typer.Option(help="JUnit file for CI.")] = None,
    fail_under: Annotated[
        float | None,
        typer.Option(help="Exit code 1 where the success rate is lower.", min=0.0, max=1.0),
    ] = None,
    clips: Annotated[
        bool, typer.Option("--clips", help="A video of each run's last seconds, by camera.")
    ] = False,
    runs: Annotated[
        Path | None,
        typer.Option(help="CSV or JSON lines of runs, for bags without ToolRun messages."),
    ] = None,
    tool: Tools = None,
    namespace: Annotated[
        str, typer.Option(help="Of relative topics, where runs come from --runs or --tool.")
    ] = "/harness",
    msg_path: MessageFolders = None,
) -> None:
    """Grade recorded runs: verdicts, rates and a report, with the judges of the robot.

    Exit code 0, 1 where --fail-under is not reached, 2 where nothing could be graded.
    """
    from harness_ros.grading import forking

    if ray is None and forking.number_of(workers) > 1:
        forking.context()  # loads what workers need while this process does

    from harness_ros.grading.cli import grade_command
    from harness_ros.grading.options import GradeOptions

    options = GradeOptions(
        bags=tuple(bags),
        config=config,
        out=out,
        labels=labels,
        workers=workers,
        ray=ray,
        resume=resume,
        junit=junit,
        fail_under=fail_under,
        clips=clips,
        runs=runs,
        tools=tuple(tool or ()),
        namespace=namespace,
        definitions=tuple(msg_path or ()),
    )
    raise typer.Exit(grade_command(options))
