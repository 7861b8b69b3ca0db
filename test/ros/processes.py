# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of harness_ros as the processes that users start."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_prefix

from harness_ros.ros.deployment import PROFILE_VARIABLE, fastdds_profile

NAMESPACE = "/harness"


def command(executable: str, **parameters: Any) -> list[str]:
    """The command line of an executable of the package."""
    path = Path(get_package_prefix("harness_ros")) / "lib" / "harness_ros" / executable
    arguments = [str(path), "--ros-args", "-r", f"__ns:={NAMESPACE}"]
    for name, value in parameters.items():
        arguments += ["-p", f"{name}:={value}"]
    return arguments


class NodeProcess:
    """One executable of the package, its output in a file."""

    def __init__(self, executable: str, log: Path, **parameters: Any) -> None:
        self.log = log
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                command(executable, **parameters),
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, PROFILE_VARIABLE: str(fastdds_profile(executable))},
            )

    def text(self) -> str:
        return self.log.read_text()

    def kill(self) -> None:
        """As by kill -9: nothing is closed."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(5)

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"a node did not end on SIGTERM: {self.text()}") from None


class Nodes:
    """The nodes of one test module, by executable.

    Args:
        parameters: by executable, beside the configuration and the ledger.
    """

    def __init__(
        self, folder: Path, config: Path, parameters: dict[str, dict[str, Any]] | None = None
    ) -> None:
        self.folder = folder
        self.ledger = folder / "ledger.sqlite"
        self._config = config
        self._parameters = parameters or {}
        self.running: dict[str, NodeProcess] = {}

    def start(self, executable: str) -> NodeProcess:
        """Starts a node that is not running."""
        node = self.running.get(executable)
        if node is None or node.process.poll() is not None:
            parameters = {"config": self._config, **self._parameters.get(executable, {})}
            if executable in ("evaluator", "scene_graph"):
                parameters["ledger"] = self.ledger
            node = NodeProcess(executable, self.folder / f"{executable}.log", **parameters)
            self.running[executable] = node
        return node

    def kill(self, executable: str) -> None:
        self.running[executable].kill()

    def stop_all(self) -> None:
        codes = {name: node.stop() for name, node in self.running.items()}
        assert set(codes.values()) <= {0, -9}, codes
