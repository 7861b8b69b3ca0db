# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parts of eval.yaml beside sources and scene: capture, judges, tools, ledger."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from harness_ros.config.base import Name, Section, Topic
from harness_ros.config.sources import Direction
from harness_ros.config.wording import short
from harness_ros.contract import HarnessError, Region
from harness_ros.judges.model.settings import ModelSettings
from harness_ros.judges.settings import DeterministicSettings, PanelSettings, PluginSettings
from harness_ros.scene.effects import Effects

DEFAULT_ARGUMENT_PATTERN = r"[A-Za-z0-9_\- ]{1,64}"


class ArgumentError(HarnessError):
    """A run's arguments are not what the configuration allows for its tool."""


class CaptureConfig(Section):
    """Which frames are evidence."""

    settle_s: float = Field(default=0.2, ge=0)
    """Evidence is stamped at or after the end of the run plus this."""
    slop_s: float = Field(default=0.1, gt=0)
    """Stamps of one set of frames lie closer together than this."""
    timeout_s: float = Field(default=3.0, gt=0)
    """Wall-clock seconds to wait for a set after a run ended; evidence is no younger than this
    after the settle time either."""
    optional_wait_s: float = Field(default=0.3, ge=0)
    """How much younger than a complete set the next stamps may get while it waits for sources with
    `required: false`."""
    queue_size: int = Field(default=10, ge=1, le=100)
    """Frames kept a camera while a tool runs."""


def _with_type(value: Any) -> Any:
    """A judge without `type` is deterministic, or a plug-in where it says which."""
    if not isinstance(value, Mapping) or "type" in value:
        return value
    return {"type": "plugin" if "judge" in value else "deterministic", **value}


JudgeConfig = Annotated[
    Annotated[
        DeterministicSettings | ModelSettings | PanelSettings | PluginSettings,
        Field(discriminator="type"),
    ],
    BeforeValidator(_with_type),
]
"""Who judges, and how long the evaluator waits for the answer."""


class ArgumentConfig(Section):
    """What values of an argument may appear in a post-condition."""

    pattern: str = DEFAULT_ARGUMENT_PATTERN
    """Regular expression that the whole value must match."""
    one_of: tuple[str, ...] | None = None
    """The only values allowed; the pattern is not looked at then."""

    @model_validator(mode="after")
    def _allows_something(self) -> ArgumentConfig:
        if self.one_of == ():
            raise ValueError("one_of is empty, no value would be allowed")
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise ValueError(
                f"pattern {self.pattern!r} is no regular expression: {error}"
            ) from None
        return self

    def check(self, name: str, value: JsonValue) -> str:
        """The value as text.

        Raises:
            ArgumentError: it is not allowed.
        """
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise ArgumentError(f"argument '{name}' is {short(value)}; text or a number is wanted")
        text = str(value)
        if self.one_of is not None:
            if text not in self.one_of:
                raise ArgumentError(
                    f"argument '{name}' is {short(value)}; allowed are {list(self.one_of)}"
                )
        elif not re.fullmatch(self.pattern, text):
            raise ArgumentError(
                f"argument '{name}' is {short(value)}, which does not match {self.pattern!r}"
            )
        return text


def _none_as_empty(value: Any) -> Any:
    return {} if value is None else value


class ToolConfig(Section):
    """One physical tool: what it promises and how that is judged."""

    description: str = ""
    """What the tool does, for people and planners."""
    post_condition: str = Field(min_length=3, max_length=500)
    """One visible, testable sentence; may hold `{argument}` placeholders."""
    judge: Name
    """Key under `judges`."""
    cameras: tuple[Name, ...] = ()
    """Keys under `cameras`, in the order that judges get the views."""
    signals: tuple[Name, ...] = ()
    """Keys under `signals`."""
    clearance: tuple[Direction, ...] = ()
    """Keys under `clearance`: the distances that belong to the Observation."""
    arguments: dict[Name, Annotated[ArgumentConfig, BeforeValidator(_none_as_empty)]] = Field(
        default_factory=dict
    )
    """Arguments of a call that placeholders may name, and the values that these may have."""
    criterion: dict[str, JsonValue] | None = None
    """The post-condition for deterministic judges (harness_ros.judges.criterion)."""
    outcome_regions: dict[Name, Region] = Field(default_factory=dict)
    """Part of a camera's view in which the outcome is to be seen: [left, top, right, bottom] as
    shares of width and height. A model is shown it beside the whole view."""
    segments: int = Field(default=1, ge=1)
    """How many segments a call may take; `process` is only for tools with more than one."""
    effects: Effects = Effects()
    """What a success changes in the scene graph."""
    action: Topic | None = None
    """Name of the action; `tools/<name>` by default."""
    timeout_s: float = Field(default=120.0, gt=0)
    """Wall-clock seconds that the gateway waits for one segment's result."""
    settle_s: float | None = Field(default=None, ge=0)
    """Instead of `capture.settle_s` for this tool."""


class LedgerConfig(Section):
    """What the evaluator keeps."""

    views_kept: int = Field(default=500, ge=0)
    """Observations of the newest runs whose images are kept; older ones keep their numbers."""
