# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `sidecar`: scores the turns of a text agent and promotes the rules that it learned."""
