# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`harness-ros grade` from its options to its exit code and the lines that it prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness_ros.bag.run_sources import ActionTool
from harness_ros.grading.command import GradeOptions, console, grade_bags
from harness_ros.grading.finish import finish
from harness_ros.grading.labels import read_labels
from harness_ros.grading.pool import default_workers
from harness_ros.grading.rates import Rate
from harness_ros.grading.summary import Summary
from harness_ros.grading.work import Task


def grade_command(
    *,
    bags: Sequence[Path],
    config: Path,
    out: Path,
    labels: Path | None,
    workers: int,
    ray: str | None,
    resume: bool,
    junit: Path | None,
    fail_under: float | None,
    clips: bool,
    runs: Path | None,
    tools: Sequence[str],
    namespace: str,
    definitions: Sequence[Path],
) -> int:
    """Grades bags and prints the summary.

    Returns:
        0; 1 where the success rate is below `fail_under`; 2 where no run could be graded.

    Raises:
        HarnessError: the configuration, the labels or the file of runs cannot be used.
    """
    # Before any work: a mistake in them should not be heard of after an hour.
    known_labels = None if labels is None else read_labels(labels)
    task = Task(
        config=config,
        views=out / "views",
        namespace=namespace,
        tools=tuple(ActionTool.parse(text) for text in tools),
        runs=runs,
        definitions=tuple(definitions),
        clips=clips,
    )
    options = GradeOptions(
        bags=tuple(str(bag) for bag in bags),
        task=task,
        out=out,
        workers=workers or default_workers(),
        ray_address=ray,
        resume=resume,
    )
    grading = grade_bags(options, console())
    title = bags[0].name if len(bags) == 1 else f"{len(bags)} bags"
    summary = finish(grading, out, title, known_labels, junit)
    for line in lines(summary, out):
        print(line)
    if not grading.rows:
        return 2
    rate = summary.overall.success.rate
    return int(fail_under is not None and (rate is None or rate < fail_under))


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
    if summary.problems:
        yield f"{len(summary.problems)} problems with bags, see the report"
    yield str(out / "report.html")


def _rate(rate: Rate) -> str:
    if rate.rate is None or rate.low is None or rate.high is None:
        return "not known (0 judged)"
    return f"{rate.rate:.1%} ({rate.count} of {rate.of}; {rate.low:.1%} to {rate.high:.1%})"
