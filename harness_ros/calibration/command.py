# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`harness-ros calibrate` from its options to the card, its page and the lines that it prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone
from pathlib import Path

from rich.console import Console

from harness_ros.bag.waiting import bars, console
from harness_ros.calibration.judging import Answered, judged, judged_by
from harness_ros.calibration.labelled_runs import checked, labels_of, looked_at, runs_asked_for
from harness_ros.calibration.making import card_of
from harness_ros.calibration.options import CalibrateOptions, CalibrationError
from harness_ros.calibration.page_writing import write_card_page
from harness_ros.calibration.variants import variants
from harness_ros.config import load
from harness_ros.contract import Usage
from harness_ros.grading.report.writing import replaced
from harness_ros.judges.answers import Measured
from harness_ros.judges.card import ErrorCard
from harness_ros.statistics import trials_to_exclude

RATES = (0.05, 0.02, 0.01)
"""False-success rates that people ask for."""


@dataclass(frozen=True)
class Calibration:
    """A card, and what is not in it."""

    card: ErrorCard
    found: Sequence[Answered]
    unlabelled: int
    """Runs without a label; nobody was asked about them."""
    cannot_tell: int
    """Labels that say neither success nor failure."""


def calibrate_command(options: CalibrateOptions) -> int:
    """Measures a judge, writes its card and page, and prints what a person should know at once.

    Returns:
        0.

    Raises:
        HarnessError: an option, the configuration or the labels cannot be used, or the judge
            judged nothing.
    """
    done = calibrate(options, console(), datetime.now(timezone.utc).date())
    write(done.card, options.out, options.page)
    for line in lines(done):
        print(line)
    print(f"{options.out}\n{options.page}")
    return 0


def calibrate(options: CalibrateOptions, shown_on: Console, made: date) -> Calibration:
    """The errors of a judge on labelled runs.

    Raises:
        HarnessError: as `calibrate_command`.
    """
    config = load(options.config)
    _check_files(options)
    labels = labels_of(options.labels)
    with (
        bars(shown_on) as shown,
        variants(config, options) as ways,
        runs_asked_for(options, shown) as runs,
    ):
        for problem in runs.problems:
            shown_on.print(problem, style="yellow", markup=False)
        asked = judged_by(config, options.judge)
        run_ids = checked(runs, labels, asked)
        bar = shown.add_task(f"runs judged by {options.judge}", total=len(run_ids))
        found = judged(
            asked,
            looked_at(runs, labels, run_ids, asked),
            ways,
            config.judges[options.judge].parallel,
            lambda: shown.advance(bar),
        )
        unlabelled = len(runs.runs) - len(run_ids)
    _check_judged(options.judge, found[0])
    card = card_of(config, options.judge, found, made)
    return Calibration(card, found, unlabelled, labels.cannot_tell)


def write(card: ErrorCard, path: Path, page: Path) -> None:
    """Writes the card and its page; what is there is replaced once the new is whole.

    Raises:
        ReportError: a file cannot be written.
    """
    replaced(path, [card.text()])
    write_card_page(page, card)


def lines(done: Calibration) -> Iterator[str]:
    """What a person should know at once."""
    card, first = done.card, done.found[0]
    failures = card.errors.labelled_failure
    yield (
        f"judge '{card.judge}' ({card.identity.shown}), card {card.id}: {card.labels.number} "
        f"labelled runs, {sum(1 for run in card.runs if run.label == 'failure')} of them failures"
    )
    rows = [("all tools", card.errors), *((name, tool.errors) for name, tool in card.tools.items())]
    widest = max(len(name) for name, _ in rows)
    for name, errors in rows:
        yield f"  {name:{widest}}  {_errors(errors)}"
    if failures.success + failures.failure == 0:
        yield "no judged run is labelled a failure: the false-success rate is not known"
    else:
        below = card.errors.false_success_below
        excluded = (
            ""
            if below is None or below == 1
            else (
                f"false-success rates above {below:.1%} are excluded "
                f"(one-sided {card.confidence_level:.0%}); "
            )
        )
        yield f"{excluded}{needed(card)}"
    if card.errors.false_failure.of == 0:
        yield "no judged run is labelled a success: the false-failure rate is not known"
    for kind, number in sorted(first.unjudged.items()):
        yield f"{number} not judged, {kind.value or 'in process'}; the first: {first.why[kind]}"
    if card.repeated is not None and card.repeated.unanimous.rate is not None:
        yield (
            f"asked {card.repeated.samples} times: the same answer each time on "
            f"{card.repeated.unanimous.in_words()} of the runs"
        )
    for sweep in card.sweeps:
        yield (f"  {sweep.pixel_budget} pixels, {sweep.max_views} views  {_errors(sweep.errors)}")
    if card.usage != Usage():
        yield _usage(card)
    if done.cannot_tell:
        yield f"{done.cannot_tell} runs of which people could not tell are in no rate"
    if done.unlabelled:
        yield f"{done.unlabelled} runs without a label were not looked at"


def needed(card: ErrorCard) -> str:
    """What a judge without a false success would need."""
    wanted = ", ".join(f"{trials_to_exclude(rate, card.confidence_level)}" for rate in RATES)
    rates = ", ".join(f"{100 * rate:g}" for rate in RATES)
    return f"0 false successes of {wanted} judged failures would exclude more than {rates} %"


def _errors(errors: Measured) -> str:
    return (
        f"false success {errors.false_success.in_words()}, false failure "
        f"{errors.false_failure.in_words()}, {errors.unjudged} not judged"
    )


def _usage(card: ErrorCard) -> str:
    usage = card.usage
    cost = f", {usage.cost:.2f} {card.currency}" if card.currency else ""
    return (
        f"{usage.calls} requests, {usage.input_tokens} tokens in, {usage.output_tokens} out{cost}"
    )


def _check_files(options: CalibrateOptions) -> None:
    # Before any work: a mistake should not be heard of after an hour.
    if options.out.suffix != ".json":
        raise CalibrationError(f"--out {options.out}: a file that ends in .json is wanted")
    if options.repeat < 1:
        raise CalibrationError(f"--repeat {options.repeat}: at least 1 is wanted")
    twice = sorted({str(bag) for bag in options.bags if options.bags.count(bag) > 1})
    if twice:
        raise CalibrationError(f"--bag {', '.join(twice)}: given more than once")


def _check_judged(judge: str, found: Answered) -> None:
    if all(item.answer == "unjudged" for item in found.answers):
        kind, reason = next(iter(found.why.items()))
        raise CalibrationError(
            f"judge '{judge}' judged none of {len(found.answers)} labelled runs; the first: "
            f"{kind.value or 'in process'}: {reason}"
        )
