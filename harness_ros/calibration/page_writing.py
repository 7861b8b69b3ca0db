# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The page of an error card: one HTML file, read without a server and without the network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness_ros.calibration.curve_plot import plot_of
from harness_ros.calibration.wording import fine, spread
from harness_ros.grading.report.writing import PAGE as REPORT
from harness_ros.grading.report.writing import environment, policy, replaced
from harness_ros.judges.answers import LabelledAnswer
from harness_ros.judges.card import CardError, ErrorCard
from harness_ros.statistics import trials_to_exclude, zero_events_upper_bound

PAGE = Path(__file__).parent / "page"
STYLES = (REPORT / "report.css", PAGE / "calibration.css")
WANTED = (0.1, 0.05, 0.02, 0.01)
"""False-success rates for which the page says what they take."""


@dataclass(frozen=True)
class Wanted:
    """What a false-success rate takes."""

    rate: float
    failures: int
    """Judged failures that exclude more, if none is called a success."""
    confidence: str = ""
    """The threshold; empty where there is none."""
    coverage: str = ""
    why_not: str = ""


def write_card_page(path: Path, card: ErrorCard) -> None:
    """Writes the page of a card.

    Raises:
        ReportError: the file cannot be written.
    """
    style = "".join(file.read_text(encoding="utf-8") for file in STYLES)
    templates = environment(PAGE)
    templates.filters |= {"fine": fine, "spread": spread}
    failures = card.errors.false_success.of
    page = templates.get_template("calibration.html").generate(
        card=card,
        policy=policy(style),
        style=style,
        plot=plot_of(card.curve),
        wanted=list(_wanted(card)),
        failures=failures,
        at_best=zero_events_upper_bound(failures, card.confidence_level) if failures else None,
        mistakes=_mistakes(card),
        confidence=fine(card.confidence_level).replace(".0", ""),
    )
    replaced(path, page)


def _wanted(card: ErrorCard) -> Iterator[Wanted]:
    for rate in WANTED:
        failures = trials_to_exclude(rate, card.confidence_level)
        if not card.curve:
            yield Wanted(rate, failures)
            continue
        try:
            found = card.threshold(rate)
        except CardError as error:
            yield Wanted(rate, failures, why_not=str(error).partition(": ")[2])
        else:
            yield Wanted(rate, failures, f"{found.confidence:g}", fine(found.coverage.rate))


def _mistakes(card: ErrorCard) -> list[LabelledAnswer]:
    """Where judge and label differ, false successes first, then by how sure the judge was."""
    wrong = [run for run in card.runs if run.answer not in ("unjudged", run.label)]
    return sorted(
        wrong, key=lambda run: (run.answer != "success", -(run.confidence or 0.0), run.run_id)
    )
