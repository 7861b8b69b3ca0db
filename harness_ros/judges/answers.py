# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A judge's answers beside labels, and what they say of its errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from harness_ros.contract import ExitCode, Kind, Record, Status, exit_code
from harness_ros.statistics import CONFIDENCE, Rate, rate_of, upper_bound

Label = Literal["success", "failure"]
Answer = Literal["success", "failure", "unjudged"]

DECIMALS = 6
"""Of every number that is computed: the last bits may differ between machines."""


class LabelledAnswer(Record):
    """What a person and the judge say of one run."""

    run_id: str
    tool: str
    label: Label
    answer: Answer
    """`unjudged` where the judge could not tell, or there was nothing to judge by."""
    kind: Kind = Kind.JUDGED
    """Why it is unjudged."""
    confidence: float | None = None
    """Of the judge in its answer; None where it gives none."""


def answer_of(status: Status, kind: Kind) -> Answer:
    """What a verdict says; a segment in `process` has not been judged to its end."""
    code = exit_code(status, kind)
    if code is ExitCode.SUCCESS:
        return "success"
    return "failure" if code is ExitCode.FAILURE else "unjudged"


class Answers(Record):
    """How often the judge said what."""

    success: int
    failure: int
    unjudged: int


class Measured(Record):
    """Answers beside labels; rates are over what was judged."""

    labelled_failure: Answers
    labelled_success: Answers
    false_success: Rate
    """Of the judged runs labelled failure, those that were called a success."""
    false_success_below: float | None
    """One-sided: greater false-success rates are excluded; None without a labelled failure."""
    false_failure: Rate
    """Of the judged runs labelled success, those that were called a failure."""

    @property
    def unjudged(self) -> int:
        """Labelled runs that the judge did not judge; in no rate."""
        return self.labelled_failure.unjudged + self.labelled_success.unjudged


class CurvePoint(Record):
    """What the judge is worth if it abstains below a confidence."""

    confidence: float
    """The threshold: answers with less are not given, nor those without a confidence."""
    coverage: Rate
    """Of the judged runs, those on which it still says something."""
    wrong: Rate
    """The risk: of those, the ones where it says other than the label."""
    false_success: Rate
    """Of the judged runs labelled failure, abstained ones included, those that are still called a
    success."""
    false_success_below: float | None
    """One-sided and exact: greater rates are excluded; None without a labelled failure."""


def measured(
    answers: Iterable[LabelledAnswer],
    threshold: float | None = None,
    confidence: float = CONFIDENCE,
) -> Measured:
    """The errors that these answers show.

    Args:
        threshold: answers that are given with less confidence, or without one, count as unjudged.
        confidence: of every interval and bound.
    """
    answers = list(answers)
    failures, successes = (_answers(answers, label, threshold) for label in ("failure", "success"))
    judged_failures = failures.success + failures.failure
    judged_successes = successes.success + successes.failure
    return Measured(
        labelled_failure=failures,
        labelled_success=successes,
        false_success=rounded_rate(failures.success, judged_failures, confidence),
        false_success_below=_bound(failures.success, judged_failures, confidence),
        false_failure=rounded_rate(successes.failure, judged_successes, confidence),
    )


def curve(
    answers: Iterable[LabelledAnswer], confidence: float = CONFIDENCE
) -> tuple[CurvePoint, ...]:
    """Risk and coverage at every confidence that was given, the lowest first; judged runs alone.

    Source: El-Yaniv & Wiener 2010, "On the Foundations of Noise-free Selective Classification",
    JMLR 11:1605.
    """
    judged = [item for item in answers if item.answer != "unjudged"]
    thresholds = sorted({item.confidence for item in judged if item.confidence is not None})
    failures = sum(item.label == "failure" for item in judged)
    return tuple(_point(judged, failures, at, confidence) for at in thresholds)


def _point(
    judged: Sequence[LabelledAnswer], failures: int, threshold: float, confidence: float
) -> CurvePoint:
    said = [item for item in judged if not abstains(item.confidence, threshold)]
    false_success = sum(item.label == "failure" and item.answer == "success" for item in said)
    return CurvePoint(
        confidence=threshold,
        coverage=rounded_rate(len(said), len(judged), confidence),
        wrong=rounded_rate(sum(item.label != item.answer for item in said), len(said), confidence),
        false_success=rounded_rate(false_success, failures, confidence),
        false_success_below=_bound(false_success, failures, confidence),
    )


def abstains(confidence: float | None, threshold: float | None) -> bool:
    """Whether a judge that abstains below a threshold keeps an answer to itself.

    An answer without a confidence is not known to be sure enough.
    """
    return threshold is not None and (confidence is None or confidence < threshold)


def _answers(answers: Iterable[LabelledAnswer], label: str, threshold: float | None) -> Answers:
    said = [
        "unjudged" if abstains(item.confidence, threshold) else item.answer
        for item in answers
        if item.label == label
    ]
    return Answers(
        success=said.count("success"),
        failure=said.count("failure"),
        unjudged=said.count("unjudged"),
    )


def _bound(count: int, of: int, confidence: float) -> float | None:
    return round(upper_bound(count, of, confidence), DECIMALS) if of else None


def rounded_rate(count: int, of: int, confidence: float) -> Rate:
    """The rate as a file has it: its numbers are the same on every machine."""
    found: dict[str, Any] = dict(rate_of(count, of, confidence))
    return Rate(
        **{
            name: round(value, DECIMALS) if isinstance(value, float) else value
            for name, value in found.items()
        }
    )
