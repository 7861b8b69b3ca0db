# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which learned rules an agent may trust: replays and forward trials decide; docs/promotion.md."""

from harness_ros.sidecar.promotion.decide import decide
from harness_ros.sidecar.promotion.forward import breach_counts, decide_forward
from harness_ros.sidecar.promotion.records import (
    BREACH,
    OUTCOME_METRIC,
    Case,
    Decision,
    PendingReason,
    Policy,
    Rule,
    Session,
)

__all__ = [
    "BREACH",
    "OUTCOME_METRIC",
    "Case",
    "Decision",
    "PendingReason",
    "Policy",
    "Rule",
    "Session",
    "breach_counts",
    "decide",
    "decide_forward",
]
