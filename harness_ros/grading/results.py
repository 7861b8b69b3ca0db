# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""results.jsonl: written line by line as runs are graded, and gone on with after an end.

While a grading goes on, the results that it takes over stand in `results.jsonl.before`, so that
nothing is lost whenever it ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType

from pydantic import ValidationError

from harness_ros.grading.row import GradedRun, parse_line

Key = tuple[str, str]
"""Bag and run_id."""


class Results:
    """The file of results of one grading.

    Args:
        folder: where it is; made where it is missing.
        resume: what is in the file already is kept for `known`.
    """

    def __init__(self, folder: Path, resume: bool) -> None:
        self.path = folder / "results.jsonl"
        self._before = folder / "results.jsonl.before"
        folder.mkdir(parents=True, exist_ok=True)
        self.known: Mapping[Key, GradedRun] = {}
        """What an earlier grading found, by bag and run."""
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
        self._file = self.path.open("w", encoding="utf-8")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        if kind is None:
            self._before.unlink(missing_ok=True)

    def add(self, row: GradedRun) -> None:
        """Writes a line; whoever reads the file sees it at once."""
        self._file.write(row.line() + "\n")
        self._file.flush()

    def _write_before(self) -> None:
        if not self.known:
            return
        beside = self._before.with_suffix(".tmp")
        lines = "".join(row.line() + "\n" for row in self.known.values())
        beside.write_text(lines, encoding="utf-8")
        os.replace(beside, self._before)


def read_results(path: Path) -> Iterator[GradedRun]:
    """The runs in a results.jsonl; a line that was not written to its end is left out."""
    if not path.is_file():
        return
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            try:
                yield parse_line(line)
            except (ValueError, KeyError, ValidationError):
                continue
