# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs a command: how long it took, its memory, and when the first line was in a file.

A process of its own, and a small one: Linux counts the memory of whoever starts a process to the
highest that the process ever had (getrusage(2), ru_maxrss).
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator

from bench.actors.speech import say
from bench.lifetime import adopt_orphans, die_with_parent

LOOK_S = 0.005
"""How often it is looked for the first line."""


def main(file: str, command: list[str]) -> None:
    """Says what running the command has cost.

    Args:
        file: where a first line is awaited; must not be there yet.
    """
    adopt_orphans()
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
    # What started workers ends after the command, and has waited for them.
    usages = [usage, *_of_orphans()]
    say(
        seconds=took_s,
        first_s=first_s,
        cpu_s=sum(one.ru_utime + one.ru_stime for one in usages),
        # KiB; the greatest of a process and of all that it waited for.
        memory_bytes=max(one.ru_maxrss for one in usages) * 1024,
        code=os.waitstatus_to_exitcode(status),
    )


def _of_orphans() -> Iterator[resource.struct_rusage]:
    while True:
        try:
            yield os.wait4(-1, 0)[2]
        except ChildProcessError:
            return


def _has_line(file: str) -> bool:
    try:
        with open(file, "rb") as lines:
            return b"\n" in lines.readline()
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
