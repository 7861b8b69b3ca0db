# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`harness-ros runs`, `explain` and `reference`: recorded runs, looked at again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Bag = Annotated[Path | None, typer.Option(help="A rosbag2 folder, or an .mcap or .db3 file.")]
LedgerFile = Annotated[Path | None, typer.Option("--ledger", help="The ledger of an evaluator.")]
RunId = Annotated[str | None, typer.Option("--run", help="Id of a run, or how it begins.")]
Config = Annotated[Path | None, typer.Option(help="An eval.yaml.")]


def explain(
    bag: Bag = None,
    ledger: LedgerFile = None,
    run: RunId = None,
    config: Config = None,
    out: Annotated[
        Path | None, typer.Option(help="The picture (PNG); explain_<run>.png by default.")
    ] = None,
) -> None:
    """Judge a recorded run by an eval.yaml as it is now, and draw what its checks see.

    Without --run the runs are listed.
    """
    from harness_ros.explaining.command import explain_command

    explain_command(bag, ledger, run, config, out)


def reference(
    run: Annotated[str, typer.Option("--run", help="Id of a run, or how it begins.")],
    view: Annotated[str, typer.Option(help="Name of the view: a key under `cameras`.")],
    out: Annotated[Path, typer.Option(help="The picture: .png or .jpg.")],
    bag: Bag = None,
    ledger: LedgerFile = None,
    config: Config = None,
    region: Annotated[
        str, typer.Option(help="x_min,y_min,x_max,y_max in fractions of width and height.")
    ] = "0,0,1,1",
) -> None:
    """Store a picture for the checks `template` and `changed` from a recorded run."""
    from harness_ros.explaining.command import reference_command

    reference_command(bag, ledger, run, config, view, out, region)


def runs(
    bag: Annotated[Path, typer.Argument(help="A rosbag2 folder, or an .mcap or .db3 file.")],
) -> None:
    """List the runs of a bag: id, call, recorded verdict."""
    from harness_ros.explaining.command import explain_command

    explain_command(bag, None, None, None, None)
