# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads eval.yaml; every error names file, key, value and what is allowed."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import ValidationError

from harness_ros.config.checking import invalid, problems
from harness_ros.config.evaluation import EvaluationConfig
from harness_ros.config.wording import short
from harness_ros.contract import HarnessError


class ConfigError(HarnessError):
    """eval.yaml cannot be used; the text lists file, key, value and what is allowed."""


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
        raise ConfigError(f"{path}: a mapping is wanted at the top, this is {short(raw)}")
    try:
        config = EvaluationConfig.model_validate(raw)
    except ValidationError as error:
        lines = [f"{path}: {problem}" for problem in invalid(error)]
        raise ConfigError("\n".join(lines)) from None
    found = [f"{path}: {problem}" for problem in problems(config)]
    if found:
        raise ConfigError("\n".join(found))
    return config
