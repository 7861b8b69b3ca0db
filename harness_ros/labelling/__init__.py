# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What people say of runs: a local page that shows each Observation and takes one key."""
