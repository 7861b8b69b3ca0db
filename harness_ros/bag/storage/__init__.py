# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Serialized messages out of a bag, whatever recorded it and whatever has happened to it since."""

from harness_ros.bag.storage.records import BagReadError, Progress, Recorded
from harness_ros.bag.storage.storage import Storage

FILES = (".mcap", ".db3")
"""Suffixes of files of a bag; each may have `.zstd` behind it."""

__all__ = ["BagReadError", "FILES", "Progress", "Recorded", "Storage"]
