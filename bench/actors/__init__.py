# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Processes that benchmarks start beside the nodes: cameras, subscribers, servers.

They speak a JSON object a line on standard input and output, and end on SIGTERM.
"""
