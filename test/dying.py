# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Processes that die at a moment of the test's choosing."""

import os
import signal
import sqlite3


def die_at(statement):
    """SQLite connections of this process die with it, before that statement; the first is 0."""
    connect, left = sqlite3.connect, [statement]

    def count(_statement):
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def counted(*args, **kwargs):
        connection = connect(*args, **kwargs)
        connection.set_trace_callback(count)
        return connection

    sqlite3.connect = counted
