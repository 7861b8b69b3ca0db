# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line `harness-ros`. Heavy imports wait until a command needs them."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

import harness_ros
from harness_ros.contract import HarnessError

app = typer.Typer(
    name="harness-ros",
    help="Verdicts from the world on what a robot's tools did.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"harness-ros {harness_ros.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Verdicts from the world on what a robot's tools did."""


@app.command()
def check(
    config: Annotated[Path, typer.Argument(help="An eval.yaml.")],
) -> None:
    """Check an eval.yaml and show its post-conditions."""
    from harness_ros.capture.decoding import Decoder
    from harness_ros.capture.observing import check_sources
    from harness_ros.config import load

    loaded = load(config)
    check_sources(loaded, Decoder())
    for name, tool in loaded.tools.items():
        segments = f", {tool.segments} segments" if tool.segments > 1 else ""
        print(f"{name} (judge {tool.judge}{segments}): {tool.post_condition}")
    print(f"criteria {loaded.criteria_hash}")


Bag = Annotated[Path | None, typer.Option(help="A rosbag2 folder, or an .mcap or .db3 file.")]
LedgerFile = Annotated[Path | None, typer.Option("--ledger", help="The ledger of an evaluator.")]
RunId = Annotated[str | None, typer.Option("--run", help="Id of a run, or how it begins.")]
Config = Annotated[Path | None, typer.Option(help="An eval.yaml.")]


@app.command()
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


@app.command()
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


@app.command()
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
    tool: Annotated[
        list[str] | None,
        typer.Option(help="ACTION=TOOL: goals of an action are runs.", metavar="ACTION=TOOL"),
    ] = None,
    namespace: Annotated[
        str, typer.Option(help="Of relative topics, where runs come from --runs or --tool.")
    ] = "/harness",
    msg_path: Annotated[
        list[Path] | None, typer.Option(help="Folder of .msg files that the bags lack.")
    ] = None,
) -> None:
    """Grade recorded runs: verdicts, rates and a report, with the judges of the robot.

    Exit code 0, 1 where --fail-under is not reached, 2 where nothing could be graded.
    """
    from harness_ros.grading.cli import grade_command

    raise typer.Exit(
        grade_command(
            bags=bags,
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
            tools=tool or [],
            namespace=namespace,
            definitions=msg_path or [],
        )
    )


@app.command()
def runs(
    bag: Annotated[Path, typer.Argument(help="A rosbag2 folder, or an .mcap or .db3 file.")],
) -> None:
    """List the runs of a bag: id, call, recorded verdict."""
    from harness_ros.explaining.command import explain_command

    explain_command(bag, None, None, None, None)


@app.command()
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
    _needs("record", "rclpy")
    from harness_ros.ros.nodes.recorder import record as record_topics

    raise typer.Exit(record_topics(config, out, namespace, use_sim_time))


@app.command()
def demo(
    seed: Annotated[int, typer.Option(help="Chooses the blocks' places and which calls fail.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for what the demo writes.")] = Path("demo_out"),
    speed: Annotated[
        float, typer.Option(help="Simulated seconds a second at most.", min=0.1, max=100.0)
    ] = 3.0,
) -> None:
    """Run the tabletop: tools that fail by physics, verdicts beside the truth.

    Exit code 0 when every verdict agrees with the physics, 1 when one does not, 2 when the demo
    could not run.
    """
    _needs("demo", "rclpy", "mujoco")
    from harness_ros.sim.demo import run_demo

    raise typer.Exit(run_demo(seed, out, speed))


def _needs(command: str, *modules: str) -> None:
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise HarnessError(
            f"{command} needs {' and '.join(missing)}; in a clone of the repository `make setup` "
            "sets up all that it needs, `source scripts/env.sh` gives it to a shell"
        )


def main() -> int:
    """Runs the command line; errors are one line for people.

    Returns:
        The exit code.
    """
    try:
        result = app(standalone_mode=False)
    except HarnessError as error:
        print(f"harness-ros: {error}", file=sys.stderr)
        return 2
    except typer.Abort:
        return 130
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except Exception as error:
        show = getattr(error, "show", None)
        if show is None:
            raise
        show()
        return 2
    return int(result or 0)
