# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From what eval.yaml says of its judges to the judges: for the nodes and for grading alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from harness_ros.contract import HarnessError, Observation
from harness_ros.judges.abstaining import AbstainingJudge
from harness_ros.judges.base import Judge
from harness_ros.judges.card import ErrorCard, wanted_threshold
from harness_ros.judges.checks import Observed
from harness_ros.judges.deterministic import DeterministicJudge
from harness_ros.judges.model.funds import Purse
from harness_ros.judges.model.settings import ModelSettings
from harness_ros.judges.panel import Member, PanelJudge
from harness_ros.judges.plugin import load_plugin
from harness_ros.judges.settings import (
    DeterministicSettings,
    JudgeSettings,
    PanelSettings,
    PluginSettings,
)


class JudgeError(HarnessError):
    """A judge that cannot be made of what eval.yaml says; the text says why."""


def make_judges(
    settings: Mapping[str, JudgeSettings],
    cards: Mapping[str, ErrorCard] | None = None,
    wanted: Iterable[str] | None = None,
    observed: Callable[[Observation], Observed] = Observed,
    purse: Purse | None = None,
) -> dict[str, Judge]:
    """The judges by their keys.

    Args:
        settings: all that are under `judges` in eval.yaml.
        cards: error cards of those that have one; a threshold may come from them.
        wanted: keys of those to make; all by default. Members of a panel are made with it.
        observed: as DeterministicJudge takes it.
        purse: what spending caps are of; by default of the judges that are made here.

    Raises:
        JudgeError: a key is unknown, or a panel cannot be.
        PluginError: a plug-in cannot be loaded.
        CardError: a threshold is wanted that no card gives.
    """
    maker = _Maker(settings, cards or {}, observed, purse or Purse())
    return {key: maker.make(key) for key in (settings if wanted is None else wanted)}


def with_members(settings: Mapping[str, JudgeSettings], keys: Iterable[str]) -> list[str]:
    """The keys and those of the members of panels among them, each once."""
    found: dict[str, None] = {}
    for key in keys:
        found[key] = None
        judge = settings.get(key)
        found.update(dict.fromkeys(judge.members if isinstance(judge, PanelSettings) else ()))
    return list(found)


def all_asked(judge: Judge) -> Iterator[Judge]:
    """The judge, and those that it asks in turn."""
    yield judge
    for other in getattr(judge, "asks", ()):
        yield from all_asked(other)


@dataclass(frozen=True)
class _Maker:
    settings: Mapping[str, JudgeSettings]
    cards: Mapping[str, ErrorCard]
    observed: Callable[[Observation], Observed]
    purse: Purse

    def make(self, key: str) -> Judge:
        if key not in self.settings:
            raise JudgeError(f"judge '{key}' is not under `judges`: {sorted(self.settings)}")
        said = self.settings[key]
        judge = self._raw(key, said)
        threshold = wanted_threshold(key, said, self.cards.get(key))
        return judge if threshold is None else AbstainingJudge(judge, threshold)

    def _raw(self, key: str, said: JudgeSettings) -> Judge:
        """The judge as it is without a threshold of its own."""
        if isinstance(said, DeterministicSettings):
            return DeterministicJudge(self.observed)
        if isinstance(said, PluginSettings):
            return load_plugin(key, said)
        if isinstance(said, ModelSettings):
            # The client of the endpoint takes longer to import than all else here.
            from harness_ros.judges.model.judge import ModelJudge

            return ModelJudge(key, said, self.purse.of(key))
        if isinstance(said, PanelSettings):
            return PanelJudge(key, said.rule, said.timeout_s, self._members(key, said))
        raise JudgeError(f"judges.{key}: nothing makes a judge of {type(said).__name__}")

    def _members(self, key: str, said: PanelSettings) -> dict[str, Member]:
        settings = self.settings
        nested = [name for name in said.members if isinstance(settings.get(name), PanelSettings)]
        if nested:
            raise JudgeError(f"judges.{key}.members: '{nested[0]}' is a panel itself")
        unknown = set(said.members) - settings.keys()
        if unknown:
            raise JudgeError(f"judges.{key}.members: {sorted(unknown)} not under `judges`")
        return {
            name: Member(self.make(name), settings[name].timeout_s, settings[name].parallel)
            for name in dict.fromkeys(said.members)
        }
