# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of harness_ros with real nodes and real middleware; `python3 -m bench --help`.

One module a benchmark. What is measured and how is in docs/benchmarks.md.
"""
