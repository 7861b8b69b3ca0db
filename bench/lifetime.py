# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What ties child processes to their parents."""

from __future__ import annotations

import ctypes
import signal

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def die_with_parent() -> None:
    """Asks Linux for SIGTERM when the parent is gone, however it went (prctl(2))."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def adopt_orphans() -> None:
    """Has children of children become children of this process once their parent is gone."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
