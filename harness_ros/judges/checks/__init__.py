# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The checks of deterministic judges, one file each; every file of this package is loaded."""

import importlib
import pkgutil

from harness_ros.judges.checks.observed import CannotTell, LastObserved, Observed
from harness_ros.judges.checks.region import WHOLE_IMAGE, Rectangle, Region
from harness_ros.judges.checks.registry import (
    CHECKS,
    DRAWINGS,
    CheckError,
    CheckParameters,
    Finding,
    ViewParameters,
    check,
    draws,
)

__all__ = [
    "CHECKS",
    "DRAWINGS",
    "WHOLE_IMAGE",
    "CannotTell",
    "CheckError",
    "CheckParameters",
    "Finding",
    "LastObserved",
    "Observed",
    "Rectangle",
    "Region",
    "ViewParameters",
    "check",
    "draws",
]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
