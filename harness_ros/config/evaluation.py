# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All of eval.yaml, and what it says of a run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from pydantic import Field, JsonValue

from harness_ros import placeholders
from harness_ros.config.base import Name, Section
from harness_ros.config.scene import SceneConfig, Thing
from harness_ros.config.sections import (
    ArgumentError,
    CaptureConfig,
    JudgeConfig,
    LedgerConfig,
    ToolConfig,
)
from harness_ros.config.sidecar import SidecarConfig
from harness_ros.config.sources import CameraConfig, ClearanceConfig, SignalConfig
from harness_ros.contract import Arguments
from harness_ros.judges.basis import ToolBasis, basis_of
from harness_ros.judges.card import CardState, ErrorCard, load_card, wanted_threshold
from harness_ros.judges.identity import JudgeIdentity, identity
from harness_ros.scene.effects import Effects


class EvaluationConfig(Section):
    """All of eval.yaml."""

    version: Literal[1]
    """Of the format of this file."""
    cameras: dict[Name, CameraConfig] = Field(default_factory=dict)
    """Where images come from, by the names that tools and criteria use."""
    signals: dict[Name, SignalConfig] = Field(default_factory=dict)
    """Where scalars come from: a gripper's width, a force, a pressure."""
    clearance: ClearanceConfig = ClearanceConfig()
    """Where the distances from the base to the nearest obstacles come from."""
    capture: CaptureConfig = CaptureConfig()
    """Which frames and signals are evidence of a run."""
    judges: dict[Name, JudgeConfig]
    """Who can be asked; each name is that of a service, `_evaluate/<name>`."""
    objects: dict[Name, dict[str, JsonValue]] = Field(default_factory=dict)
    """Named things of the scene and their properties, for placeholders and the scene graph."""
    tools: dict[Name, ToolConfig] = Field(min_length=1)
    """What each physical tool promises and how that is judged."""
    scene: SceneConfig = SceneConfig()
    """The scene graph before any verdict, and how far to trust what it holds."""
    ledger: LedgerConfig = LedgerConfig()
    """What is kept of runs, beside their verdicts."""
    sidecar: SidecarConfig | None = None
    """What the outcome of a text agent's session was worth; no sidecar without this section."""

    @cached_property
    def criteria_hash(self) -> str:
        """SHA-256 (hex) of all that decides a verdict: post-conditions, criteria, objects."""
        deciding = self.model_dump(
            mode="json",
            include={
                *("tools", "objects", "judges"),
                *("capture", "cameras", "signals", "clearance"),
            },
        )
        for tool in deciding["tools"].values():
            tool.pop("effects")
            tool.pop("timeout_s")
            tool.pop("description")
        for name, judge in deciding["judges"].items():
            for key in self.judges[name].operational:
                judge.pop(key)
            if (judge["abstain"] or {}).get("false_success") is not None and name in self.cards:
                judge["abstain"]["threshold"] = self.threshold(name)
        distances = [item for item in deciding["clearance"].values() if item is not None]
        for source in (*deciding["cameras"].values(), *deciding["signals"].values(), *distances):
            source.pop("rate_hz")
            source.pop("qos")
        text = json.dumps(deciding, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def cards(self) -> dict[str, ErrorCard]:
        """The error cards that judges name, by the judges' names.

        Raises:
            CardError: a file is no card; `load` says so beforehand.
        """
        return {
            name: load_card(judge.error_card)
            for name, judge in self.judges.items()
            if judge.error_card is not None
        }

    @cached_property
    def card_states(self) -> dict[str, CardState]:
        """What is known of the errors of each tool's judge on it, by the tools' names."""
        return {name: self._card_state(name) for name in self.tools}

    def threshold(self, judge: str) -> float | None:
        """The confidence below which a judge abstains; None where it never does.

        Raises:
            CardError: it is to come from a card that does not give it; `load` says so beforehand.
        """
        return wanted_threshold(judge, self.judges[judge], self.cards.get(judge))

    def basis(self, tool_name: str, who: JudgeIdentity) -> ToolBasis:
        """What a judge is asked about a tool; an error card keeps it."""
        tool = self.tools[tool_name]
        return basis_of(
            who, tool.post_condition, tool.cameras, tool.criterion, tool.outcome_regions
        )

    def _card_state(self, tool_name: str) -> CardState:
        judge = self.tools[tool_name].judge
        card = self.cards.get(judge)
        if card is None:
            return CardState()
        who = identity(judge, self.judges)
        return card.state(who, tool_name, self.basis(tool_name, who))

    @cached_property
    def things(self) -> dict[str, Thing]:
        """What the scene knows of each object."""
        return {name: Thing.model_validate(item) for name, item in self.objects.items()}

    @property
    def containers(self) -> frozenset[str]:
        """Objects that may be open or closed."""
        return frozenset(name for name, thing in self.things.items() if thing.container)

    def checked_arguments(self, tool_name: str, arguments: Arguments) -> dict[str, str]:
        """The declared arguments of a run as text, each checked.

        Raises:
            ArgumentError: one is missing or not allowed, or the tool is unknown.
        """
        tool = self.tools.get(tool_name)
        if tool is None:
            raise ArgumentError(f"tool '{tool_name}' is not under `tools`: {sorted(self.tools)}")
        missing = [name for name in tool.arguments if name not in arguments]
        if missing:
            raise ArgumentError(f"argument '{missing[0]}' of tool '{tool_name}' is missing")
        return {name: rule.check(name, arguments[name]) for name, rule in tool.arguments.items()}

    def post_condition(self, tool_name: str, arguments: Arguments) -> str:
        """The post-condition of a run, its placeholders filled.

        Raises:
            ArgumentError: the arguments are not allowed.
        """
        values = self.checked_arguments(tool_name, arguments)
        return str(self._fill(self.tools[tool_name].post_condition, values))

    def criterion(self, tool_name: str, arguments: Arguments) -> str:
        """The criterion of a run as JSON; empty where the tool has none.

        Raises:
            ArgumentError: the arguments are not allowed.
        """
        values = self.checked_arguments(tool_name, arguments)
        template = self.tools[tool_name].criterion
        if template is None:
            return ""
        return json.dumps(self._fill(template, values), sort_keys=True)

    def effects(self, tool_name: str, arguments: Arguments) -> Effects:
        """What a success of this run changes in the scene graph.

        Raises:
            ArgumentError: the arguments are not allowed.
        """
        values = self.checked_arguments(tool_name, arguments)
        template = self.tools[tool_name].effects.model_dump(mode="json")
        return Effects.model_validate(self._fill(template, values))

    def settle_ns(self, tool_name: str) -> int:
        """Nanoseconds after the end of a run from which on frames are evidence."""
        own = self.tools[tool_name].settle_s
        return round((self.capture.settle_s if own is None else own) * 1e9)

    def _fill(self, template: Any, values: Mapping[str, str]) -> Any:
        try:
            return placeholders.fill(template, values, self.objects)
        except placeholders.PlaceholderError as error:
            raise ArgumentError(str(error)) from None
