# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong in an eval.yaml: in a section, and between sections."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import ValidationError

from harness_ros import placeholders
from harness_ros.config.evaluation import EvaluationConfig
from harness_ros.config.judging import judge_problems
from harness_ros.config.scene import Thing
from harness_ros.config.sections import ToolConfig
from harness_ros.config.sources import SourceConfig
from harness_ros.config.wording import dotted, short
from harness_ros.judges.checks import CHECKS
from harness_ros.judges.criterion import Check, Criterion
from harness_ros.scene.effects import Effects
from harness_ros.scene.graph import SceneGraph
from harness_ros.scene.relation import SceneError

BUILTIN_REFS = frozenset({"robot", "table"})
"""Things of the scene graph that need no entry under `objects`."""


def problems(config: EvaluationConfig) -> Iterator[str]:
    """What is wrong between the sections of eval.yaml, one line each."""
    known: dict[str, Mapping[str, SourceConfig]] = {
        "cameras": config.cameras,
        "signals": config.signals,
        "clearance": config.clearance.directions(),
    }
    for name in sorted(config.cameras.keys() & config.signals.keys()):
        yield f"signals.{name}: a camera has this name too; each source has a name of its own"
    misshapen = list(_thing_problems(config))
    if misshapen:
        # Nothing that looks at these properties could be checked.
        yield from misshapen
        return
    yield from judge_problems(config)
    for name, tool in config.tools.items():
        where = f"tools.{name}"
        if not tool.cameras and not tool.signals and not tool.clearance:
            yield (
                f"{where}: neither `cameras` nor `signals` nor `clearance`: nothing could be "
                "observed"
            )
        elif not any(source.required for source in _sources(known, tool)):
            yield f"{where}: each of its sources has `required: false`; one must be required"
        for kind, section in known.items():
            for item in dict.fromkeys(getattr(tool, kind)):
                if item not in section:
                    yield f"{where}.{kind}: '{item}' is not under `{kind}`: {sorted(section)}"
                elif getattr(tool, kind).count(item) > 1:
                    yield f"{where}.{kind}: '{item}' is listed more than once"
        yield from _placeholder_problems(config, where, tool)
    yield from _scene_problems(config)


def _sources(
    known: Mapping[str, Mapping[str, SourceConfig]], tool: ToolConfig
) -> Iterator[SourceConfig]:
    """The sources of a tool; names that are unknown are said elsewhere."""
    for kind, section in known.items():
        names = [name for name in getattr(tool, kind) if name in section]
        if len(names) < len(getattr(tool, kind)):
            yield SourceConfig(topic="unknown")
        yield from (section[name] for name in names)


def _thing_problems(config: EvaluationConfig) -> Iterator[str]:
    for name, properties in config.objects.items():
        try:
            Thing.model_validate(properties)
        except ValidationError as error:
            yield from (f"objects.{name}.{problem}" for problem in invalid(error))


def _scene_problems(config: EvaluationConfig) -> Iterator[str]:
    scene = config.scene
    begin = Effects(add=scene.relations, state=tuple(scene.states.items()))
    unknown = begin.problems(_refs(config), config.containers)
    for problem in unknown:
        yield re.sub("^state", "scene.states", re.sub("^add", "scene.relations", problem))
    if not unknown:
        try:
            SceneGraph.initial(_refs(config), begin.add, begin.state, config.containers)
        except SceneError as error:
            yield f"scene.relations: {error}"


def _refs(config: EvaluationConfig) -> set[str]:
    """Everything that relations may name."""
    return {*config.objects, *BUILTIN_REFS}


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
                effects = Effects.model_validate(filled)
                for problem in effects.problems(_refs(config), config.containers):
                    yield f"{where}.effects.{problem} (arguments: {arguments})"
        except placeholders.PlaceholderError as error:
            yield f"{where}.{key}: {error}"
        except ValidationError as error:
            for problem in invalid(error):
                yield f"{where}.{key}.{problem} (arguments: {arguments})"


def _criterion_problems(where: str, tool: ToolConfig, criterion: Criterion) -> Iterator[str]:
    if criterion.process is not None and tool.segments == 1:
        yield f"{where}.segments: 1, but the criterion has a `process` branch: a budget is wanted"
    uses = (
        ("cameras", criterion.views()),
        ("signals", criterion.signals()),
        ("clearance", criterion.clearance()),
    )
    for kind, used in uses:
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


def invalid(error: ValidationError) -> Iterator[str]:
    """Key, message and value of each thing that pydantic found wrong."""
    for item in error.errors(include_url=False):
        location, message, value = item["loc"], item["msg"], item["input"]
        if error.title in _ROOTS:
            location, sections = _written(_ROOTS[error.title], location)
            if item["type"] == "extra_forbidden":
                allowed = sorted(sections[-2].model_fields)
                message = f"unknown key, allowed are {allowed}"
        if item["type"] == "union_tag_invalid":
            location = (*location, "type")
            message = f"one of {item['ctx']['expected_tags']} is wanted"
            value = value["type"]
        # A key that stands where only the name of its variable should is not to be shown.
        name = str(location[-1] if location else "")
        hidden = SECRET.search(name) or (name == "base_url" and "@" in str(value))
        shown = "" if hidden else f" (value: {short(value)})"
        yield f"{dotted(location)}: {message}{shown}"


SECRET = re.compile(r"api_?key|password|secret|(^|_)token$", re.IGNORECASE)
"""Names of settings whose values may hold one."""

_ROOTS = {model.__name__: model for model in (EvaluationConfig, Criterion)}
"""What is validated from its top, by the name that errors carry."""


def _written(root: Any, location: tuple[int | str, ...]) -> tuple[tuple[int | str, ...], list[Any]]:
    """A location as it is written in eval.yaml or a criterion, and the section at each part of it.

    pydantic also names which kind of section a `type` has chosen. The sections begin with the
    root; None is what has no keys of its own.
    """
    written: list[int | str] = []
    sections = [root]
    for part in location:
        kinds = _kinds(sections[-1])
        if part in kinds:
            sections[-1] = kinds[str(part)]
            continue
        written.append(part)
        sections.append(_part(sections[-1], part))
    return tuple(written), sections


def _kinds(section: Any) -> dict[str, Any]:
    """Of a section that has several kinds: each by its `type`."""
    kinds = [kind for kind in get_args(section) if "type" in getattr(kind, "model_fields", {})]
    return {tag: kind for kind in kinds for tag in get_args(kind.model_fields["type"].annotation)}


def _part(section: Any, part: int | str) -> Any:
    """What is at a key or place of a section."""
    if Check in get_args(section):
        # A node of a criterion; operators and their lists hold nodes again.
        return CHECKS[str(part)].parameters if part in CHECKS else section
    fields = getattr(section, "model_fields", {})
    held = [held for held in get_args(section) if held is not Ellipsis]
    if part not in fields and not held:
        return None
    section = fields[part].annotation if part in fields else held[-1]
    if hasattr(section, "__metadata__"):
        section = get_args(section)[0]
    if type(None) in get_args(section):
        section = get_args(section)[0]
    return section
