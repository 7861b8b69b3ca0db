# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How long somebody waits for `harness-ros --help`."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

from bench.grading import harness_command
from bench.options import Options
from bench.record import Baseline, Measurement, Target, spread

AT_MOST_S = 0.4


def measure(options: Options) -> Iterator[Measurement]:
    """Median time of the command, beside a Python that does nothing."""
    calls = options.choose(full=15, quick=7, smoke=2)
    command, nothing = [harness_command(), "--help"], [sys.executable, "-c", "pass"]
    options.tell("asks for help")
    first_s = _seconds(command)
    _seconds(nothing)
    # In turns: other work on the machine slows both.
    pairs = [(_seconds(command), _seconds(nothing)) for _ in range(calls)]
    took, python = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    yield Measurement(
        name="start/help",
        value=spread(took)["median"],
        unit="s",
        baseline=Baseline(name="a Python that does nothing", value=spread(python)["median"]),
        target=Target(at_most=AT_MOST_S),
        details={
            **spread(took),
            "baseline": spread(python),
            "files": "in memory and compiled; first_s is the call before, as the machine was",
            "first_s": round(first_s, 4),
        },
    )


def _seconds(command: Sequence[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun
