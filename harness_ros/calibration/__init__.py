# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How often a judge errs: labelled runs judged, an error card and a page written of it."""
