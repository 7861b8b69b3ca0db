# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A rate of success, corrected for the errors of who judged."""

from __future__ import annotations

from pydantic import Field, model_validator

from harness_ros.contract import Record
from harness_ros.statistics import NotEstimableError, Rate, rogan_gladen


class JudgeErrors(Record):
    """How often a judge errs, counted once on labelled runs."""

    name: str = Field(min_length=1)
    """Of the error card that has the counts."""
    false_success: tuple[int, int]
    """Verdicts of success among n runs that are labelled failure, and n."""
    false_failure: tuple[int, int]
    """Verdicts of failure among n runs that are labelled success, and n."""

    @model_validator(mode="after")
    def _counts_fit(self) -> JudgeErrors:
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


def corrected_rate(
    card: JudgeErrors, verdicts: Rate, other_cards: int, confidence: float
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
