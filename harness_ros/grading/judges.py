# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is known of the judges whose verdicts are graded, and rates without their errors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from harness_ros.config import EvaluationConfig
from harness_ros.contract import Record
from harness_ros.grading.rates import Corrected, JudgeErrors, corrected_rate
from harness_ros.grading.row import GradedRun
from harness_ros.grading.trials import Trial
from harness_ros.judges.answers import Measured
from harness_ros.judges.card import STALE, UNCALIBRATED, ErrorCard
from harness_ros.statistics import Rate, rate_of


@dataclass(frozen=True)
class KnownJudge:
    """A judge with an error card."""

    card: ErrorCard
    threshold: float | None = None
    """Confidence below which it abstains."""

    def errors(self, tools: Collection[str] | None = None) -> Measured:
        """How often it errs on some tools of its card, by default on all, as it is configured."""
        return self.card.measured(tools, self.threshold)


class JudgeResults(Record):
    """What is known of a judge whose verdicts these are."""

    card: str
    """Id of its error card; empty where it has none."""
    made: str = ""
    labels: int = 0
    abstains_below: float | None = None
    false_success_rate: Rate | None = None
    """Of its card, over all tools there; at the confidence of the card."""
    false_failure_rate: Rate | None = None
    uncalibrated: tuple[str, ...] = ()
    """Tools on which nobody has measured how often it is wrong."""
    stale: dict[str, str] = Field(default_factory=dict)
    """Why the card does not hold any more, by tool."""
    corrected: Corrected | None = None
    """Of its calls to which the card applies; None where it applies to none."""


def known_judges(config: EvaluationConfig) -> dict[str, KnownJudge]:
    """The judges of a configuration that have a card, by name."""
    return {name: KnownJudge(card, config.threshold(name)) for name, card in config.cards.items()}


def judge_results(
    runs: Iterable[GradedRun],
    judged: Sequence[Trial],
    known: Mapping[str, KnownJudge],
    confidence: float,
) -> dict[str, JudgeResults]:
    """The judges that were asked, by name.

    Args:
        judged: calls that somebody judged.
        known: judges with a card.
    """
    states: dict[str, dict[str, str]] = {}
    for run in runs:
        if run.error_card:
            states.setdefault(run.judge, {})[run.tool_name] = run.error_card
    found = {}
    for name, tools in sorted(states.items()):
        own = [trial for trial in judged if trial.last.judge == name]
        found[name] = _result(tools, own, known.get(name), confidence)
    return found


def _result(
    states: Mapping[str, str],
    judged: Sequence[Trial],
    known: KnownJudge | None,
    confidence: float,
) -> JudgeResults:
    said = JudgeResults(
        card="",
        uncalibrated=tuple(sorted(tool for tool, state in states.items() if state == UNCALIBRATED)),
        stale={
            tool: state.removeprefix(STALE)
            for tool, state in sorted(states.items())
            if state.startswith(STALE)
        },
    )
    if known is None:
        return said
    errors = known.errors()
    return said.model_copy(
        update={
            "card": known.card.id,
            "made": known.card.made.isoformat(),
            "labels": known.card.labels.number,
            "abstains_below": known.threshold,
            "false_success_rate": errors.false_success,
            "false_failure_rate": errors.false_failure,
            "corrected": corrected_by_cards(judged, [known], confidence),
        }
    )


def corrected_by_cards(
    judged: Sequence[Trial], known: Iterable[KnownJudge], confidence: float
) -> Corrected | None:
    """The rate of success without the errors of the judge; None where no card applies.

    The errors are those on the tools that are among these calls.
    """
    by_id = {judge.card.id: judge for judge in known}
    applied = sorted({trial.last.error_card for trial in judged} & by_id.keys())
    if not applied:
        return None
    covered = [trial for trial in judged if trial.last.error_card in applied]
    verdicts = rate_of(sum(trial.success for trial in covered), len(covered), confidence)
    others = len(judged) - len(covered)
    if len(applied) > 1:
        return Corrected(
            card=", ".join(applied),
            verdicts=verdicts,
            other_cards=others,
            not_estimable="several judges with a card of their own: see each of them",
        )
    measured = by_id[applied[0]].errors({trial.last.tool_name for trial in covered})
    errors = JudgeErrors(
        name=applied[0],
        false_success=(measured.false_success.count, measured.false_success.of),
        false_failure=(measured.false_failure.count, measured.false_failure.of),
    )
    return corrected_rate(errors, verdicts, others, confidence)
