# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Offline grading: bags in, verdicts and a report out."""
