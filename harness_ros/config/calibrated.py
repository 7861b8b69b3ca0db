# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is known of the errors of the judges in use, in words for logs and diagnostics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from harness_ros.config.evaluation import EvaluationConfig
from harness_ros.judges.card import CardState, ErrorCard
from harness_ros.judges.settings import DeterministicSettings

NOBODY = "nobody has measured how often it is wrong; see docs/calibration.md"


class JudgeState(NamedTuple):
    """What is known of the errors of one judge on the tools that ask it."""

    card: str
    """Id of its card and for which tools it holds; or that there is none, or why it does not."""
    stale: bool
    uncalibrated: bool
    """On one of its tools at least."""
    deterministic: bool
    """It measures a criterion that can be read: not to have a card is no surprise."""
    errors: str = ""
    """Rates of its card."""

    @property
    def words(self) -> str:
        """A line for the log."""
        return "; ".join(filter(None, (self.card, self.errors)))


def judge_states(config: EvaluationConfig) -> dict[str, JudgeState]:
    """The judges that tools ask, by name."""
    by_judge: dict[str, dict[str, CardState]] = {}
    for name, tool in config.tools.items():
        by_judge.setdefault(tool.judge, {})[name] = config.card_states[name]
    return {
        judge: _state(config, judge, states)
        for judge, states in by_judge.items()
        if judge in config.judges
    }


def _state(config: EvaluationConfig, judge: str, states: Mapping[str, CardState]) -> JudgeState:
    card = config.cards.get(judge)
    deterministic = isinstance(config.judges[judge], DeterministicSettings)
    if card is None:
        return JudgeState(f"uncalibrated: {NOBODY}", False, True, deterministic)
    stale = {name: state.stale for name, state in states.items() if state.stale}
    unknown = [name for name, state in states.items() if not state.card and not state.stale]
    said = [f"stale for {name}: {why}" for name, why in stale.items()]
    if len(stale) == len(states) and len(set(stale.values())) == 1:
        said = [f"stale: {next(iter(stale.values()))}"]
    if unknown:
        said.append(f"uncalibrated for {', '.join(unknown)}: no run of it is in card {card.id}")
    if len(stale) + len(unknown) < len(states):
        said.insert(0, f"card {card.id}")
    return JudgeState(
        "; ".join(said), bool(stale), bool(unknown), deterministic, _errors(config, judge, card)
    )


def _errors(config: EvaluationConfig, judge: str, card: ErrorCard) -> str:
    errors = card.measured(threshold=config.threshold(judge))
    return (
        f"of {card.made}, {card.labels.number} labels: false-success rate "
        f"{errors.false_success.in_words(counts=False)}, false-failure rate "
        f"{errors.false_failure.in_words(counts=False)}"
    )
