# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Judges: from an Observation and a post-condition to a judgement.

A new check of the deterministic judge is one file in `checks`: a parameter model and a function
decorated with `check`.
"""

from harness_ros.judges.base import Judge
from harness_ros.judges.checks import (
    CannotTell,
    CheckError,
    CheckParameters,
    Finding,
    Observed,
    ViewParameters,
    check,
)
from harness_ros.judges.criterion import Branch, Criterion
from harness_ros.judges.deterministic import DeterministicJudge, evaluate

__all__ = [
    "Branch",
    "CannotTell",
    "CheckError",
    "CheckParameters",
    "Criterion",
    "DeterministicJudge",
    "Finding",
    "Judge",
    "Observed",
    "ViewParameters",
    "check",
    "evaluate",
]
