# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`harness-ros record`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness_ros.cli.needs import needs


def record(
    config: Annotated[Path, typer.Option(help="The eval.yaml that names cameras and signals.")],
    out: Annotated[Path, typer.Option(help="Folder of the bag; must not exist.")],
    namespace: Annotated[
        str, typer.Option(help="Of relative topics, runs and verdicts.")
    ] = "/harness",
    use_sim_time: Annotated[
        bool, typer.Option("--use-sim-time", help="Take the time from /clock.")
    ] = False,
) -> None:
    """Record what grading needs into an MCAP bag, until Ctrl-C."""
    needs("record", "rclpy")
    from harness_ros.ros.nodes.recorder import record as record_topics

    raise typer.Exit(record_topics(config, out, namespace, use_sim_time))
