# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Processes with one tool each, which come to an end as they are told.

Each line `NODE TOOL FATE` on standard input makes one by fork, which spares it the imports; its
process id is written to standard output. Death is by SIGKILL: nothing is closed, nobody is told.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from typing import Any, NoReturn

import rclpy
from processes import NAMESPACE
from raw_tool import FINISHED, STARTED, RawTool
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node

HOUR_S = 3600.0


def die(*_: Any) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("alive")


class MortalTool(RawTool):
    """Each fate is a method."""

    def works(self) -> None:
        """Works for an hour."""
        self.execute = self._work

    def succeeds_at_once(self) -> None:
        """Lives, and succeeds."""

    def dies_when_asked(self) -> None:
        """Before it answers the goal."""
        self.decide = die

    def dies_when_cancelled(self) -> None:
        """When somebody asks it to cancel."""
        self.execute = self._work
        self.on_cancel = die

    def dies_after_finished(self) -> None:
        """Between its last event and its result."""

        def execute(goal: Any) -> NoReturn:
            self.announce(goal)
            time.sleep(0.3)  # the event leaves the process
            die()

        self.execute = execute

    def _work(self, goal: Any) -> Any:
        self.announce(goal, [STARTED])
        time.sleep(HOUR_S)
        self.announce(goal, [FINISHED])
        return self.result(goal)


def live(node_name: str, tool_name: str, fate: str) -> None:
    rclpy.init()
    node = Node(node_name, namespace=NAMESPACE)
    getattr(MortalTool(node, tool_name), fate)()
    executor = MultiThreadedExecutor(num_threads=4)
    executor.add_node(node)
    executor.spin()


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the dead
    children = []
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            live(*line.split())
            os._exit(0)
        children.append(child)
        print(child, flush=True)
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


if __name__ == "__main__":
    main()
