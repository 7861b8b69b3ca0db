# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The ledger: one SQLite file with every run, observation and verdict, and the scene's events.

The evaluator writes runs, observations and verdicts while the scene graph, another process, reads
verdicts and writes its events; the write-ahead log lets them. Commits are synchronous (FULL): with
NORMAL a power loss could forget a verdict that a planner has acted on already, and after the
restart the same run would get a second, different one. It costs a few fsyncs a tool run.
"""

from harness_ros.ledger.database import LedgerError
from harness_ros.ledger.ledger import Ledger

__all__ = ["Ledger", "LedgerError"]
