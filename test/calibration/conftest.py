# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Judges whose errors are known beforehand, and runs that they are asked about."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent / "bag", HERE.parent / "grading"):
    sys.path.append(str(folder))
