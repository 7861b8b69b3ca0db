# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tools in processes that the test, or they themselves, kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from harness_ros.ros.deployment import PROFILE_VARIABLE, fastdds_profile

SCRIPT = Path(__file__).with_name("mortal_tool.py")
LEASE_S = 3
"""After this a killed one is forgotten; 10 s in the profile of the project."""


class Mortals:
    """Processes of `mortal_tool.py`; none outlives its test module."""

    def __init__(self, folder: Path) -> None:
        profile = fastdds_profile("tool_gateway").read_text()
        lease = "<leaseDuration>\n            <sec>10</sec>"
        assert lease in profile
        own_profile = folder / "fastdds.xml"
        own_profile.write_text(profile.replace(lease, lease.replace("10", str(LEASE_S))))
        self._log = folder / "log"
        self._pids: dict[str, int] = {}
        with self._log.open("wb") as log:
            self._parent = subprocess.Popen(
                [sys.executable, str(SCRIPT)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, PROFILE_VARIABLE: str(own_profile)},
            )

    def start(self, node: str, tool: str, fate: str) -> None:
        """Starts one, as the successor of the one of the same node, if there was one."""
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write(f"{node} {tool} {fate}\n")
        self._parent.stdin.flush()
        self._pids[node] = int(self._parent.stdout.readline())

    def kill(self, node: str) -> None:
        os.kill(self._pids[node], signal.SIGKILL)

    def log(self) -> str:
        return self._log.read_text()

    def end(self) -> None:
        """Ends them all: the parent kills them once its input is closed."""
        self._parent.communicate(timeout=10.0)
