# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads eval.yaml; every error names file, key, value and what is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from harness_ros.config.checking import invalid, problems
from harness_ros.config.evaluation import EvaluationConfig
from harness_ros.config.references import with_pictures
from harness_ros.config.wording import short
from harness_ros.contract import HarnessError


class ConfigError(HarnessError):
    """eval.yaml cannot be used; the text lists file, key, value and what is allowed."""


class _Loader(yaml.SafeLoader):
    """Notes keys that a mapping has twice, which YAML 1.2.2 forbids (3.2.1.1): the last wins."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.twice: list[str] = []

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        first: dict[tuple[str, str], yaml.Node] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                before = first.setdefault((key.tag, key.value), key)
                if before is not key:
                    self.twice.append(
                        f"line {key.start_mark.line + 1}: key '{key.value}' is given twice, "
                        f"first in line {before.start_mark.line + 1}"
                    )
        return node


def _parsed(text: str) -> tuple[Any, list[str]]:
    """What the text holds, and which keys are given twice."""
    loader = _Loader(text)
    return loader.get_single_data(), loader.twice


def _with_paths(config: EvaluationConfig, folder: Path) -> EvaluationConfig:
    """The configuration with the paths of judges and sidecar absolute; `folder` is eval.yaml's."""
    folder = folder.absolute()
    judges = {name: _absolute(judge, folder) for name, judge in config.judges.items()}
    sidecar = config.sidecar and _absolute(config.sidecar, folder)
    return config.model_copy(update={"judges": judges, "sidecar": sidecar})


def _absolute(section: BaseModel, folder: Path) -> BaseModel:
    found: dict[str, Path | BaseModel] = {}
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, Path):
            found[name] = folder / value
        elif isinstance(value, BaseModel):
            found[name] = _absolute(value, folder)
    return section.model_copy(update=found)


def load(path: Path | str) -> EvaluationConfig:
    """Reads and checks eval.yaml, and the pictures that its criteria name by `file:`.

    Raises:
        ConfigError: the file cannot be read, or something in it is wrong.
    """
    path = Path(path)
    try:
        raw, twice = _parsed(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    if twice:
        raise ConfigError("\n".join(f"{path}: {problem}" for problem in twice))
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: a mapping is wanted at the top, this is {short(raw)}")
    try:
        config = EvaluationConfig.model_validate(raw)
    except ValidationError as error:
        lines = [f"{path}: {problem}" for problem in invalid(error)]
        raise ConfigError("\n".join(lines)) from None
    config, found = with_pictures(_with_paths(config, path.parent), path.parent)
    found = found or list(problems(config))
    if found:
        raise ConfigError("\n".join(f"{path}: {problem}" for problem in found))
    # Now, so that nothing changes when a card's file does: only a new start reads another one.
    _ = config.card_states
    return config
