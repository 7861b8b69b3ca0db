# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""eval.yaml as pydantic models; every error names file, key, value and what is allowed."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    model_validator,
)

from harness_ros import placeholders
from harness_ros.contract import Arguments, HarnessError
from harness_ros.judges.criterion import Criterion
from harness_ros.scene.effects import Effects
from harness_ros.scene.graph import SceneError, SceneGraph

DEFAULT_ARGUMENT_PATTERN = r"[A-Za-z0-9_\- ]{1,64}"

NAME_PATTERN = r"^[A-Za-z][A-Za-z0-9_]*$"
Name = Annotated[str, Field(pattern=NAME_PATTERN)]
Topic = Annotated[str, Field(pattern=r"^/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*$")]
MessageType = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*/msg/[A-Z][A-Za-z0-9]*$")]


class ConfigError(HarnessError):
    """eval.yaml cannot be used; the text lists file, key, value and what is allowed."""


class ArgumentError(HarnessError):
    """A run's arguments are not what the configuration allows for its tool."""


class Section(BaseModel):
    """A part of eval.yaml; unknown keys are an error, and so are `.nan` and `.inf`."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class CameraConfig(Section):
    """A topic of images."""

    topic: Topic
    """Relative names are resolved in the namespace of the evaluator."""
    type: Literal["sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"] = (
        "sensor_msgs/msg/Image"
    )


class SignalConfig(Section):
    """A scalar field of a topic."""

    topic: Topic
    type: MessageType
    field: str = Field(pattern=r"^[A-Za-z_]\w*(\[\d+\])?(\.[A-Za-z_]\w*(\[\d+\])?)*$")
    """Path into the message, such as `position[0]` or `wrench.force.z`."""
    unit: str = ""
    """SI (REP 103); shown beside the number."""


class CaptureConfig(Section):
    """Which frames are evidence."""

    settle_s: float = Field(default=0.2, ge=0)
    """Evidence is stamped at or after the end of the run plus this."""
    slop_s: float = Field(default=0.1, gt=0)
    """Stamps of one set of frames lie closer together than this."""
    timeout_s: float = Field(default=3.0, gt=0)
    """Wall-clock seconds to wait for a set after a run ended; evidence is no younger than this
    after the settle time either."""
    queue_size: int = Field(default=10, ge=1, le=100)
    """Frames kept a camera while a tool runs."""


class JudgeConfig(Section):
    """Who judges, and how long the evaluator waits for the answer."""

    type: Literal["deterministic"] = "deterministic"
    timeout_s: float = Field(default=10.0, gt=0)


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
            raise ArgumentError(f"argument '{name}' is {_short(value)}; text or a number is wanted")
        text = str(value)
        if self.one_of is not None:
            if text not in self.one_of:
                raise ArgumentError(
                    f"argument '{name}' is {_short(value)}; allowed are {list(self.one_of)}"
                )
        elif not re.fullmatch(self.pattern, text):
            raise ArgumentError(
                f"argument '{name}' is {_short(value)}, which does not match {self.pattern!r}"
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
    arguments: dict[Name, Annotated[ArgumentConfig, BeforeValidator(_none_as_empty)]] = Field(
        default_factory=dict
    )
    criterion: dict[str, JsonValue] | None = None
    """The post-condition for deterministic judges (harness_ros.judges.criterion)."""
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


class SceneConfig(Section):
    """The scene graph before any verdict."""

    relations: tuple[tuple[str, str, str], ...] = ()
    """(relation, subject, object) triples."""


class LedgerConfig(Section):
    """What the evaluator keeps."""

    views_kept: int = Field(default=500, ge=0)
    """Observations of the newest runs whose images are kept; older ones keep their numbers."""


class EvaluationConfig(Section):
    """All of eval.yaml."""

    version: Literal[1]
    cameras: dict[Name, CameraConfig] = Field(default_factory=dict)
    signals: dict[Name, SignalConfig] = Field(default_factory=dict)
    capture: CaptureConfig = CaptureConfig()
    judges: dict[Name, JudgeConfig]
    objects: dict[Name, dict[str, JsonValue]] = Field(default_factory=dict)
    """Named things of the scene and their properties, for placeholders and the scene graph."""
    tools: dict[Name, ToolConfig] = Field(min_length=1)
    scene: SceneConfig = SceneConfig()
    ledger: LedgerConfig = LedgerConfig()

    @cached_property
    def criteria_hash(self) -> str:
        """SHA-256 (hex) of all that decides a verdict: post-conditions, criteria, objects."""
        deciding = self.model_dump(
            mode="json", include={"tools", "objects", "judges", "capture", "cameras", "signals"}
        )
        for tool in deciding["tools"].values():
            tool.pop("effects")
            tool.pop("timeout_s")
            tool.pop("description")
        for judge in deciding["judges"].values():
            judge.pop("timeout_s")
        text = json.dumps(deciding, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

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


def load(path: Path | str) -> EvaluationConfig:
    """Reads and checks eval.yaml.

    Raises:
        ConfigError: the file cannot be read, or something in it is wrong.
    """
    path = Path(path)
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: a mapping is wanted at the top, this is {_short(raw)}")
    try:
        config = EvaluationConfig.model_validate(raw)
    except ValidationError as error:
        lines = [f"{path}: {problem}" for problem in _invalid(error)]
        raise ConfigError("\n".join(lines)) from None
    problems = [f"{path}: {problem}" for problem in _problems(config)]
    if problems:
        raise ConfigError("\n".join(problems))
    return config


def _problems(config: EvaluationConfig) -> Iterator[str]:
    """What is wrong between sections, one line each."""
    known: dict[str, Collection[str]] = {"cameras": config.cameras, "signals": config.signals}
    for name in sorted(config.cameras.keys() & config.signals.keys()):
        yield f"signals.{name}: a camera has this name too; each source has a name of its own"
    for name, tool in config.tools.items():
        where = f"tools.{name}"
        if tool.judge not in config.judges:
            yield f"{where}.judge: '{tool.judge}' is not under `judges`: {sorted(config.judges)}"
        elif config.judges[tool.judge].type == "deterministic" and tool.criterion is None:
            yield f"{where}.criterion: missing, and judge '{tool.judge}' is deterministic"
        if not tool.cameras and not tool.signals:
            yield f"{where}: neither `cameras` nor `signals`: nothing could be observed"
        for kind, section in known.items():
            for item in dict.fromkeys(getattr(tool, kind)):
                if item not in section:
                    yield f"{where}.{kind}: '{item}' is not under `{kind}`: {sorted(section)}"
                elif getattr(tool, kind).count(item) > 1:
                    yield f"{where}.{kind}: '{item}' is listed more than once"
        yield from _placeholder_problems(config, where, tool)
    yield from _scene_problems(config)


def _scene_problems(config: EvaluationConfig) -> Iterator[str]:
    unknown = Effects(add=config.scene.relations).problems(_refs(config))
    for problem in unknown:
        yield f"scene.relations{problem.removeprefix('add')}"
    if not unknown:
        try:
            SceneGraph.initial(_refs(config), config.scene.relations)
        except SceneError as error:
            yield f"scene.relations: {error}"


def _refs(config: EvaluationConfig) -> set[str]:
    """Everything that relations may name."""
    return {*config.objects, *BUILTIN_REFS}


BUILTIN_REFS = frozenset({"robot", "table"})
"""Things of the scene graph that need no entry under `objects`."""


def _placeholder_problems(config: EvaluationConfig, where: str, tool: ToolConfig) -> Iterator[str]:
    """Fills the templates with every value that is known beforehand, and checks what comes out."""
    templates: dict[str, Any] = {
        "post_condition": tool.post_condition,
        "criterion": tool.criterion,
        "effects": tool.effects.model_dump(mode="json"),
    }
    for key, template in templates.items():
        for argument, _ in placeholders.names(template):
            if argument not in tool.arguments:
                yield (
                    f"{where}.{key}: placeholder {{{argument}}} has no entry under "
                    f"{where}.arguments: {sorted(tool.arguments)}"
                )
                return
    values = [_sample_values(config, tool, templates, name) for name in tool.arguments]
    for combination in itertools.islice(itertools.product(*values), 1000):
        arguments = dict(zip(tool.arguments, combination, strict=True))
        problems = list(_filled_problems(config, where, tool, templates, arguments))
        if problems:
            yield from problems
            return


def _filled_problems(
    config: EvaluationConfig,
    where: str,
    tool: ToolConfig,
    templates: Mapping[str, Any],
    arguments: Mapping[str, str],
) -> Iterator[str]:
    for key, template in templates.items():
        try:
            filled = placeholders.fill(template, arguments, config.objects)
            if key == "criterion" and filled is not None:
                yield from _criterion_problems(where, tool, Criterion.model_validate(filled))
            elif key == "effects":
                for problem in Effects.model_validate(filled).problems(_refs(config)):
                    yield f"{where}.effects.{problem} (arguments: {arguments})"
        except placeholders.PlaceholderError as error:
            yield f"{where}.{key}: {error}"
        except ValidationError as error:
            for problem in _invalid(error):
                yield f"{where}.{key}.{problem} (arguments: {arguments})"


def _criterion_problems(where: str, tool: ToolConfig, criterion: Criterion) -> Iterator[str]:
    if criterion.process is not None and tool.segments == 1:
        yield f"{where}.segments: 1, but the criterion has a `process` branch: a budget is wanted"
    for kind, used in (("cameras", criterion.views()), ("signals", criterion.signals())):
        for name in sorted(used - set(getattr(tool, kind))):
            yield (
                f"{where}.criterion: uses '{name}', which {where}.{kind} does not list: "
                f"{list(getattr(tool, kind))}"
            )


def _sample_values(
    config: EvaluationConfig, tool: ToolConfig, templates: Mapping[str, Any], argument: str
) -> list[str]:
    rule = tool.arguments[argument]
    if rule.one_of is not None:
        return list(rule.one_of)
    paths = [
        path for name, path in placeholders.names(list(templates.values())) if name == argument
    ]
    in_effects = argument in dict(placeholders.names(templates["effects"]))
    if any(paths) or in_effects:
        return [name for name in config.objects if re.fullmatch(rule.pattern, name)] or ["?"]
    samples = ("sample", "1", "0.5")
    return [next((text for text in samples if re.fullmatch(rule.pattern, text)), samples[0])]


def _invalid(error: ValidationError) -> Iterator[str]:
    """Key, message and value of each thing that pydantic found wrong."""
    for item in error.errors(include_url=False):
        message = item["msg"]
        if item["type"] == "extra_forbidden" and error.title == EvaluationConfig.__name__:
            message = f"unknown key, allowed are {_allowed_keys(item['loc'][:-1])}"
        yield f"{_key(item['loc'])}: {message} (value: {_short(item['input'])})"


def _allowed_keys(location: tuple[int | str, ...]) -> list[str]:
    """Keys of the section at a location of eval.yaml."""
    section: Any = EvaluationConfig
    for part in location:
        fields = getattr(section, "model_fields", {})
        section = fields[part].annotation if part in fields else get_args(section)[-1]
        if hasattr(section, "__metadata__"):
            section = get_args(section)[0]
    return sorted(section.model_fields)


def _key(location: tuple[int | str, ...]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".") or "(top)"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."
