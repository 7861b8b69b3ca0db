# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What ties a child process to its parent."""

from __future__ import annotations

import ctypes
import signal

PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Asks Linux for SIGTERM when the parent is gone, however it went (prctl(2))."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
