# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo: all nodes as processes, a planner's calls, verdicts beside the truth."""
