# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is kept of learned rules, for people: lists, histories, the page of a rule's evidence."""
