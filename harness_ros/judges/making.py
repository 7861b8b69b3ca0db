# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From what eval.yaml says of its judges to the judges: for the nodes and for grading alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from harness_ros.contract import HarnessError
from harness_ros.judges.abstaining import AbstainingJudge
from harness_ros.judges.base import Judge
from harness_ros.judges.card import ErrorCard, wanted_threshold
from harness_ros.judges.deterministic import DeterministicJudge
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
) -> dict[str, Judge]:
    """The judges by their keys.

    Args:
        settings: all that are under `judges` in eval.yaml.
        cards: error cards of those that have one; a threshold may come from them.
        wanted: keys of those to make; all by default. Members of a panel are made with it.

    Raises:
        JudgeError: a key is unknown, or a panel cannot be.
        PluginError: a plug-in cannot be loaded.
        CardError: a threshold is wanted that no card gives.
    """
    keys = settings if wanted is None else wanted
    return {key: _make(key, settings, cards or {}) for key in keys}


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


def _make(key: str, settings: Mapping[str, JudgeSettings], cards: Mapping[str, ErrorCard]) -> Judge:
    if key not in settings:
        raise JudgeError(f"judge '{key}' is not under `judges`: {sorted(settings)}")
    judge = _raw(key, settings, cards)
    threshold = wanted_threshold(key, settings[key], cards.get(key))
    return judge if threshold is None else AbstainingJudge(judge, threshold)


def _raw(key: str, settings: Mapping[str, JudgeSettings], cards: Mapping[str, ErrorCard]) -> Judge:
    """The judge as it is without a threshold of its own."""
    said = settings[key]
    if isinstance(said, DeterministicSettings):
        return DeterministicJudge()
    if isinstance(said, PluginSettings):
        return load_plugin(key, said)
    if isinstance(said, ModelSettings):
        # The client of the endpoint takes longer to import than all else here.
        from harness_ros.judges.model.judge import ModelJudge

        return ModelJudge(key, said)
    if not isinstance(said, PanelSettings):
        raise JudgeError(f"judges.{key}: nothing makes a judge of {type(said).__name__}")
    nested = [name for name in said.members if isinstance(settings.get(name), PanelSettings)]
    if nested:
        raise JudgeError(f"judges.{key}.members: '{nested[0]}' is a panel itself")
    members = {
        name: Member(
            _make(name, settings, cards), settings[name].timeout_s, settings[name].parallel
        )
        for name in dict.fromkeys(said.members)
        if name in settings
    }
    unknown = set(said.members) - members.keys()
    if unknown:
        raise JudgeError(f"judges.{key}.members: {sorted(unknown)} not under `judges`")
    return PanelJudge(key, said.rule, said.timeout_s, members)
