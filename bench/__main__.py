# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Starts the benchmarks."""

import sys

from bench.runner import main

sys.exit(main())
