# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The verifiers that come with it, named as `harness_ros.sidecar.verifiers:<name>`."""

from harness_ros.sidecar.verifiers.assertions import json_assertions
from harness_ros.sidecar.verifiers.physical import physical_outcome
from harness_ros.sidecar.verifiers.program import command

__all__ = ["command", "json_assertions", "physical_outcome"]
