# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Quality of service of the topics (REP 2003 for sensors)."""

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

EVENTS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=1000,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""`runs` and `verdicts`: nothing is lost, who comes late gets what was said before."""

SENSOR = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=10,
    reliability=ReliabilityPolicy.BEST_EFFORT,
    durability=DurabilityPolicy.VOLATILE,
)
"""Cameras and signals: fits every publisher."""

SENSOR_RELIABLE = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=10,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)
"""Cameras and signals whose publishers all offer reliable delivery."""
