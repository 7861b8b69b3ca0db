# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs out of the ToolRun and Verdict messages of a bag, and what these messages say wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from harness_ros import evaluation
from harness_ros.bag.storage import Recorded
from harness_ros.contract import HarnessError, Run, Verdict
from harness_ros.messages import (
    FINISHED,
    ConversionError,
    run_from_malformed,
    run_from_message,
    verdict_from_message,
)


@dataclass(frozen=True)
class RecordedRun:
    """A run as a bag has it."""

    run: Run
    topic: str
    """Of its ToolRun messages; relative names of eval.yaml are resolved in its namespace. Where the
    run is known from elsewhere, what that topic would be."""
    armed_ns: int
    """Time of recording from which on the evaluator would have listened."""
    finished_ns: int | None = None
    """Time of recording of the message that it had ended."""
    verdict: Verdict | None = None
    """What was said of it when it was recorded."""
    said: bool = True
    """Whether ToolRun messages in the bag say when it began and ended."""
    invalid: str = ""
    """Why it cannot be judged, where its messages contradict each other or hold no valid run."""

    def resolved(self, topic: str) -> str:
        """Absolute name of a topic of eval.yaml."""
        return topic if topic.startswith("/") else f"{self.topic.rpartition('/')[0]}/{topic}"


class RecordedRuns:
    """Takes the messages of runs and verdicts in the order in which they were recorded."""

    def __init__(self) -> None:
        self._runs: dict[str, RecordedRun] = {}
        self._without_start: set[str] = set()
        self._verdicts: dict[str, Verdict] = {}
        self._known: set[str] = set()
        self.problems: list[str] = []
        """Messages that say no valid run or verdict, or another than was said before."""

    def __iter__(self) -> Iterator[RecordedRun]:
        """Every run in the order of its first message, with its verdict where there is one."""
        for run_id, item in self._runs.items():
            yield replace(item, verdict=self._verdicts.get(run_id))

    def say(self, message: Recorded, error: HarnessError | str) -> None:
        """Tells what is wrong with a message."""
        problem = f"{message.topic}: {error}"
        if problem not in self._known:
            self._known.add(problem)
            self.problems.append(problem)

    def add_verdict(self, message: Recorded, content: Any) -> None:
        """Takes a Verdict; the first of a run counts."""
        try:
            verdict = verdict_from_message(content)
        except ConversionError as error:
            self.say(message, error)
            return
        first = self._verdicts.setdefault(verdict.run_id, verdict)
        if (first.status, first.kind) != (verdict.status, verdict.kind):
            self.say(
                message,
                f"verdict of run {verdict.run_id}: {_outcome(verdict)} after {_outcome(first)}; "
                "the first counts",
            )

    def add_run(self, message: Recorded, content: Any) -> None:
        """Takes a ToolRun; what it says of a run that is known already counts as it does live."""
        try:
            run = run_from_message(content)
        except ConversionError as error:
            self.say(message, error)
            if content.run_id and content.phase == FINISHED:
                self._end_invalid(message, run_from_malformed(content), str(error))
            return
        known = self._runs.get(run.run_id)
        if known is not None and known.topic != message.topic:
            # An evaluator listens to one of both.
            self.say(message, f"run {run.run_id} is on {known.topic} as well, which counts")
            return
        if known is None:
            finished_ns = message.log_time_ns if run.finished else None
            if run.finished:
                self._without_start.add(run.run_id)
                self.say(message, f"run {run.run_id}: its start is not in the bag before its end")
            self._runs[run.run_id] = RecordedRun(
                run, message.topic, message.log_time_ns, finished_ns
            )
            return
        said = evaluation.contradiction(known.run, run)
        if said:
            self.say(message, f"{said}; the first counts")
        other = evaluation.other_run(known.run, run)
        if known.finished_ns is None and run.finished:
            # The call is what was said when it started: a later message cannot change it.
            ended = known.run.model_copy(update={"ended_at_ns": run.ended_at_ns})
            self._runs[run.run_id] = replace(
                known, run=ended, finished_ns=message.log_time_ns, invalid=other
            )
        elif other and run.run_id in self._without_start:
            # Nobody knows which of both has ended.
            self._runs[run.run_id] = replace(known, invalid=known.invalid or other)

    def _end_invalid(self, message: Recorded, run: Run, reason: str) -> None:
        known = self._runs.get(run.run_id)
        if known is None:
            self._runs[run.run_id] = RecordedRun(
                run, message.topic, message.log_time_ns, message.log_time_ns, invalid=reason
            )
        elif known.finished_ns is None:
            ended = known.run.model_copy(update={"ended_at_ns": run.ended_at_ns})
            self._runs[run.run_id] = replace(
                known, run=ended, finished_ns=message.log_time_ns, invalid=reason
            )


def _outcome(verdict: Verdict) -> str:
    return " ".join(filter(None, (verdict.status.name.lower(), verdict.kind.value)))
