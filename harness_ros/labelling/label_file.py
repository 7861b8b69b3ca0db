# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""LabelFile: what was said, on disk before the page goes on.

JSON lines that are only ever appended to: each key press is a line, written at once and whole.
`harness_ros.grading.labels.read_labels` reads them.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from threading import Lock
from typing import Literal

from pydantic import Field, ValidationError
from pydantic_core import from_json

from harness_ros.contract import Record
from harness_ros.labelling.runs import LabellingError, RunToLabel

Label = Literal["success", "failure", "unknown"]
"""`unknown`: somebody looked and could not tell."""


class LabelLine(Record):
    """What somebody said of one run."""

    run_id: str
    label: Label | None
    """None where it was taken back."""
    by: str = Field(min_length=1)
    """Who said so."""
    at: str
    """When, ISO 8601 in UTC."""
    tool: str
    post_condition: str
    """As it was shown: a label says whether this sentence is true."""
    note: str = ""
    replaces: bool = False
    """What stands above of the run holds no more."""
    saw_verdict: bool = False
    """The judge's verdict had been shown: such a label is not blind."""

    def text(self) -> str:
        """The line without its end; what is as by default is left out."""
        return self.model_dump_json(exclude_defaults=True)


class LabelFile:
    """A file of labels by one person; also a context manager that closes it.

    Args:
        by: who labels; by default who did so far, or `login` in a new file.
        known: every run that there is to label, by run_id.

    Raises:
        LabellingError: it cannot be written, was not written by `harness-ros label`, is written by
            another one now, or holds labels by somebody else or of other runs.
    """

    def __init__(
        self, path: Path, by: str | None, login: str, known: Mapping[str, RunToLabel]
    ) -> None:
        self.path = path
        self._lock = Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise LabellingError(f"{path}: {error.strerror or error}") from None
        try:
            self._only_one()
            self.cut_off = False
            """Whether the end of a line was missing and what there was of it is gone."""
            self._lines = {line.run_id: line for line in self._read()}
            self.by = self._labeller(by, login)
            self._check_runs(known)
        except BaseException:
            os.close(self._file)
            raise
        self._known = known

    def __enter__(self) -> LabelFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file once what is being written is written."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1

    def line(self, run_id: str) -> LabelLine | None:
        """What was last said of a run, if it was said of the post-condition that it has now."""
        found = self._lines.get(run_id)
        if found is None or found.post_condition != self._known[run_id].post_condition:
            return None
        return found

    def label(self, run_id: str) -> Label | None:
        """The label of a run; None where there is none."""
        found = self.line(run_id)
        return None if found is None else found.label

    def outdated(self) -> list[str]:
        """run_ids whose label was given to another post-condition; they are to be labelled anew."""
        return [
            run_id
            for run_id, line in self._lines.items()
            if line.label is not None and self.line(run_id) is None
        ]

    def say(
        self, run_id: str, label: Label | None, note: str = "", saw_verdict: bool = False
    ) -> None:
        """Writes what is said of a run; it is on disk when this returns.

        Raises:
            LabellingError: it cannot be written.
        """
        with self._lock:
            before = self._lines.get(run_id)
            line = LabelLine(
                run_id=run_id,
                label=label,
                by=self.by,
                at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
                tool=self._known[run_id].tool,
                post_condition=self._known[run_id].post_condition,
                note=note,
                replaces=before is not None,
                saw_verdict=saw_verdict
                or bool(self.line(run_id) and before and before.saw_verdict),
            )
            self._append(line.text() + "\n")
            self._lines[run_id] = line

    def _append(self, text: str) -> None:
        data = text.encode()
        if self._file < 0:
            raise LabellingError("harness-ros label has ended; start it again")
        size = os.fstat(self._file).st_size
        try:
            if os.write(self._file, data) != len(data):
                raise OSError("no space for the whole line")
            os.fsync(self._file)
        except OSError as error:
            # Half a line would be read as an error later.
            os.ftruncate(self._file, size)
            raise LabellingError(f"{self.path}: {error.strerror or error}; not labelled") from None

    def _only_one(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise LabellingError(
                f"{self.path}: another `harness-ros label` is writing it"
            ) from None

    def _read(self) -> list[LabelLine]:
        data = self.path.read_bytes()
        whole, end, rest = data.rpartition(b"\n")
        if rest and _is_json(rest):
            # An editor that leaves out the last line end.
            os.write(self._file, b"\n")
            whole = data
        elif rest:
            # The power failed while it was written: nobody was told that it is there.
            os.ftruncate(self._file, len(whole) + len(end))
            self.cut_off = True
        found = []
        for number, line in enumerate(whole.split(b"\n"), 1):
            if not line.strip():
                continue
            try:
                found.append(LabelLine.model_validate_json(line))
            except ValidationError as error:
                said = error.errors(include_url=False)[0]
                raise LabellingError(
                    f"{self.path}, line {number}: {'.'.join(map(str, said['loc'])) or 'the line'}: "
                    f"{said['msg']}; only a file that `harness-ros label` wrote can be gone on "
                    "with, so give another name with --labels"
                ) from None
        return found

    def _labeller(self, by: str | None, login: str) -> str:
        so_far = sorted({line.by for line in self._lines.values()})
        if by is not None and so_far not in ([], [by]):
            raise LabellingError(
                f"--by '{by}': {self.path} holds labels by {', '.join(so_far)}; two people need "
                "two files, or nobody can see whether they agree: give another one with --labels"
            )
        return by or (so_far[0] if so_far else login)

    def _check_runs(self, known: Mapping[str, RunToLabel]) -> None:
        others = [run_id for run_id in self._lines if run_id not in known]
        if others:
            raise LabellingError(
                f"{self.path}: {len(others)} of its {len(self._lines)} runs are not among the "
                f"{len(known)} that are to be labelled (such as {others[0]}): it belongs to other "
                "runs; give another file with --labels"
            )


def _is_json(line: bytes) -> bool:
    try:
        from_json(line)
    except ValueError:
        return False
    return True
