# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line `harness-ros`: a function for each command, in a module of its own.

A command imports what it needs in its function: `--help` and a mistake in a command line are to be
answered at once, and need nothing but typer.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

import harness_ros
from harness_ros.cli.calibrate import calibrate
from harness_ros.cli.check import check
from harness_ros.cli.demo import demo
from harness_ros.cli.grade import grade
from harness_ros.cli.label import label
from harness_ros.cli.record import record
from harness_ros.cli.recorded import explain, reference, runs
from harness_ros.cli.rules import rules

COMMANDS = (check, explain, reference, grade, label, calibrate, runs, record, demo)
"""Commands by the names of their functions, in the order in which the help lists them; `rules`,
which has commands of its own, follows."""

INTERRUPTED = 128 + signal.SIGINT
ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]

app = typer.Typer(
    name="harness-ros",
    help="Verdicts from the world on what a robot's tools did.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in COMMANDS:
    app.command()(command)
app.add_typer(rules, name="rules")


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


def main() -> int:
    """Runs the command line; errors are one line for people.

    Returns:
        The exit code.
    """
    try:
        with _cleaning_up():
            result = app(standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        result = INTERRUPTED
    except Exception as error:
        return _told(error)
    if result == INTERRUPTED:
        # Typer makes an exit code of Ctrl-C in a command.
        print("interrupted", file=sys.stderr)
    return int(result or 0)


@contextmanager
def _cleaning_up() -> Iterator[None]:
    """SIGTERM and SIGHUP end a command as Ctrl-C does: what is temporary is removed."""
    taken = []
    if threading.current_thread() is threading.main_thread():
        # Not those that are ignored, as `nohup` has it.
        taken = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _told(error: Exception) -> int:
    """Says what is wrong; an error that is not meant for people goes on."""
    from harness_ros.contract import HarnessError

    show = getattr(error, "show", None)
    if isinstance(error, HarnessError):
        print(f"harness-ros: {error}", file=sys.stderr)
    elif show is not None:
        show()
    elif isinstance(error, OSError) and error.strerror:
        named = f"{error.filename}: " if error.filename else ""
        print(f"harness-ros: {named}{error.strerror}", file=sys.stderr)
    else:
        raise error
    return 2
