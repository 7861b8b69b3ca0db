# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parts of the node `scene_graph`: its messages, its markers."""
