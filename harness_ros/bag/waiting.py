# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a terminal shows while somebody waits for a bag."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from types import TracebackType
from typing import Any, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)


def console() -> Console:
    """Progress and problems go to standard error; standard output has the results alone."""
    return _Console(file=sys.stderr, highlight=False)


class _Console(Console):
    """Goes on where nobody reads any more: by itself, it would end the program."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Prints, as far as that can be."""
        try:
            super().print(*objects, **options)
        except OSError:
            self.on_broken_pipe()

    def on_broken_pipe(self) -> None:
        """Says nothing from now on."""
        self.quiet = True
        give_up(sys.stderr)


def give_up(stream: TextIO) -> None:
    """Has a standard stream lead nowhere, to which nothing can be written any more.

    What is in its buffer would be tried once more at the end of the program, and fail that.
    """
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def bars(console: Console) -> Progress:
    """Bars that go when they are done; none where the console is no terminal."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


class ReadingBar:
    """How much of a bag is read through; nothing is shown of one that has an index.

    A context manager that takes the bar away; what `Storage` wants for its `progress`.
    """

    def __init__(self, shown: Progress, name: str) -> None:
        self._shown, self._name = shown, name
        self._task: TaskID | None = None

    def __call__(self, done_bytes: int, total_bytes: int) -> None:
        """Takes up how far it is."""
        if self._task is None:
            self._task = self._shown.add_task(f"reading through {self._name}, MiB")
        self._shown.update(self._task, completed=done_bytes >> 20, total=total_bytes >> 20)

    def __enter__(self) -> ReadingBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._task is not None:
            self._shown.remove_task(self._task)
