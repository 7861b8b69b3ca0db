# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Session: what the page asks and what it is answered."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness_ros.grading.report.entries import said
from harness_ros.grading.report.wording import outcome, visible
from harness_ros.labelling.label_file import Label, LabelFile
from harness_ros.labelling.reader import Reader
from harness_ros.labelling.runs import LabellingError, RunToLabel
from harness_ros.labelling.summary import Tally, lines

LABELS: tuple[Label, ...] = ("success", "failure", "unknown")
LONGEST_NOTE = 2000
"""Letters."""
SHORT_ID = 8

Answer = dict[str, Any]


class Session:
    """One person who labels runs in an order that is given.

    Args:
        runs: in the order in which they are shown.
        show_verdict: the judge's verdict may be looked at once a run is labelled.
        first: the labels of the first pass by run_id, where this is the second.
    """

    def __init__(
        self,
        runs: Sequence[RunToLabel],
        reader: Reader,
        labels: LabelFile,
        show_verdict: bool = False,
        first: Mapping[str, Label] | None = None,
    ) -> None:
        self.runs, self._reader, self._labels = runs, reader, labels
        self._show_verdict, self._first = show_verdict, first

    @property
    def path(self) -> Path:
        """The file of labels."""
        return self._labels.path

    def overview(self) -> Answer:
        """All runs in a few words each, without verdicts."""
        return {
            "by": visible(self._labels.by),
            "again": self._first is not None,
            "showVerdict": self._show_verdict,
            "runs": [
                {
                    "call": visible(_call(run)),
                    "short": visible(run.run_id[:SHORT_ID]),
                    "label": self._labels.label(run.run_id),
                }
                for run in self.runs
            ],
        }

    def run(self, index: int) -> Answer:
        """A run to look at: nothing here depends on its verdict.

        Raises:
            HarnessError: there is no such run, or what was seen cannot be read.
        """
        run = self._run(index)
        shown = self._reader.shown(run.run_id)
        line = self._labels.line(run.run_id)
        return {
            "postCondition": visible(run.post_condition),
            "tool": visible(run.tool),
            "arguments": [
                [visible(name), visible(_text(run.arguments[name]))]
                for name in sorted(run.arguments)
            ],
            "segment": run.segment,
            "run": visible(run.run_id),
            "pictures": [
                {"name": visible(view.name), "width": view.width, "height": view.height}
                for view in shown.pictures
            ],
            "measured": [visible(text) for text in shown.measured],
            "label": None if line is None else line.label,
            "note": "" if line is None else line.note,
        }

    def picture(self, index: int, number: int) -> bytes:
        """A JPEG file.

        Raises:
            HarnessError: there is no such picture, or it cannot be read.
        """
        pictures = self._reader.shown(self._run(index).run_id).pictures
        if not 0 <= number < len(pictures):
            raise LabellingError(f"run {index} has {len(pictures)} pictures, not one {number}")
        return pictures[number].jpeg

    def say(self, index: int, label: object, note: object) -> Answer:
        """Writes a label; None takes it back.

        Raises:
            LabellingError: there is no such run or label, or it cannot be written.
        """
        run = self._run(index)
        if label is not None and label not in LABELS:
            raise LabellingError(f"label is {label!r}; allowed are {', '.join(LABELS)} and null")
        if not isinstance(note, str) or len(note) > LONGEST_NOTE:
            raise LabellingError(f"note: text of at most {LONGEST_NOTE} letters is wanted")
        note = note.encode("utf-8", "replace").decode().strip()
        line = self._labels.line(run.run_id)
        now = (None, "") if line is None else (line.label, line.note)
        if (label, note) != now:
            self._labels.say(run.run_id, label, note)
        return {"label": label, "note": note}

    def verdict(self, index: int) -> Answer:
        """What the judge said of a run that is labelled; that it was looked at is written down.

        Raises:
            LabellingError: verdicts are not shown, or the run is not labelled.
        """
        run = self._run(index)
        line = self._labels.line(run.run_id)
        if not self._show_verdict:
            raise LabellingError("verdicts are not shown: labels are to be blind (--show-verdict)")
        if line is None or line.label is None:
            raise LabellingError("the verdict is shown once the run is labelled")
        if not line.saw_verdict:
            self._labels.say(run.run_id, line.label, line.note, saw_verdict=True)
        if run.said is None:
            return {"outcome": "", "symbol": "–", "said": "no verdict known", "lines": []}
        found = outcome(run.said.status, run.said.kind)
        return {
            "outcome": found.value,
            "symbol": found.symbol,
            "said": said(run.said.status, run.said.kind),
            "lines": [visible(text) for text in (run.said.reason, *run.said.evidence) if text],
        }

    def tally(self) -> Tally:
        """What was said so far, of the runs of this session."""
        labels = {run.run_id: self._labels.label(run.run_id) for run in self.runs}
        return Tally(
            by=self._labels.by,
            labels=labels,
            seen=sum(
                line is not None and line.saw_verdict and line.label is not None
                for line in map(self._labels.line, labels)
            ),
            first=self._first,
        )

    def summary(self) -> Answer:
        """What was said so far, in lines of text."""
        # How many of what is a table of the page.
        words = [*list(lines(self.tally()))[1:], f"The labels are in {self.path}."]
        return {"lines": [visible(text) for text in words]}

    def _run(self, index: int) -> RunToLabel:
        if not 0 <= index < len(self.runs):
            raise LabellingError(f"there are {len(self.runs)} runs, not one {index}")
        return self.runs[index]


def _call(run: RunToLabel) -> str:
    values = (f"{name}={_text(run.arguments[name])}" for name in sorted(run.arguments))
    return f"{run.tool}({', '.join(values)})"


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
