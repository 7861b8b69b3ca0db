# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

# Tests are imported without their folder: what several of them share lies beside them.
sys.path.insert(0, str(Path(__file__).parent))
