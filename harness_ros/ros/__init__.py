# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The part of harness_ros that speaks ROS 2: messages to records, records to messages, nodes."""
