# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes as child processes that never outlive whoever started them."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

import yaml

from harness_ros.contract import HarnessError
from harness_ros.ros.deployment import (
    NAMESPACE,
    PROFILE_VARIABLE,
    NodeSpec,
    executable_path,
    fastdds_profile,
)

PR_SET_PDEATHSIG = 1
END_S = 8.0
"""How long a node may take to end before it is killed."""


class NodeDied(HarnessError):
    """A node that ended by itself."""


def _die_with_parent() -> None:
    """Asks Linux for SIGTERM when the parent is gone, however it went (prctl(2))."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Supervisor:
    """Starts nodes, watches them, and ends them all.

    Args:
        logs: folder for their output, one file a node.
        environment: for the nodes; the caller's own by default.
        use_sim_time: whether they follow /clock.
    """

    def __init__(
        self,
        logs: Path,
        environment: dict[str, str] | None = None,
        use_sim_time: bool = False,
    ) -> None:
        self._logs = logs
        self._environment = dict(os.environ) if environment is None else environment
        self._use_sim_time = use_sim_time
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        logs.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Supervisor:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def start(self, nodes: Iterable[NodeSpec]) -> None:
        """Starts nodes."""
        for node in nodes:
            arguments = [
                str(executable_path(node.executable)),
                "--ros-args",
                "-r",
                f"__ns:={NAMESPACE}",
                *(("-r", f"__node:={node.name}") if node.name else ()),
                "-p",
                f"use_sim_time:={str(self._use_sim_time).lower()}",
            ]
            for name, value in node.parameters.items():
                # As YAML, so that a text that looks like a number stays a text.
                text = yaml.safe_dump(value, default_style='"' if isinstance(value, str) else None)
                arguments += ["-p", f"{name}:={text.splitlines()[0]}"]
            label = node.name.lstrip("_") or node.executable
            with (self._logs / f"{label}.log").open("wb") as log:
                self._processes[label] = subprocess.Popen(
                    arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env={
                        PROFILE_VARIABLE: str(fastdds_profile(node.executable)),
                        **self._environment,
                    },
                    preexec_fn=_die_with_parent,
                )

    def check(self) -> None:
        """Raises when a node is gone.

        Raises:
            NodeDied: with the last lines that it wrote.
        """
        for name, process in self._processes.items():
            if process.poll() is not None:
                log = self._logs / f"{name}.log"
                tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
                raise NodeDied(
                    f"node {name} ended with code {process.returncode}:\n{tail}\n({log})"
                )

    def end(self) -> None:
        """Ends all nodes, the ones started last first; one that does not end is killed."""
        for process in reversed(self._processes.values()):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + END_S
        for process in self._processes.values():
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes.clear()
