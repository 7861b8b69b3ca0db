# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a judge is."""

from __future__ import annotations

from typing import Protocol

from harness_ros.contract import EvaluationRequest, Judgement


class Judge(Protocol):
    """Says of one Observation whether a post-condition holds; it gets nothing else."""

    @property
    def name(self) -> str:
        """Who judges: a name, or a name and a version or model."""

    def judge(self, request: EvaluationRequest) -> Judgement:
        """The judgement. What keeps a judge from judging goes into `error`; it never raises."""
