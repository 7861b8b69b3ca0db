# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Quality of service of the topics (REP 2003 for sensors)."""

from __future__ import annotations

from collections.abc import Sequence

from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    QoSCompatibility,
    QoSProfile,
    ReliabilityPolicy,
    qos_check_compatible,
)

from harness_ros.config import QosConfig

EVENTS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=1000,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""`runs` and `verdicts`: nothing is lost, who comes late gets what was said before."""

REQUESTS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=1000,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)
"""Services and the services of actions: the default depth is 10, and of more requests or answers
at once the oldest are thrown away without a word."""

LATEST = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""State: who comes late gets the last word."""


def fitting(wanted: QosConfig, offered: Sequence[QoSProfile], standing: bool = False) -> QoSProfile:
    """The profile of a subscription to a sensor.

    Args:
        wanted: what the configuration says; where it says nothing, delivery is reliable if every
            publisher offers that, else best effort, which fits every publisher (REP 2003).
        offered: profiles of the publishers that are there now.
        standing: what was published before counts too, where every publisher keeps it.
    """
    if wanted.reliability is not None:
        reliable = wanted.reliability == "reliable"
    else:
        reliable = bool(offered) and all(
            profile.reliability == ReliabilityPolicy.RELIABLE for profile in offered
        )
    kept = wanted.durability == "transient_local"
    if standing and offered:
        kept = all(profile.durability == DurabilityPolicy.TRANSIENT_LOCAL for profile in offered)
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=wanted.depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if kept else DurabilityPolicy.VOLATILE,
    )


def words(profile: QoSProfile) -> str:
    """Reliability and durability: `best effort, volatile`."""
    return ", ".join(
        policy.name.lower().replace("_", " ")
        for policy in (profile.reliability, profile.durability)
    )


def mismatch(offered: QoSProfile, asked: QoSProfile) -> str:
    """Why a subscription gets nothing from a publisher; empty where it does."""
    compatibility, reason = qos_check_compatible(offered, asked)
    if compatibility != QoSCompatibility.ERROR:
        return ""
    return " ".join(reason.removeprefix("ERROR: ").rstrip("; ").split())
