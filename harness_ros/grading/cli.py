# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`harness-ros grade` from its options to its exit code and the lines that it prints."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness_ros.bag.waiting import console, give_up
from harness_ros.grading.command import grade_bags
from harness_ros.grading.finish import finish
from harness_ros.grading.labels import read_labels
from harness_ros.grading.options import GradeOptions
from harness_ros.grading.results import alone_in, make_folder
from harness_ros.grading.summary import Summary
from harness_ros.grading.work import as_worker
from harness_ros.statistics import Rate


def grade_command(options: GradeOptions) -> int:
    """Grades bags and prints the summary.

    Returns:
        0; 1 where the success rate is below `fail_under`; 2 where no run could be graded.

    Raises:
        HarnessError: the configuration, the labels or the file of runs cannot be used.
    """
    as_worker()
    # Before any work: a mistake in them should not be heard of after an hour.
    labels = None if options.labels is None else read_labels(options.labels)
    if options.junit is not None:
        make_folder(options.junit.parent)
    bags = options.bags
    title = bags[0].name if len(bags) == 1 else f"{len(bags)} bags"
    with alone_in(options.out):
        grading = grade_bags(options, console())
        summary = finish(grading, options.out, title, labels, options.junit)
    _say(lines(summary, options.out))
    if not grading.rows:
        return 2
    rate = summary.overall.success.rate
    return int(options.fail_under is not None and (rate is None or rate < options.fail_under))


def _say(said: Iterable[str]) -> None:
    """Prints lines; whether anybody reads them changes nothing in what was graded."""
    try:
        for line in said:
            print(line)
        sys.stdout.flush()
    except OSError:
        give_up(sys.stdout)


def lines(summary: Summary, out: Path) -> Iterator[str]:
    """What a person should know at once."""
    overall = summary.overall
    yield (
        f"{overall.runs} runs, {overall.trials} calls: success {_rate(overall.success)}, "
        f"{overall.unjudged_trials} that nobody could judge, {overall.cancelled_trials} cancelled"
    )
    for name, results in sorted(summary.by_tool.items()):
        yield f"  {name}: {_rate(results.success)}, {results.unjudged_trials} not judged"
    kinds = {kind: number for kind, number in overall.runs_by_kind.items() if number}
    if kinds:
        yield "  kinds: " + ", ".join(f"{kind} {number}" for kind, number in sorted(kinds.items()))
    agreeing = summary.recorded.agreeing
    if agreeing.of:
        word = "agree" if agreeing.count == agreeing.of else "agree, the others are in the report"
        yield f"recorded verdicts: {agreeing.count} of {agreeing.of} {word}"
    if summary.labels is not None:
        confusion = summary.labels.overall
        yield (
            f"labels: false-success rate {_rate(confusion.false_success_rate)}, "
            f"false-failure rate {_rate(confusion.false_failure_rate)}"
        )
    yield from _judges(summary)
    if summary.problems:
        yield f"{len(summary.problems)} problems with bags, see the report"
    yield str(out / "report.html")


def _judges(summary: Summary) -> Iterator[str]:
    for name, judge in summary.judges.items():
        if judge.false_success_rate is not None:
            yield (
                f"judge {name}, card {judge.card}: false-success rate "
                f"{_rate(judge.false_success_rate)}"
            )
        for tool, why in judge.stale.items():
            yield f"judge {name}, {tool}: its error card is stale: {why}"
        if judge.uncalibrated:
            yield f"judge {name} is uncalibrated on {', '.join(judge.uncalibrated)}"
        corrected = judge.corrected
        if corrected is not None and corrected.rate is not None:
            yield (
                f"  success without its errors: {corrected.rate:.1%} "
                f"({corrected.low:.1%} to {corrected.high:.1%})"
            )


def _rate(rate: Rate) -> str:
    return rate.in_words() if rate.of else f"{rate.in_words()} (0 judged)"
