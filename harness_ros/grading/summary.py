# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Summary: what all graded runs together say; summary.json.

A run is one execution of a tool or of one segment. A trial is a call, all runs of one call_id, and
its outcome is the verdict of its last segment. Rates of success are over judged trials: exit code
0 or 1. What nobody judged is counted beside and is in no rate.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum
from statistics import fmean
from typing import Any

from pydantic import Field

from harness_ros.contract import ExitCode, Kind, Record, Status, Usage
from harness_ros.grading.comparison import (
    LabelComparison,
    RecordedAgreement,
    compare_labels,
    compare_recorded,
)
from harness_ros.grading.judges import (
    JudgeResults,
    KnownJudge,
    corrected_by_cards,
    judge_results,
)
from harness_ros.grading.labels import Label
from harness_ros.grading.rates import Corrected, JudgeErrors, corrected_rate
from harness_ros.grading.row import BagProblem, GradedRun
from harness_ros.grading.trials import Trial, default_task, distinct, trials_of
from harness_ros.statistics import (
    CONFIDENCE,
    Rate,
    clustered_mean,
    pass_at_k,
    pass_hat_k,
    rate_of,
)

DECIMALS = 6
"""Of every number in summary.json: the last bits may differ between machines."""


class PassK(Record):
    """Of k trials of a task, averaged over the tasks."""

    k: int
    pass_at_k: float
    """Probability that at least one is a success."""
    pass_hat_k: float
    """Probability that all are (pass^k)."""


class Repeated(Record):
    """Tasks with several judged trials."""

    tasks: int
    tasks_with_one_trial: int
    """They are left out of `passes`."""
    passes: tuple[PassK, ...]
    """For k from 1 to the fewest judged trials of such a task."""


class Results(Record):
    """Runs and trials of one tool, or of all."""

    runs: int
    runs_by_status: dict[str, int]
    runs_by_kind: dict[str, int]
    """Of runs that have a kind: those without were judged, or are in process."""
    trials: int
    unjudged_trials: int
    """Exit code 2; in no rate."""
    cancelled_trials: int
    """Exit code 3; in no rate."""
    success: Rate
    """Of the judged trials, each as if it were independent of the others."""
    tasks: int
    """With a judged trial."""
    standard_error: float | None
    """Of the rate, robust against trials of one task being alike; None with one task."""
    standard_error_if_independent: float | None
    """Clearly smaller than `standard_error`: the interval of `success` is too short as well."""
    repeated: Repeated | None
    """None where no task has several judged trials."""
    corrected: Corrected | None
    """None without an error card."""
    usage: Usage | None = None
    """What the judges' answers took, all runs together; None where nothing is counted."""


class Summary(Record):
    """What all graded runs together say; it does not depend on their order."""

    confidence: float
    """Of every interval and bound."""
    overall: Results
    by_tool: dict[str, Results]
    recorded: RecordedAgreement
    labels: LabelComparison | None
    """None where no labels were given."""
    card: JudgeErrors | None
    """As it was given by hand; those of judges are under `judges`."""
    judges: dict[str, JudgeResults] = Field(default_factory=dict)
    """Judges that were asked: their error cards, and where they have none that holds."""
    repeated_run_ids: tuple[str, ...]
    """Runs that are in several bags; each is counted once."""
    problems: tuple[BagProblem, ...]

    def to_json(self) -> str:
        """The text of summary.json: sorted keys, numbers rounded to DECIMALS, one line end."""
        fields = _rounded(self.model_dump(mode="json"))
        return json.dumps(fields, sort_keys=True, ensure_ascii=False, indent=2) + "\n"


