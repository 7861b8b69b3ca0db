# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`harness-ros calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness_ros.cli.bag_options import MessageFolders, Tools


def calibrate(
    config: Annotated[Path, typer.Option(help="The eval.yaml that has the judge.")],
    labels: Annotated[
        Path, typer.Option(help="CSV or JSON lines: run_id, label (success or failure).")
    ],
    judge: Annotated[str, typer.Option(help="Key under `judges`.", metavar="NAME")],
    out: Annotated[Path, typer.Option(help="The card, a .json file; its page is beside it.")],
    bag: Annotated[
        list[Path] | None,
        typer.Option(help="A rosbag2 folder, or an .mcap or .db3 file; may be given repeatedly."),
    ] = None,
    runs: Annotated[
        Path | None,
        typer.Option(help="Folder of `harness-ros grade`, a bag, or the ledger of an evaluator."),
    ] = None,
    repeat: Annotated[
        int, typer.Option(help="Ask about each run so often, and say how far answers agree.", min=1)
    ] = 1,
    sweep_pixels: Annotated[
        str | None,
        typer.Option(help="Also with these pixel budgets, such as 200000,800000.", metavar="N,..."),
    ] = None,
    sweep_views: Annotated[
        str | None, typer.Option(help="Also with so many views, such as 1,2,3.", metavar="N,...")
    ] = None,
    tool: Tools = None,
    namespace: Annotated[
        str, typer.Option(help="Of relative topics, where runs come from --tool.")
    ] = "/harness",
    msg_path: MessageFolders = None,
) -> None:
    """Measure how often a judge is wrong, on labelled runs, and write its error card."""
    from harness_ros.calibration.command import calibrate_command
    from harness_ros.calibration.options import CalibrateOptions, numbers

    options = CalibrateOptions(
        config=config,
        labels=labels,
        judge=judge,
        out=out,
        bags=tuple(bag or ()),
        runs=runs,
        repeat=repeat,
        sweep_pixels=numbers("--sweep-pixels", sweep_pixels, 4_096, 16_777_216),
        sweep_views=numbers("--sweep-views", sweep_views, 1, 16),
        tools=tuple(tool or ()),
        namespace=namespace,
        definitions=tuple(msg_path or ()),
    )
    raise typer.Exit(calibrate_command(options))
