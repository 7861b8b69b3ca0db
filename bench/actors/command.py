# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs a command: how long it took, its memory, and when the first line was in a file.

A process of its own, and a small one: Linux counts the memory of whoever starts a process to the
highest that the process ever had (getrusage(2), ru_maxrss).
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from bench.actors.speech import say
from bench.lifetime import die_with_parent

LOOK_S = 0.005
"""How often it is looked for the first line."""


def main(file: str, command: list[str]) -> None:
    """Says what running the command has cost.

    Args:
        file: where a first line is awaited; must not be there yet.
    """
    begun = time.monotonic()
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=sys.stderr, preexec_fn=die_with_parent
    )
    first_s: float | None = None
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG if first_s is None else 0)
        took_s = time.monotonic() - begun
        if first_s is None and _has_line(file):
            first_s = took_s
        if pid:
            break
        time.sleep(LOOK_S)
    say(
        seconds=took_s,
        first_s=first_s,
        cpu_s=usage.ru_utime + usage.ru_stime,
        # KiB; the greatest of the process and of all that it waited for.
        memory_bytes=usage.ru_maxrss * 1024,
        code=os.waitstatus_to_exitcode(status),
    )


def _has_line(file: str) -> bool:
    try:
        with open(file, "rb") as lines:
            return b"\n" in lines.readline()
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
