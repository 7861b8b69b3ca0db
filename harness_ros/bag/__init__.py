# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags: definitions of the messages in them, writing."""
