# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs benchmarks: JSON lines, a table, an exit code."""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table

from bench import (
    armed,
    asking,
    gateway,
    grading,
    idle,
    latency,
    ledger,
    many_runs,
    question,
    start,
    verify_turn,
)
from bench.machine import machine
from bench.options import Effort, Options
from bench.record import Measurement, failed
from bench.stage import isolate

Benchmark = Callable[[Options], Iterable[Measurement]]

BENCHMARKS: Mapping[str, Benchmark] = {
    "latency": latency.measure,
    "armed": armed.measure,
    "idle": idle.measure,
    "gateway": gateway.measure,
    "many_runs": many_runs.measure,
    "ledger": ledger.measure,
    "grading": grading.measure,
    "start": start.measure,
    "question": question.measure,
    "asking": asking.measure,
    "verify_turn": verify_turn.measure,
}

OK_WORDS = {True: "[green]yes[/]", False: "[bold red]no[/]", None: ""}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs what the command line names; 0 when every target is met, 1 otherwise."""
    chosen = _parser().parse_args(arguments)
    # Leaves by way of the benchmarks, which end their processes and remove what they leave behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    isolate()
    console = Console(stderr=True)
    effort = Effort.QUICK if chosen.quick else Effort(chosen.effort)
    selected = {name: BENCHMARKS[name] for name in chosen.only or BENCHMARKS}
    chosen.out.mkdir(parents=True, exist_ok=True)
    with (chosen.out / "bench.jsonl").open("w", encoding="utf-8") as lines:
        done = run(selected, effort, chosen.out, lines, machine(), console)
    Console().print(table(done))
    console.print(f"{chosen.out / 'bench.jsonl'}: {len(done)} lines")
    return exit_code(done)


def run(
    benchmarks: Mapping[str, Benchmark],
    effort: Effort,
    out: Path,
    lines: TextIO,
    where: Mapping[str, Any],
    console: Console,
) -> list[Measurement]:
    """Runs benchmarks one after the other and writes a line for each figure as it comes.

    A benchmark that fails is a line that is not ok; the others run all the same.
    """
    done: list[Measurement] = []
    for name, benchmark in benchmarks.items():
        folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=out))
        console.print(f"[bold]{name}[/]")
        with console.status(f"{name}: starts") as status:

            def tell(text: str, name: str = name, update: Any = status.update) -> None:
                update(f"{name}: {text}")

            try:
                for measurement in benchmark(Options(folder, effort, tell)):
                    done.append(measurement)
                    write(measurement, lines, where)
                    console.print(f"  {sentence(measurement)}", highlight=False)
            except Exception as error:
                console.print_exception()
                done.append(failed(name, error))
                write(done[-1], lines, where)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    return done


def write(measurement: Measurement, lines: TextIO, where: Mapping[str, Any]) -> None:
    """Appends one JSON line."""
    record = {**measurement.model_dump(), "ok": measurement.ok, "machine": dict(where)}
    lines.write(json.dumps(record, allow_nan=False) + "\n")
    lines.flush()


def exit_code(done: Sequence[Measurement]) -> int:
    """1 when a target is not met or nothing was measured."""
    return int(not done or any(measurement.ok is False for measurement in done))


def sentence(measurement: Measurement) -> str:
    """One figure on one line."""
    text = f"{measurement.name}: {_number(measurement.value)} {measurement.unit}"
    if measurement.ratio is not None and measurement.baseline is not None:
        text += (
            f", {measurement.ratio:.2f} times {measurement.baseline.name} "
            f"({_number(measurement.baseline.value)} {measurement.unit})"
        )
    if "error" in measurement.details:
        text += f": {measurement.details['error']}"
    return text + (f"  ok: {OK_WORDS[measurement.ok]}" if measurement.target else "")


def table(done: Iterable[Measurement]) -> Table:
    """All figures as a table."""
    shown = Table(title="harness_ros benchmarks")
    shown.add_column("figure")
    for column in ("value", "baseline", "ratio", "target", "n"):
        shown.add_column(column, justify="right")
    shown.add_column("ok")
    for item in done:
        target = ""
        if item.target is not None:
            times = "x" if item.target.of == "ratio" else f" {item.unit}"
            target = f"at most {item.target.at_most:g}{times}"
        baseline = ""
        if item.baseline is not None:
            baseline = f"{item.baseline.name} {_number(item.baseline.value)}"
        shown.add_row(
            item.name,
            f"{_number(item.value)} {item.unit}",
            baseline,
            "" if item.ratio is None else f"{item.ratio:.2f}",
            target,
            str(item.details.get("n", "")),
            OK_WORDS[item.ok],
        )
    return shown


def _number(value: float) -> str:
    return f"{value:.0f}" if value == round(value) else f"{value:.3g}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bench", description="Benchmarks of harness_ros; see docs/benchmarks.md."
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=sorted(BENCHMARKS),
        help="run this benchmark; may be given several times",
    )
    parser.add_argument("--quick", action="store_true", help="short, with wide spread")
    parser.add_argument(
        "--effort",
        choices=[effort.value for effort in Effort],
        default=Effort.FULL.value,
        help="smoke only shows that everything runs, its figures mean nothing",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("bench_out"),
        help="folder for bench.jsonl, and on whose disk ledgers and bags are written",
    )
    return parser
