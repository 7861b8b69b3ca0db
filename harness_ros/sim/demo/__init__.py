# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo: all nodes as processes, a planner's calls, verdicts beside the truth."""

from harness_ros.sim.demo.runner import run_demo

__all__ = ["run_demo"]
