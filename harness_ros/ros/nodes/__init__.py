# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One module a node; each has a `main`."""
