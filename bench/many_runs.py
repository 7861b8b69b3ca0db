# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Ten thousand runs: the evaluator's memory stays flat, the ledger answers as quickly as ever."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Image

from bench.frames import Frame
from bench.options import Options
from bench.processes import Process
from bench.record import BenchError, Measurement, Target, spread
from bench.runs import Runs, expect_success
from bench.stage import Stage
from bench.world import CAMERAS, SMALL, configuration, topic
from harness_ros.ledger import Ledger

GROWTH_AT_MOST_MIB = 5.0
QUERY_AT_MOST_MS = 1.0
IN_FLIGHT = 8
FRAME_S = 0.01
"""Between two sets of frames."""
SAMPLES = 40
QUERIES = 300
PATIENCE_S = 30.0


def measure(options: Options) -> Iterator[Measurement]:
    """Memory from a tenth of the runs on, the time of a query after all of them, the rate."""
    number = options.choose(full=10_000, quick=1_000, smoke=60)
    with Stage(options) as stage:
        load = _Load(stage)
        begun = time.monotonic()
        run_ids, memory = load.run(number)
        lasted_s = time.monotonic() - begun
        queries = _queries(stage, run_ids)
    settled = [bytes_ / 2**20 for done, bytes_ in memory if done >= number // 10]
    yield Measurement(
        name="many_runs/memory_growth",
        value=max(settled) - settled[0],
        unit="MiB",
        target=Target(at_most=GROWTH_AT_MOST_MIB),
        details={
            "n": len(settled),
            "runs": number,
            "counted_from_run": number // 10,
            "rss_mib": [[done, round(bytes_ / 2**20, 2)] for done, bytes_ in memory],
        },
    )
    yield Measurement(
        name="many_runs/ledger_query",
        value=spread(queries)["median"],
        unit="ms",
        target=Target(at_most=QUERY_AT_MOST_MS),
        details={**spread(queries), "runs": number, "query": "the run and its verdict by run_id"},
    )
    yield Measurement(
        name="many_runs/rate",
        value=number / lasted_s,
        unit="runs/s",
        details={"n": number, "in_flight": IN_FLIGHT, "seconds": round(lasted_s, 1)},
    )


class _Load:
    """Keeps some runs in flight, and three small cameras."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._evaluator: Process = stage.evaluator(configuration(stage.folder))
        stage.node("judge_deterministic")
        self._cameras = [
            stage.driver.create_publisher(Image, topic(camera), qos_profile_sensor_data)
            for camera in CAMERAS
        ]
        self._frame = Frame(SMALL)
        self._next_frame = 0.0
        self._runs = Runs(stage)
        self._runs.await_evaluator()
        stage.settle()

    def run(self, number: int) -> tuple[list[str], list[tuple[int, int]]]:
        """Lets so many runs be judged; their ids, and the memory after so many verdicts."""
        done: list[str] = []
        memory: list[tuple[int, int]] = []
        started: set[str] = set()
        finished: set[str] = set()
        begun = 0
        every = max(1, number // SAMPLES)
        heard_at = time.monotonic()
        while len(done) < number:
            for run_id in started:
                self._runs.finish(run_id)
            finished |= started
            started = set()
            while begun < number and len(started) + len(finished) < IN_FLIGHT:
                started.add(self._runs.start())
                begun += 1
            self._publish_when_due()
            self._stage.rest(FRAME_S / 4)
            judged = finished & self._runs.heard.keys()
            for run_id in judged:
                expect_success(self._runs.heard.pop(run_id).verdict)
                done.append(run_id)
                if len(done) % every == 0:
                    memory.append((len(done), self._evaluator.memory_bytes()))
                    self._stage.options.tell(f"{len(done)} of {number} runs")
            finished -= judged
            if judged:
                heard_at = time.monotonic()
            elif time.monotonic() > heard_at + PATIENCE_S:
                raise BenchError(f"no verdict for {PATIENCE_S:g} s after {len(done)} runs")
        return done, memory

    def _publish_when_due(self) -> None:
        now = time.monotonic()
        if now < self._next_frame:
            return
        self._next_frame = now + FRAME_S
        data = self._frame.stamped()
        for camera in self._cameras:
            camera.publish(data)


def _queries(stage: Stage, run_ids: list[str]) -> list[float]:
    """Milliseconds of each query, in a process of its own beside the evaluator."""
    took = []
    with Ledger(stage.folder / "ledger.sqlite") as ledger:
        for run_id in random.Random(0).choices(run_ids, k=QUERIES):
            begun = time.perf_counter()
            run, verdict = ledger.run(run_id), ledger.verdict(run_id)
            took.append((time.perf_counter() - begun) * 1e3)
            if run is None or verdict is None:
                raise BenchError(f"the ledger does not know run {run_id}")
    return took
