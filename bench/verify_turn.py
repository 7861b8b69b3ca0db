# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How many turns a second the sidecar verifies, and how late its answers are.

The verifier is trivial. The baseline is a service of the same type that answers at once, on the
same executor, in a process of its own. Both are called from this process, in turns of a second or
so, at the same pace or with the same number of calls under way.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import rclpy
import yaml
from rclpy.client import Client
from rclpy.context import Context
from rclpy.node import Node
from rclpy.task import Future

from bench.options import Options
from bench.processes import ROOT
from bench.record import BenchError, Measurement, Target, against
from bench.stage import Stage
from bench.world import configuration
from harness_ros import srv
from harness_ros.ros.deployment import NAMESPACE
from harness_ros.ros.qos import REQUESTS
from harness_ros.ros.spinning import SPIN_S, events_executor

RATE_HZ = 500.0
AT_MOST_TIMES = 1.5
AT_ONCE = 8
"""Calls under way where it is measured how many there can be."""
END_STATE = '{"task": "put the red block into the bin", "run_ids": ["run-1", "run-2"]}'
PATIENCE_S = 15.0


def measure(options: Options) -> Iterator[Measurement]:
    """Latency at 500 calls a second, latency of one call at a time, and the least time a call."""
    rounds = options.choose(full=15, quick=5, smoke=1)
    calls = options.choose(full=1000, quick=500, smoke=20)
    with _sidecar(options) as stage, _Asking() as asking:
        ours, bare = asking.client(f"{NAMESPACE}/sidecar/verify_turn"), asking.client("/bench/turn")
        stage.settle()
        for client in (ours, bare):
            asking.flood(client, max(calls // 5, AT_ONCE))
        paced, singly, flooded = [], [], []
        for number in range(rounds):
            options.tell(f"round {number + 1} of {rounds}")
            paced.append([asking.pace(client, calls) for client in (ours, bare)])
            singly.append([asking.one_by_one(client, calls // 4) for client in (ours, bare)])
            flooded.append([asking.flood(client, calls) for client in (ours, bare)])
    load = round(os.getloadavg()[0], 2)
    name = f"verify_turn/latency_at_{RATE_HZ:.0f}_a_second"
    yield _latency(name, paced, AT_MOST_TIMES, calls=calls, load=load)
    yield _latency("verify_turn/latency_one_by_one", singly, None, calls=calls // 4, load=load)
    yield _least(flooded, calls, load)


def _latency(
    name: str, rounds: list[list[list[float]]], at_most: float | None, **details: Any
) -> Measurement:
    """Medians of the latencies of rounds, in pairs; `details` has the late ones, too."""
    ours, bare = ([median(pair[side]) for pair in rounds] for side in (0, 1))
    late = {
        name: round(median(sorted(pair[side])[int(0.99 * len(pair[side]))] for pair in rounds), 4)
        for side, name in enumerate(("p99", "p99_bare"))
    }
    return against(name, "ms", ours, "bare service", bare, at_most, **late, **details)


def _least(rounds: list[list[float]], calls: int, load: float) -> Measurement:
    ours, bare = ([pair[side] for pair in rounds] for side in (0, 1))
    found = against("verify_turn/time_a_call", "ms", ours, "bare service", bare)
    details = {**found.details, "at_once": AT_ONCE, "calls": calls, "load": load}
    details |= {"calls_a_second": round(1e3 / found.value), "bare_calls_a_second": 0}
    assert found.baseline is not None
    details["bare_calls_a_second"] = round(1e3 / found.baseline.value)
    return found.model_copy(update={"target": Target(at_most=1e3 / RATE_HZ), "details": details})


@contextmanager
def _sidecar(options: Options) -> Iterator[Stage]:
    """A stage with the sidecar, which finds the trivial verifier, and the bare service."""
    config = configuration(options.folder, cameras=("front",))
    written = yaml.safe_load(config.read_text())
    written["sidecar"] = {"verifier": "bench.actors.trivial:verifier"}
    config.write_text(yaml.safe_dump(written))
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = f"{ROOT}{os.pathsep}{before}"
    try:
        with Stage(options) as stage:
            stage.node("sidecar", config=config, rules=options.folder / "rules.sqlite")
            stage.actor("bare_turn").hear()
            yield stage
    finally:
        os.environ["PYTHONPATH"] = before


class _Asking:
    """A node that calls services, with an executor in a thread of its own."""

    def __enter__(self) -> _Asking:
        self._context = Context()
        rclpy.init(context=self._context)
        self._node = Node("bench_asking", namespace=NAMESPACE, context=self._context)
        self._executor = events_executor(self._context)
        self._executor.add_node(self._node)
        self._ending = Future()
        self._thread = threading.Thread(
            target=self._executor.spin_until_future_complete,
            args=[self._ending, SPIN_S],
            daemon=True,
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set_result(None)
        self._executor.wake()
        self._thread.join(PATIENCE_S)
        self._executor.shutdown(1.0)
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def client(self, name: str) -> Client:
        """A client of a service that is there."""
        client = self._node.create_client(srv.VerifyTurn, name, qos_profile=REQUESTS)
        if not client.wait_for_service(PATIENCE_S):
            raise BenchError(f"no service {name} within {PATIENCE_S:g} s")
        return client

    def pace(self, client: Client, calls: int) -> list[float]:
        """Latencies (ms) of calls that are sent at the rate, whether answers have come or not."""
        answers = _Answers(client, calls)
        begun = time.monotonic()
        for number in range(calls):
            time.sleep(max(0.0, begun + number / RATE_HZ - time.monotonic()))
            answers.ask(number)
        return answers.latencies_ms()

    def one_by_one(self, client: Client, calls: int) -> list[float]:
        """Latencies (ms) of calls, each sent after the answer to the one before."""
        answers = _Answers(client, calls)
        for number in range(calls):
            answers.ask(number)
            answers.await_number(number + 1)
        return answers.latencies_ms()

    def flood(self, client: Client, calls: int) -> float:
        """Milliseconds a call with `AT_ONCE` of them under way."""
        answers = _Answers(client, calls, further=AT_ONCE)
        begun = time.perf_counter()
        for number in range(min(AT_ONCE, calls)):
            answers.ask(number)
        answers.latencies_ms()
        return (time.perf_counter() - begun) * 1e3 / calls


class _Answers:
    """Calls of a service and how long their answers took.

    Args:
        calls: how many there will be.
        further: each answer makes the call that comes so many after it; 0: none.
    """

    def __init__(self, client: Client, calls: int, further: int = 0) -> None:
        self._client = client
        self._calls = calls
        self._further = further
        self._took: list[float] = []
        self._problem = ""
        self._heard = threading.Condition()

    def ask(self, number: int) -> None:
        """Makes a call."""
        request = srv.VerifyTurn.Request(session_id="bench", turn_index=number, end_state=END_STATE)
        begun = time.perf_counter()
        future = self._client.call_async(request)
        future.add_done_callback(lambda answered: self._on_answer(answered, number, begun))

    def await_number(self, number: int) -> None:
        """Waits for so many answers.

        Raises:
            BenchError: they do not come, or one has no score.
        """
        with self._heard:
            if not self._heard.wait_for(lambda: len(self._took) >= number, PATIENCE_S):
                raise BenchError(f"{self._client.srv_name}: {len(self._took)} of {number} answers")
            if self._problem:
                raise BenchError(self._problem)

    def latencies_ms(self) -> list[float]:
        """Of all calls, once their answers are there."""
        self.await_number(self._calls)
        return self._took

    def _on_answer(self, answered: Any, number: int, begun: float) -> None:
        took_ms = (time.perf_counter() - begun) * 1e3
        response = answered.result()
        if self._further and number + self._further < self._calls:
            self.ask(number + self._further)
        with self._heard:
            self._took.append(took_ms)
            if not response.has_score:
                self._problem = f"{self._client.srv_name} gave no score: {response.reason}"
            self._heard.notify()
