# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""eval.yaml: its parts (`sections`), the whole (`evaluation`), what is wrong (`checking`)."""

from harness_ros.config.checking import BUILTIN_REFS
from harness_ros.config.evaluation import EvaluationConfig
from harness_ros.config.loading import ConfigError, load
from harness_ros.config.sections import (
    ArgumentConfig,
    ArgumentError,
    CameraConfig,
    CaptureConfig,
    JudgeConfig,
    LedgerConfig,
    SceneConfig,
    SignalConfig,
    ToolConfig,
)

__all__ = [
    "BUILTIN_REFS",
    "ArgumentConfig",
    "ArgumentError",
    "CameraConfig",
    "CaptureConfig",
    "ConfigError",
    "EvaluationConfig",
    "JudgeConfig",
    "LedgerConfig",
    "SceneConfig",
    "SignalConfig",
    "ToolConfig",
    "load",
]
