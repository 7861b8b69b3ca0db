# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""results.jsonl: written line by line as runs are graded, and gone on with after an end.

While a grading goes on, the results that it takes over stand in `results.jsonl.before`, so that
nothing is lost whenever it ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from harness_ros.contract import HarnessError
from harness_ros.grading.row import GradedRun, parse_line

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

Key = tuple[str, str]
"""Bag and run_id."""


class ResultsError(HarnessError):
    """Results that cannot be written; the text names their file."""


class Results:
    """The file of results of one grading.

    Args:
        folder: where it is; made where it is missing.
        resume: what is in the file already is kept for `known`.

    Raises:
        ResultsError: it cannot be made, or not be read.
    """

    def __init__(self, folder: Path, resume: bool) -> None:
        self.path = folder / "results.jsonl"
        self._before = folder / "results.jsonl.before"
        self.known: Mapping[Key, GradedRun] = {}
        """What an earlier grading found, by bag and run."""
        make_folder(folder)
        with _naming(folder):
            if resume:
                self.known = {
                    (row.bag, row.run_id): row
                    for path in (self._before, self.path)
                    for row in read_results(path)
                }
                self._write_before()
            else:
                self._before.unlink(missing_ok=True)

    def __enter__(self) -> Results:
        with _naming(self.path):
            self._file = self.path.open("w", encoding="utf-8")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            with _naming(self.path), self._file:
                self._file.flush()
                os.fsync(self._file.fileno())
        except ResultsError:
            # After an error of writing, what is in the buffer cannot be written either.
            if kind is None:
                raise
        if kind is None:
            self._before.unlink(missing_ok=True)

    def add(self, row: GradedRun) -> None:
        """Writes a line; whoever reads the file sees it at once.

        Raises:
            ResultsError: it cannot be written.
        """
        with _naming(self.path):
            self._file.write(row.line() + "\n")
            self._file.flush()

    def _write_before(self) -> None:
        if not self.known:
            return
        beside = self._before.with_suffix(".tmp")
        lines = "".join(row.line() + "\n" for row in self.known.values())
        try:
            beside.write_text(lines, encoding="utf-8")
            os.replace(beside, self._before)
        finally:
            beside.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Makes a folder where it is missing.

    Raises:
        ResultsError: it cannot be made.
    """
    with _naming(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keeps other gradings from writing to a folder, which is there while this lasts.

    Raises:
        ResultsError: another one does, or the folder cannot be made.
    """
    missing = not folder.exists()
    make_folder(folder)
    with _naming(folder):
        opened = os.open(folder, os.O_RDONLY) if fcntl is not None else None
    try:
        if fcntl is not None and opened is not None:
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ResultsError(f"{folder}: another grading writes there") from None
            except OSError:
                pass  # some network file systems lock no folder
        yield
    finally:
        if opened is not None:
            os.close(opened)
        if missing:
            with suppress(OSError):
                folder.rmdir()  # where nothing came to be in it


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or error}") from None


def read_results(path: Path) -> Iterator[GradedRun]:
    """The runs in a results.jsonl; a line that was not written to its end is left out."""
    if not path.is_file():
        return
    with path.open("rb") as lines:
        for line in lines:
            try:
                yield parse_line(line.decode("utf-8"))
            except (AttributeError, KeyError, TypeError, ValueError):
                continue