def summarize(
    rows: Iterable[GradedRun],
    problems: Iterable[BagProblem] = (),
    labels: Mapping[str, Label] | None = None,
    *,
    task_of: Callable[[GradedRun], str] | None = None,
    card: JudgeErrors | None = None,
    known: Mapping[str, KnownJudge] | None = None,
    confidence: float = CONFIDENCE,
) -> Summary:
    """What the runs say together; None where they say nothing.

    Args:
        rows: in any order; a run that is in several bags counts once.
        problems: of the bags, in any order.
        labels: what people say of the runs, by run_id (`read_labels`).
        task_of: the task of a trial, asked of its last run. Default: the task that the labels
            give any of its runs, else tool and arguments.
        card: errors of the judge, counted on other runs. Where runs name a card, it is applied to
            those that name this one; where none does, to all.
        known: judges with an error card of their own, by name; where `card` is given, it alone
            corrects.
        confidence: of every interval and bound.

    Raises:
        ValueError: confidence outside (0, 1).
    """
    runs, repeated = distinct(rows)
    task = _tasks(labels or {}, task_of)
    trials = trials_of(runs)
    applies = _applies(runs, card)

    def results(tool: str | None) -> Results:
        return _results(
            [run for run in runs if tool in (None, run.tool_name)],
            [trial for trial in trials if tool in (None, trial.last.tool_name)],
            task,
            lambda judged: (
                corrected_by_cards(judged, known.values(), confidence)
                if known and card is None
                else _corrected(judged, card, applies, confidence)
            ),
            confidence,
        )

    return Summary(
        confidence=confidence,
        overall=results(None),
        by_tool={tool: results(tool) for tool in sorted({run.tool_name for run in runs})},
        recorded=compare_recorded(runs, confidence),
        labels=None if labels is None else compare_labels(runs, labels, confidence),
        card=card,
        judges=judge_results(
            runs, [trial for trial in trials if trial.judged], known or {}, confidence
        ),
        repeated_run_ids=tuple(repeated),
        problems=tuple(sorted(problems, key=lambda item: (item.bag, item.problem, item.fatal))),
    )


def _results(
    runs: Sequence[GradedRun],
    trials: Sequence[Trial],
    task: Callable[[Trial], str],
    correct: Callable[[Sequence[Trial]], Corrected | None],
    confidence: float,
) -> Results:
    judged = [trial for trial in trials if trial.judged]
    codes = Counter(trial.last.exit_code for trial in trials)
    by_task: dict[str, list[bool]] = defaultdict(list)
    for trial in judged:
        by_task[task(trial)].append(trial.success)
    mean = clustered_mean(by_task) if judged else None
    statuses = Counter(run.status for run in runs)
    kinds = Counter(run.kind.value for run in runs if run.kind is not Kind.JUDGED)
    return Results(
        runs=len(runs),
        runs_by_status={status.name.lower(): statuses[status] for status in Status},
        runs_by_kind=dict(kinds),
        trials=len(trials),
        unjudged_trials=codes[ExitCode.UNJUDGED],
        cancelled_trials=codes[ExitCode.CANCELLED],
        success=rate_of(codes[ExitCode.SUCCESS], len(judged), confidence),
        tasks=len(by_task),
        standard_error=mean and mean.standard_error,
        standard_error_if_independent=mean and mean.standard_error_if_independent,
        repeated=_repeated([(len(found), sum(found)) for found in by_task.values()]),
        corrected=correct(judged),
        usage=_usage(runs),
    )


def _usage(runs: Sequence[GradedRun]) -> Usage | None:
    """The sum, the same in whatever order the runs come."""
    total = sum((run.usage for run in runs), Usage())
    if total == Usage():
        return None
    return total.model_copy(update={"cost": fsum(run.usage.cost for run in runs)})


def _repeated(tasks: Sequence[tuple[int, int]]) -> Repeated | None:
    """Args: judged trials and successes of each task."""
    several = sorted(task for task in tasks if task[0] > 1)
    if not several:
        return None
    return Repeated(
        tasks=len(several),
        tasks_with_one_trial=len(tasks) - len(several),
        passes=tuple(
            PassK(
                k=k,
                pass_at_k=fmean(pass_at_k(*task, k) for task in several),
                pass_hat_k=fmean(pass_hat_k(*task, k) for task in several),
            )
            for k in range(1, several[0][0] + 1)
        ),
    )


def _tasks(
    labels: Mapping[str, Label], task_of: Callable[[GradedRun], str] | None
) -> Callable[[Trial], str]:
    def task(trial: Trial) -> str:
        if task_of is not None:
            return task_of(trial.last)
        named = (labels[run.run_id].task for run in trial.runs[::-1] if run.run_id in labels)
        return next(filter(None, named), "") or default_task(trial.last)

    return task


def _applies(runs: Sequence[GradedRun], card: JudgeErrors | None) -> Callable[[Trial], bool]:
    # A card that is given by hand, for runs whose judge knows none.
    if not any(run.error_card for run in runs):
        return lambda _: True
    return lambda trial: card is not None and trial.last.error_card == card.name


def _corrected(
    judged: Sequence[Trial],
    card: JudgeErrors | None,
    applies: Callable[[Trial], bool],
    confidence: float,
) -> Corrected | None:
    if card is None:
        return None
    covered = [trial for trial in judged if applies(trial)]
    verdicts = rate_of(sum(trial.success for trial in covered), len(covered), confidence)
    return corrected_rate(card, verdicts, len(judged) - len(covered), confidence)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DECIMALS) + 0.0
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return value
