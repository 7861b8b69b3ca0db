# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The machine and the versions that figures were measured with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rclpy.utilities import get_rmw_implementation_identifier


def machine() -> dict[str, Any]:
    """Processor, cores, memory, system, versions, and how busy the machine is right now."""
    try:
        rclpy_version = version("rclpy")
    except PackageNotFoundError:
        rclpy_version = ""
    return {
        "cpu": _first("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(int(_first("/proc/meminfo", "MemTotal").split()[0] or 0) / 2**20, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "ros": os.environ.get("ROS_DISTRO", ""),
        "rclpy": rclpy_version,
        "rmw": get_rmw_implementation_identifier(),
        "load_1min": round(os.getloadavg()[0], 2),
    }


def _first(path: str, key: str) -> str:
    """The value of the first line `key: value` of a file of /proc."""
    for line in Path(path).read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return ""
