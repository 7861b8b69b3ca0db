# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The evaluator: runs that are open, questions to judges, what it tells of itself, the node."""
