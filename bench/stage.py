# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where a benchmark takes place: nodes and actors as processes, and a node that drives them.

Everything runs on a domain of its own and is ended before the benchmark is over.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from bench.options import Options
from bench.processes import (
    Process,
    actor_command,
    node_command,
    remove_segments,
    segments,
)
from bench.record import BenchError
from harness_ros.ros.deployment import NAMESPACE, PROFILE_VARIABLE, fastdds_profile, share_folder

PROFILE_VARIABLES = (PROFILE_VARIABLE, "FASTDDS_DEFAULT_PROFILES_FILE")
DOMAINS: tuple[int, ...] = (*range(90, 102), *range(215, 233))
"""Not those of the tests; on Linux these are safe, whatever ports outgoing connections take."""
FIRST_PORT, PORTS_A_DOMAIN = 7400, 250
"""Of UDP (RTPS 2.3, 9.6.1.1)."""
SETTLE_S = 1.5

LOOK_S = 0.5
"""How often it is looked whether all processes are there."""
QUIET_S, QUIET_SHARE = 0.15, 0.15
"""A process that uses a smaller share of a core over this time only idles."""


def image_profile() -> Path:
    """The Fast DDS profile of who sends images."""
    return share_folder() / "config" / "fastdds_shm.xml"


def free_domain() -> int:
    """A domain on which nobody on this machine is.

    Raises:
        BenchError: there is none.
    """
    taken: set[int] = set()
    for table in ("udp", "udp6"):
        with suppress(OSError):
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                port = int(line.split()[1].rpartition(":")[2], 16)
                taken.add((port - FIRST_PORT) // PORTS_A_DOMAIN)
    first = os.getpid() % len(DOMAINS)
    for domain in (*DOMAINS[first:], *DOMAINS[:first]):
        if domain not in taken:
            return domain
    raise BenchError(f"somebody is on each of the ROS domains {DOMAINS}")


def isolate() -> None:
    """Puts this process and its children on a domain of their own, on this machine only."""
    os.environ["ROS_DOMAIN_ID"] = str(free_domain())
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    for variable in PROFILE_VARIABLES:
        os.environ.pop(variable, None)
    # The driver publishes images in some benchmarks; the middleware reads this once a process.
    os.environ[PROFILE_VARIABLE] = str(image_profile())


class Stage:
    """Processes and a driver node, for use in a `with` statement.

    Args:
        shipped_profiles: give each process the Fast DDS profile that a launch file would, and the
            one for images to actors; without, all have the middleware's defaults.
    """

    def __init__(self, options: Options, shipped_profiles: bool = True) -> None:
        self.options = options
        self.folder = options.folder
        self._shipped_profiles = shipped_profiles
        self._processes: list[Process] = []
        self._context = Context()
        self._used: set[str] = set()

    def __enter__(self) -> Stage:
        self._of_others = segments()
        rclpy.init(context=self._context)
        self.driver = Node("bench_driver", namespace=NAMESPACE, context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.driver)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._note_segments()
        for process in self._processes:
            process.ask_to_end()
        killed = [process.pid for process in self._processes if not process.end()]
        self._executor.shutdown(timeout_sec=1.0)
        self.driver.destroy_node()
        rclpy.shutdown(context=self._context)
        # Of the driver, too: rclpy ends its participant with the last reference to its context.
        left = remove_segments(self._used - self._of_others)
        if killed:
            self.options.tell(f"killed {killed}, removed {left} from /dev/shm")

    def node(self, executable: str, **parameters: Any) -> Process:
        """Starts a node of harness_ros."""
        command = node_command(executable, parameters)
        return self._start(executable, command, fastdds_profile(executable))

    def evaluator(self, config: Path) -> Process:
        """Starts the evaluator with a ledger of its own."""
        return self.node("evaluator", config=config, ledger=self.folder / "ledger.sqlite")

    def actor(self, name: str, *arguments: object) -> Process:
        """Starts a module of bench.actors and waits until it says that it is ready."""
        command = actor_command(name, map(str, arguments))
        return self._start(name, command, image_profile(), speaks=True)

    def _start(self, name: str, command: list[str], profile: Path, speaks: bool = False) -> Process:
        environment = dict(os.environ)
        for variable in PROFILE_VARIABLES:
            environment.pop(variable, None)
        if self._shipped_profiles:
            environment[PROFILE_VARIABLE] = str(profile)
        log = self.folder / f"{len(self._processes)}-{name}.log"
        process = Process(command, log, environment, speaks)
        self._processes.append(process)
        return process

    def stop(self, process: Process) -> None:
        """Ends one process before the others."""
        self._note_segments()
        process.ask_to_end()
        process.end()
        self._processes.remove(process)

    def _note_segments(self) -> None:
        """Remembers shared memory while its owner lives: of a dead one nobody can tell."""
        self._used |= segments().union(*(process.segments() for process in self._processes))

    def until(self, condition: Callable[[], Any], what: str, timeout_s: float = 30.0) -> None:
        """Spins the driver until a condition holds.

        Raises:
            BenchError: not in time, or a process has ended.
        """
        looked = time.monotonic()
        deadline = looked + timeout_s
        while not condition():
            self._executor.spin_once(timeout_sec=0.02)
            now = time.monotonic()
            # Not at once: it takes some milliseconds, and somebody may be measuring.
            if now > looked + LOOK_S:
                looked = now
                self._note_segments()
                for process in self._processes:
                    process.check()
            if now > deadline:
                raise BenchError(f"not within {timeout_s:g} s: {what}")

    def await_quiet(self, process: Process, timeout_s: float = 10.0) -> None:
        """Spins the driver until a process has used next to no processor time for a while.

        Raises:
            BenchError: not in time.
        """
        deadline = time.monotonic() + timeout_s
        used = process.cpu_s()
        while True:
            self.rest(QUIET_S)
            before, used = used, process.cpu_s()
            if used - before <= QUIET_SHARE * QUIET_S:
                return
            if time.monotonic() > deadline:
                raise BenchError(f"process {process.pid} is busy for {timeout_s:g} s already")

    def settle(self) -> None:
        """Waits until discovery is over, which goes on when everybody has met everybody."""
        self.rest(self.options.choose(full=SETTLE_S, quick=SETTLE_S, smoke=0.3))

    def rest(self, seconds: float) -> None:
        """Spins the driver for some time."""
        ending = time.monotonic() + seconds
        while (left := ending - time.monotonic()) > 0:
            self._executor.spin_once(timeout_sec=left)
