# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with the judges in eval.yaml, and between tools and their judges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness_ros.config.evaluation import EvaluationConfig
from harness_ros.config.sections import JudgeConfig, ToolConfig
from harness_ros.contract import Region
from harness_ros.judges.card import CardError, load_card, wanted_threshold
from harness_ros.judges.model.settings import ModelSettings
from harness_ros.judges.settings import DeterministicSettings, PanelSettings


def judge_problems(config: EvaluationConfig) -> Iterator[str]:
    """What is wrong under `judges`, and what tools lack for theirs; one line each."""
    for key, judge in config.judges.items():
        where = f"judges.{key}"
        yield from _abstain_problems(where, judge)
        yield from _card_problems(where, key, judge)
        if isinstance(judge, PanelSettings):
            yield from _panel_problems(config, where, judge)
        if isinstance(judge, ModelSettings):
            for name in dict.fromkeys(judge.views):
                if name not in config.cameras:
                    yield (
                        f"{where}.views: '{name}' is not under `cameras`: {sorted(config.cameras)}"
                    )
                elif judge.views.count(name) > 1:
                    yield f"{where}.views: '{name}' is listed more than once"
    yield from _cassette_problems(config)
    yield from _unseen_views(config)
    for name, tool in config.tools.items():
        yield from _tool_problems(config, f"tools.{name}", tool)


def _cassette_problems(config: EvaluationConfig) -> Iterator[str]:
    """A recorded answer tells its model, and not the endpoint: one could be taken for another's."""
    first: dict[tuple[Path, str], tuple[str, str]] = {}
    for key, judge in config.judges.items():
        if not isinstance(judge, ModelSettings) or judge.cassette is None:
            continue
        recorded = (judge.cassette.folder, judge.model)
        other, base_url = first.setdefault(recorded, (key, judge.base_url))
        if base_url != judge.base_url:
            yield (
                f"judges.{key}.cassette.folder: it holds the answers of {judge.model} for "
                f"judges.{other} too, which asks another base_url; a folder of its own is wanted"
            )


def asked(config: EvaluationConfig, key: str) -> dict[str, JudgeConfig]:
    """The judge of this key, or the members of a panel; those that there are."""
    judge = config.judges.get(key)
    keys = judge.members if isinstance(judge, PanelSettings) else (key,)
    return {name: config.judges[name] for name in keys if name in config.judges}


def _abstain_problems(where: str, judge: JudgeConfig) -> Iterator[str]:
    if judge.abstain is None:
        return
    if isinstance(judge, DeterministicSettings):
        yield (
            f"{where}.abstain: a deterministic judge has no confidence; what it cannot tell is "
            "inconclusive anyway"
        )
    elif judge.abstain.false_success is not None and judge.error_card is None:
        yield (
            f"{where}.abstain.false_success: the threshold for it comes from the error card, and "
            f"{where}.error_card is missing"
        )


def _card_problems(where: str, key: str, judge: JudgeConfig) -> Iterator[str]:
    if judge.error_card is None:
        return
    try:
        card = load_card(judge.error_card)
    except CardError as error:
        yield f"{where}.error_card: {error}"
        return
    try:
        wanted_threshold(key, judge, card)
    except CardError as error:
        yield f"{where}.abstain.false_success: {error}"


def _panel_problems(config: EvaluationConfig, where: str, panel: PanelSettings) -> Iterator[str]:
    others = sorted(
        key for key, judge in config.judges.items() if not isinstance(judge, PanelSettings)
    )
    for name in dict.fromkeys(panel.members):
        member = config.judges.get(name)
        if member is None:
            yield f"{where}.members: '{name}' is not under `judges`: {sorted(config.judges)}"
        elif isinstance(member, PanelSettings):
            yield f"{where}.members: '{name}' is a panel itself; allowed are {others}"
        elif panel.members.count(name) > 1:
            yield f"{where}.members: '{name}' is listed more than once"
        elif panel.timeout_s < member.timeout_s:
            yield (
                f"{where}.timeout_s: {panel.timeout_s:g} is less than that of its member '{name}', "
                f"{member.timeout_s:g}"
            )


def _unseen_views(config: EvaluationConfig) -> Iterator[str]:
    """Views that a model is to be shown and that no tool which asks it has."""
    asking: dict[str, set[str]] = {}
    for tool in config.tools.values():
        for key in asked(config, tool.judge):
            asking.setdefault(key, set()).update(tool.cameras)
    for key, cameras in asking.items():
        judge = config.judges[key]
        for name in judge.views if isinstance(judge, ModelSettings) else ():
            if name in config.cameras and name not in cameras:
                yield (
                    f"judges.{key}.views: '{name}' is a camera of no tool that asks this judge; "
                    f"theirs are {sorted(cameras)}"
                )


def _tool_problems(config: EvaluationConfig, where: str, tool: ToolConfig) -> Iterator[str]:
    if tool.judge not in config.judges:
        yield f"{where}.judge: '{tool.judge}' is not under `judges`: {sorted(config.judges)}"
    for key, judge in asked(config, tool.judge).items():
        of_panel = "" if key == tool.judge else f" of panel '{tool.judge}'"
        if isinstance(judge, DeterministicSettings) and tool.criterion is None:
            yield f"{where}.criterion: missing, and judge '{key}'{of_panel} is deterministic"
        if isinstance(judge, ModelSettings):
            shown = [name for name in tool.cameras if not judge.views or name in judge.views]
            if not shown:
                wanted = f"one of {list(judge.views)} is wanted" if judge.views else "one is wanted"
                yield (
                    f"{where}.cameras: judge '{key}'{of_panel} is a model and is shown views: "
                    f"{wanted}, these are {list(tool.cameras)}"
                )
    for view, region in tool.outcome_regions.items():
        if view not in tool.cameras:
            yield (
                f"{where}.outcome_regions: '{view}' is not in {where}.cameras: {list(tool.cameras)}"
            )
        if not _is_part(region):
            yield (
                f"{where}.outcome_regions.{view}: {list(region)} is no part of a view: [left, top, "
                "right, bottom], each from 0 to 1, left less than right and top less than bottom"
            )


def _is_part(region: Region) -> bool:
    left, top, right, bottom = region
    return 0 <= left < right <= 1 and 0 <= top < bottom <= 1
