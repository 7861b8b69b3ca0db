# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Modules beside these tests, and recordings to label."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
for folder in ("grading", "bag"):
    sys.path.append(str(Path(__file__).parents[1] / folder))
