# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`harness-ros label` from its options to the lines that it prints."""

from __future__ import annotations

import getpass
import sys
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness_ros.grading.report.wording import visible
from harness_ros.labelling.choosing import sampled, shuffled
from harness_ros.labelling.label_file import Label, LabelFile
from harness_ros.labelling.reader import Reader
from harness_ros.labelling.runs import LabellingError, RunToLabel
from harness_ros.labelling.server import LabelServer
from harness_ros.labelling.session import Session
from harness_ros.labelling.sources import Source, is_graded
from harness_ros.labelling.summary import lines

FILE = "labels.jsonl"


@dataclass(frozen=True)
class LabelOptions:
    """The options of `harness-ros label`, by their names there."""

    runs: Path
    config: Path | None = None
    labels: Path | None = None
    by: str | None = None
    sample: int | None = None
    seed: int = 0
    again: bool = False
    show_verdict: bool = False
    port: int = 0
    open: bool = False

    def file(self) -> Path:
        """The file of labels of the first pass.

        Raises:
            LabellingError: nothing says where it is to be.
        """
        if self.labels is not None:
            return self.labels
        if is_graded(self.runs):
            return self.runs / FILE
        raise LabellingError(f"--labels is wanted for a bag or a ledger, such as --labels {FILE}")


def label_command(options: LabelOptions) -> int:
    """Serves the page until Ctrl-C, and prints what was said.

    Returns:
        0.

    Raises:
        HarnessError: the runs, the file of labels or the port cannot be used.
    """
    with served(options) as server:
        print(f"{server.url}  (Ctrl-C ends)", flush=True)
        if options.open:
            webbrowser.open(server.url)
        try:
            server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            print(file=sys.stderr)
        for line in lines(server.session.tally()):
            print(line)
        print(server.session.path)
    return 0


@contextmanager
def served(options: LabelOptions) -> Iterator[LabelServer]:
    """A server that is ready, after a line on what there is to do.

    Raises:
        HarnessError: see `label_command`.
    """
    path = options.file()
    with Reader(options.runs, options.config) as reader:
        known = {run.run_id: run for run in reader.source.runs}
        if not known:
            raise LabellingError(
                f"{options.runs}: none of its {reader.source.left_out} runs has an Observation; "
                "there is nothing to look at"
            )
        first = _first_pass(path, known, options) if options.again else None
        file = path.with_suffix(f".again{path.suffix}") if options.again else path
        by = first[0] if first else options.by
        with LabelFile(file, by, _login(), known) as labels:
            runs = _chosen(reader.source, options, first[1] if first else None)
            session = Session(
                runs, reader, labels, options.show_verdict, first[1] if first else None
            )
            _tell(options, reader.source, labels, runs)
            server = LabelServer(session, visible(str(options.runs)), options.port)
            try:
                yield server
            finally:
                server.server_close()


def _first_pass(
    path: Path, known: Mapping[str, RunToLabel], options: LabelOptions
) -> tuple[str, dict[str, Label]]:
    """Who labelled, and what they said."""
    if not path.is_file():
        raise LabellingError(f"--again: {path} is not there; label the runs once first")
    with LabelFile(path, options.by, _login(), known) as labels:
        said = {run_id: label for run_id in known if (label := labels.label(run_id)) is not None}
        if not said:
            raise LabellingError(f"--again: {path} has no labels yet; label the runs once first")
        return labels.by, said


def _chosen(
    source: Source, options: LabelOptions, first: Mapping[str, Label] | None
) -> Sequence[RunToLabel]:
    # Another order than that of the first pass, or one would remember.
    seed = options.seed if first is None else f"again {options.seed}"
    runs = [run for run in source.runs if first is None or run.run_id in first]
    if options.sample is None:
        return shuffled(runs, seed)
    return sampled(runs, options.sample, seed)


def _tell(
    options: LabelOptions, source: Source, labels: LabelFile, runs: Sequence[RunToLabel]
) -> None:
    if labels.cut_off:
        print(f"{labels.path}: its last line was not whole and is gone", file=sys.stderr)
    outdated = labels.outdated()
    if outdated:
        print(
            f"{labels.path}: {len(outdated)} labels are of another post-condition than these runs "
            "have now; they are asked for again",
            file=sys.stderr,
        )
    if source.left_out:
        print(f"{source.left_out} runs without an Observation are left out", file=sys.stderr)
    done = sum(labels.label(run.run_id) is not None for run in runs)
    print(
        f"{len(runs)} of {len(source.runs)} runs to label, order and choice by seed "
        f"{options.seed}; {done} are labelled, by {labels.by}, in {labels.path}"
    )


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "nobody named"
