# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From a judge's answers to its error card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from itertools import combinations

from harness_ros.calibration.judging import Answered
from harness_ros.calibration.variants import currency_of
from harness_ros.config import EvaluationConfig
from harness_ros.contract import Usage
from harness_ros.judges.answers import DECIMALS, LabelledAnswer, curve, measured, rounded_rate
from harness_ros.judges.card import ErrorCard, Repeated, Sweep, ToolCard, label_set
from harness_ros.judges.identity import identity
from harness_ros.judges.model.settings import ModelSettings
from harness_ros.statistics import CONFIDENCE


def card_of(
    config: EvaluationConfig, judge: str, found: Sequence[Answered], made: date
) -> ErrorCard:
    """The card of a judge.

    Args:
        found: the answers in each variant; those of the judge as it is configured come first.
    """
    answers = found[0].answers
    who = identity(judge, config.judges)
    samples = [item for item in found if item.variant.sample]
    sweeps = [item for item in found if not item.variant.sample]
    return ErrorCard(
        judge=judge,
        identity=who,
        made=made,
        labels=label_set(answers),
        errors=measured(answers),
        tools={
            tool: ToolCard(
                basis=config.basis(tool, who),
                errors=measured(item for item in answers if item.tool == tool),
            )
            for tool in sorted({item.tool for item in answers})
        },
        curve=curve(answers),
        repeated=repeated(samples) if len(samples) > 1 else None,
        sweeps=tuple(_sweeps(config, judge, found[0], sweeps)) if sweeps else (),
        usage=sum((item.usage for item in found), Usage()),
        currency=currency_of(config, judge),
        runs=tuple(answers),
    )


def repeated(samples: Sequence[Answered]) -> Repeated:
    """How far samples agree on the runs that there was something to see of."""
    said = [
        [sample.answers[at].answer for sample in samples]
        for at, seen in enumerate(samples[0].seen)
        if seen
    ]
    unanimous = sum(len(set(answers)) == 1 for answers in said)
    pairwise, kappa = _agreement(said)
    return Repeated(
        samples=len(samples),
        unanimous=rounded_rate(unanimous, len(said), CONFIDENCE),
        pairwise=pairwise,
        kappa=kappa,
    )


def _agreement(said: Sequence[Sequence[str]]) -> tuple[float | None, float | None]:
    """Agreement of pairs, and Fleiss' kappa (1971, Psychological Bulletin 76:378)."""
    if not said:
        return None, None
    pairs = [one == other for answers in said for one, other in combinations(answers, 2)]
    agreeing = sum(pairs) / len(pairs)
    counts = Counter(answer for answers in said for answer in answers)
    total = sum(counts.values())
    by_chance = sum((count / total) ** 2 for count in counts.values())
    if len(counts) == 1:
        return round(agreeing, DECIMALS), None
    return round(agreeing, DECIMALS), round((agreeing - by_chance) / (1 - by_chance), DECIMALS)


def _sweeps(
    config: EvaluationConfig, judge: str, configured: Answered, sweeps: Sequence[Answered]
) -> list[Sweep]:
    settings = config.judges[judge]
    assert isinstance(settings, ModelSettings)
    first = _sweep(settings.pixel_budget, settings.max_views, configured)
    return [
        first,
        *(_sweep(item.variant.pixel_budget, item.variant.max_views, item) for item in sweeps),
    ]


def _sweep(pixel_budget: int, max_views: int, item: Answered) -> Sweep:
    answers: Sequence[LabelledAnswer] = item.answers
    return Sweep(
        pixel_budget=pixel_budget, max_views=max_views, errors=measured(answers), usage=item.usage
    )
