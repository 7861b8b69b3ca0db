# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""eval.yaml: `sources`, `scene`, other `sections`, the whole (`evaluation`), its mistakes."""

from harness_ros.config.checking import BUILTIN_REFS
from harness_ros.config.evaluation import EvaluationConfig
from harness_ros.config.loading import ConfigError, load
from harness_ros.config.scene import SceneConfig, Thing
from harness_ros.config.sections import (
    ArgumentConfig,
    ArgumentError,
    CaptureConfig,
    JudgeConfig,
    LedgerConfig,
    ToolConfig,
)
from harness_ros.config.sidecar import SidecarConfig
from harness_ros.config.sources import (
    CalibrationConfig,
    CameraConfig,
    ClearanceConfig,
    Direction,
    DistanceConfig,
    QosConfig,
    SignalConfig,
    SourceConfig,
)

__all__ = [
    "BUILTIN_REFS",
    "ArgumentConfig",
    "ArgumentError",
    "CalibrationConfig",
    "CameraConfig",
    "CaptureConfig",
    "ClearanceConfig",
    "ConfigError",
    "Direction",
    "DistanceConfig",
    "EvaluationConfig",
    "JudgeConfig",
    "LedgerConfig",
    "QosConfig",
    "SceneConfig",
    "SidecarConfig",
    "SignalConfig",
    "SourceConfig",
    "Thing",
    "ToolConfig",
    "load",
]
