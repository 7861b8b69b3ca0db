# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`harness-ros demo`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from harness_ros.cli.needs import needs

SPEED = 3.0


class Judges(str, Enum):
    """Who judges in the demo."""

    DETERMINISTIC = "deterministic"
    MODEL = "model"


def demo(
    judge: Annotated[
        Judges,
        typer.Option(
            help="`model`: a recording of the demo with recorded answers, which the test server "
            "wrote and no model; for a model of your own see --config."
        ),
    ] = Judges.DETERMINISTIC,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Chooses the blocks' places and which calls fail; 0 by default.", metavar="INTEGER"
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for what the demo writes.")] = Path("demo_out"),
    speed: Annotated[
        float | None,
        typer.Option(
            help=f"Simulated seconds a second at most; {SPEED:g} by default.", min=0.1, max=100.0
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            help="An eval.yaml for the live demo, such as a copy of config/tabletop.yaml whose "
            "tools are judged by your model."
        ),
    ] = None,
) -> None:
    """Run the tabletop: tools that fail by physics, verdicts beside the truth.

    Exit code 0 when every verdict agrees with the physics, 1 when one does not, 2 when the demo
    could not run.
    """
    if judge is Judges.MODEL:
        _of_the_live_demo(seed=seed, speed=speed, config=config)
        from harness_ros.sim.demo.recorded import run_recorded_demo

        raise typer.Exit(run_recorded_demo(out))
    needs("demo", "rclpy", "mujoco")
    from harness_ros.sim.demo.runner import run_demo

    raise typer.Exit(run_demo(seed or 0, out, SPEED if speed is None else speed, config))


def _of_the_live_demo(**options: object) -> None:
    """Ends a demo of the recording that is given options of the live one.

    Raises:
        HarnessError: the text names one.
    """
    given = [name for name, value in options.items() if value is not None]
    if given:
        from harness_ros.contract import HarnessError

        hint = "; with --config alone the live demo asks its judges" if "config" in given else ""
        raise HarnessError(
            f"--{given[0]} is for the live demo, and --judge model shows a recording{hint}"
        )
