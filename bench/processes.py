# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes and actors as child processes: what they cost, what they say, and that nothing is left."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.lifetime import die_with_parent
from bench.record import BenchError
from harness_ros.ros.deployment import NAMESPACE, executable_path

ROOT = Path(__file__).resolve().parents[1]
SHARED_MEMORY = Path("/dev/shm")
END_S = 15.0


class Process:
    """One child process, its output in a log.

    Args:
        command: what to run.
        log: file for its output, but for standard output where it is an actor.
        environment: all of it.
        speaks: it is an actor: standard input and output carry a JSON object a line.
    """

    def __init__(
        self, command: list[str], log: Path, environment: Mapping[str, str], speaks: bool = False
    ) -> None:
        self._log = log
        with log.open("ab") as output:
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE if speaks else subprocess.DEVNULL,
                stdout=subprocess.PIPE if speaks else output,
                stderr=output,
                env=dict(environment),
                cwd=ROOT,
                preexec_fn=die_with_parent,
            )
        self.pid = self._child.pid
        self._lines: queue.Queue[str] = queue.Queue()
        if speaks:
            threading.Thread(target=self._listen, daemon=True).start()

    def cpu_s(self) -> float:
        """Processor time of all its threads so far, user and system (proc(5), stat)."""
        fields = self._proc("stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_bytes(self, kind: str = "VmRSS") -> int:
        """Memory that it has now (proc(5), status), such as `VmRSS` or `RssAnon`."""
        for line in self._proc("status").splitlines():
            if line.startswith(f"{kind}:"):
                return int(line.split()[1]) * 1024
        raise BenchError(f"process {self.pid}: /proc says nothing of {kind}")

    def say(self, **words: Any) -> None:
        """Sends an actor an order."""
        assert self._child.stdin is not None
        self._child.stdin.write((json.dumps(words) + "\n").encode())
        self._child.stdin.flush()

    def hear(self, timeout_s: float = 30.0) -> dict[str, Any]:
        """The next thing that an actor says.

        Raises:
            BenchError: it says nothing in time, or has ended.
        """
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty:
            raise BenchError(
                f"{self._name}: nothing within {timeout_s:g} s: {self._tail()}"
            ) from None
        if not line:
            raise BenchError(f"{self._name} has ended: {self._tail()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def check(self) -> None:
        """Raises when it has ended by itself.

        Raises:
            BenchError: with the last lines that it wrote.
        """
        if self._child.poll() is not None:
            raise BenchError(
                f"{self._name} ended with code {self._child.returncode}: {self._tail()}"
            )

    def segments(self) -> set[str]:
        """Names of the files in /dev/shm that it uses: its own and those of its peers."""
        with suppress(OSError):
            return segments(str(self.pid))
        return set()

    def ask_to_end(self) -> None:
        """Sends SIGTERM; a process that is killed leaves its shared memory behind."""
        if self._child.poll() is None:
            self._child.send_signal(signal.SIGTERM)

    def end(self) -> bool:
        """Waits for its end; False when it had to be killed."""
        try:
            self._child.wait(END_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
            return False
        finally:
            for stream in (self._child.stdin, self._child.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
        return True

    @property
    def _name(self) -> str:
        return self._log.stem

    def _listen(self) -> None:
        assert self._child.stdout is not None
        with suppress(ValueError):  # closed at the end
            for line in self._child.stdout:
                self._lines.put(line.decode())
        self._lines.put("")

    def _proc(self, name: str) -> str:
        self.check()
        return Path(f"/proc/{self.pid}/{name}").read_text()

    def _tail(self) -> str:
        return " | ".join(self._log.read_text(errors="replace").splitlines()[-12:])


def node_command(executable: str, parameters: Mapping[str, object]) -> list[str]:
    """The command line of an executable of harness_ros."""
    arguments = [str(executable_path(executable)), "--ros-args", "-r", f"__ns:={NAMESPACE}"]
    for name, value in parameters.items():
        arguments += ["-p", f"{name}:={value}"]
    return arguments


def actor_command(actor: str, arguments: Iterable[str]) -> list[str]:
    """The command line of a module of bench.actors."""
    return [sys.executable, "-m", f"bench.actors.{actor}", *arguments]


def segments(pid: str = "self") -> set[str]:
    """Names of the files of Fast DDS in /dev/shm that a process has mapped.

    Raises:
        OSError: there is no such process.
    """
    mapped = Path(f"/proc/{pid}/maps").read_text().split()
    names = (Path(word).name for word in mapped if word.startswith(f"{SHARED_MEMORY}/"))
    return {name for name in names if "fastrtps" in name or "fastdds" in name}


def remove_segments(names: Iterable[str]) -> list[str]:
    """Removes segments, and their locks, that no other process has mapped; returns what there was.

    Some ports are shared by all domains of a machine: what somebody uses stays.
    """
    in_use: set[str] = set()
    for process in Path("/proc").glob("[0-9]*"):
        if process.name != str(os.getpid()):
            with suppress(OSError):
                in_use |= segments(process.name)
    left = []
    for name in set(names) - in_use:
        for file in (name, f"{name}_el", f"sem.{name}_mutex"):
            with suppress(OSError):
                (SHARED_MEMORY / file).unlink()
                left.append(file)
    return left
