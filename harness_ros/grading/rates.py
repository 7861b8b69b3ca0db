# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rate, ErrorCard, Corrected: numbers of a summary with what they are worth."""

from __future__ import annotations

from pydantic import Field, model_validator

from harness_ros.contract import Record
from harness_ros.grading.statistics import (
    NotEstimableError,
    rogan_gladen,
    wilson_interval,
    zero_events_upper_bound,
)


class Rate(Record):
    """`count` of `of`; all else is None where `of` is 0."""

    count: int
    of: int
    rate: float | None = None
    low: float | None = None
    """Wilson interval at the summary's confidence."""
    high: float | None = None
    zero_excludes_above: float | None = None
    """Where count is 0: greater rates are excluded, one-sided; None otherwise."""


class ErrorCard(Record):
    """How often a judge errs, counted once on labelled runs and kept."""

    name: str = Field(min_length=1)
    false_success: tuple[int, int]
    """Verdicts of success among n runs that are labelled failure, and n."""
    false_failure: tuple[int, int]
    """Verdicts of failure among n runs that are labelled success, and n."""

    @model_validator(mode="after")
    def _counts_fit(self) -> ErrorCard:
        for name in ("false_success", "false_failure"):
            count, of = getattr(self, name)
            if not 0 <= count <= of:
                raise ValueError(f"{name} of card '{self.name}': {count} of {of} is no count")
        return self


class Corrected(Record):
    """The rate of success corrected for the errors of the judge; docs/statistics.md."""

    card: str
    verdicts: Rate
    """Of success, among judged trials to which the card applies."""
    other_cards: int
    """Judged trials that another card, or none, belongs to; they are left out."""
    rate: float | None = None
    low: float | None = None
    high: float | None = None
    unclipped: float | None = None
    """Before it was clipped to [0, 1]."""
    not_estimable: str = ""
    """Why there is no rate; empty where there is one."""


def rate_of(count: int, of: int, confidence: float) -> Rate:
    """The rate with its interval.

    Raises:
        ValueError: count outside [0, of], or confidence outside (0, 1).
    """
    if of == 0 and count == 0:
        return Rate(count=0, of=0)
    low, high = wilson_interval(count, of, confidence)
    return Rate(
        count=count,
        of=of,
        rate=count / of,
        low=low,
        high=high,
        zero_excludes_above=None if count else zero_events_upper_bound(of, confidence),
    )


def corrected_rate(
    card: ErrorCard, verdicts: Rate, other_cards: int, confidence: float
) -> Corrected:
    """The rate of success behind verdicts that a judge with this card gave.

    Raises:
        ValueError: confidence outside (0, 1).
    """
    known = Corrected(card=card.name, verdicts=verdicts, other_cards=other_cards)
    if verdicts.of == 0:
        return known.model_copy(
            update={"not_estimable": "no judged trial that the card applies to"}
        )
    try:
        found = rogan_gladen(
            verdicts.count, verdicts.of, card.false_success, card.false_failure, confidence
        )
    except NotEstimableError as error:
        return known.model_copy(update={"not_estimable": str(error)})
    return known.model_copy(update=found._asdict())
