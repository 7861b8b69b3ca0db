# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The judge that is measured, and the same one asked again or shown other pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from harness_ros.calibration.options import CalibrateOptions, CalibrationError
from harness_ros.config import EvaluationConfig, JudgeConfig
from harness_ros.judges.base import Judge
from harness_ros.judges.making import all_asked, make_judges
from harness_ros.judges.model.funds import Purse
from harness_ros.judges.model.settings import ModelSettings
from harness_ros.judges.settings import PanelSettings


@dataclass(frozen=True)
class Variant:
    """One way in which each run is judged."""

    judge: Judge
    sample: int = 1
    """Of how many times the judge as it is configured is asked, 0 for sweeps."""
    pixel_budget: int = 0
    max_views: int = 0


@contextmanager
def variants(config: EvaluationConfig, options: CalibrateOptions) -> Iterator[list[Variant]]:
    """All ways in which each run is to be judged; the judge as it is configured comes first.

    The judge is made without its own `abstain`: what it says before it abstains is measured.

    Raises:
        CalibrationError: the judge is unknown, or no model whose pictures could be others.
        HarnessError: it cannot be made.
    """
    name = options.judge
    if name not in config.judges:
        raise CalibrationError(
            f"--judge {name}: not under `judges` in {options.config}: {sorted(config.judges)}"
        )
    made = list(_made(config, options))
    asked = [judge for variant in made for judge in all_asked(variant.judge)]
    for judge in asked:
        if problem := getattr(judge, "prepare", lambda: "")():
            raise CalibrationError(f"judge '{judge.name}' cannot judge: {problem}")
    try:
        yield made
    finally:
        for judge in asked:
            with suppress(Exception):
                getattr(judge, "close", lambda: None)()


def _made(config: EvaluationConfig, options: CalibrateOptions) -> Iterator[Variant]:
    name, settings = options.judge, config.judges[options.judge]
    purse = Purse()  # a spending cap is of all variants together
    yield Variant(_judge(config, name, {}, purse))
    for number in range(2, options.repeat + 1):
        yield Variant(_judge(config, name, _again(settings, number), purse), number)
    if not options.sweep_pixels and not options.sweep_views:
        return
    if not isinstance(settings, ModelSettings):
        raise CalibrationError(
            f"--sweep-pixels and --sweep-views: judge '{name}' is of type '{settings.type}'; only "
            "a model is shown fewer or smaller pictures"
        )
    for budget in options.sweep_pixels:
        if budget != settings.pixel_budget:
            judge = _judge(config, name, {"pixel_budget": budget}, purse)
            yield Variant(judge, 0, budget, settings.max_views)
    for views in options.sweep_views:
        if views != settings.max_views:
            judge = _judge(config, name, {"max_views": views}, purse)
            yield Variant(judge, 0, settings.pixel_budget, views)


def _judge(config: EvaluationConfig, name: str, changes: Mapping[str, Any], purse: Purse) -> Judge:
    measured = config.judges[name].model_copy(update={"abstain": None, **changes})
    judges = {**config.judges, name: measured}
    return make_judges(judges, config.cards, [name], purse=purse)[name]


def _again(settings: JudgeConfig, number: int) -> dict[str, Any]:
    """What makes a further sample another one: its own recordings, and its own seed."""
    changes: dict[str, Any] = {}
    if isinstance(settings, ModelSettings):
        if settings.seed is not None:
            changes["seed"] = settings.seed + (number - 1) * settings.votes
        if settings.cassette is not None:
            folder = settings.cassette.folder / f"sample_{number}"
            changes["cassette"] = settings.cassette.model_copy(update={"folder": folder})
    return changes


def currency_of(config: EvaluationConfig, name: str) -> str:
    """In which the judge's costs are; empty where it has no prices, or several."""
    settings = config.judges[name]
    names: Sequence[str] = settings.members if isinstance(settings, PanelSettings) else [name]
    found = {
        prices.currency
        for judge in map(config.judges.__getitem__, names)
        if (prices := getattr(judge, "prices", None)) is not None
    }
    return found.pop() if len(found) == 1 else ""
