# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorded runs, looked at again: what a configuration says of them now, drawn and in words."""

from harness_ros.explaining.recordings import Recording, opened
from harness_ros.explaining.references import store_reference
from harness_ros.explaining.runs import ExplainedRun, explain_run, listed, report

__all__ = [
    "ExplainedRun",
    "Recording",
    "explain_run",
    "listed",
    "opened",
    "report",
    "store_reference",
]
