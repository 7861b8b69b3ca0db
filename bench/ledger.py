# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the ledger costs: a verdict, and an Observation with three views.

The baseline is the least that keeps a line through a loss of power: one insertion of the same text
into a table without index, with the same journal and synchronous commits, on the same disk.
"""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench.frames import pixels
from bench.options import Options
from bench.record import Measurement, against, spread
from bench.world import CAMERAS, TOOL, VGA, topic
from harness_ros.contract import Observation, Run, Status, Verdict, View
from harness_ros.ledger import Ledger

VIEWS_KEPT = 20


def measure(options: Options) -> Iterator[Measurement]:
    """Median times of writing; values without a target."""
    verdicts = options.choose(full=300, quick=100, smoke=5)
    observations = options.choose(full=20, quick=5, smoke=2)
    with Ledger(options.folder / "ledger.sqlite") as ledger:
        bare = _Bare(options.folder / "bare.sqlite")
        written, baseline = [], []
        options.tell("verdicts")
        for _ in range(verdicts):
            run = _run()
            ledger.record_run(run)
            verdict = _verdict(run)
            text = verdict.model_dump_json()
            written.append(_ms(partial(ledger.record_verdict, verdict)))
            baseline.append(_ms(partial(bare.insert, text)))
        bare.close()
        yield against("ledger/verdict", "ms", written, "bare synchronous insertion", baseline)
        options.tell("observations")
        data = pixels(VGA)
        took = []
        for _ in range(observations):
            run = _run()
            ledger.record_run(run)
            seen = _observation(run, data)
            took.append(_ms(partial(ledger.record_observation, seen, VIEWS_KEPT)))
        yield Measurement(
            name="ledger/observation",
            value=spread(took)["median"],
            unit="ms",
            details={**spread(took), "views": f"{len(CAMERAS)} of {VGA} rgb8 with noise"},
        )


class _Bare:
    """A table of one column in a file of its own."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE line (text TEXT)")

    def insert(self, text: str) -> None:
        self._connection.execute("INSERT INTO line VALUES (?)", (text,))

    def close(self) -> None:
        self._connection.close()


def _ms(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return (time.perf_counter() - begun) * 1e3


def _run() -> Run:
    run_id = uuid.uuid4().hex
    now = time.time_ns()
    return Run(
        run_id=run_id,
        call_id=run_id,
        segment=1,
        tool_name=TOOL,
        arguments={},
        started_at_ns=now,
        ended_at_ns=now + 1,
    )


def _verdict(run: Run) -> Verdict:
    return Verdict(
        run_id=run.run_id,
        call_id=run.call_id,
        tool_name=run.tool_name,
        arguments=run.arguments,
        segment=1,
        status=Status.SUCCESS,
        evidence=("colour covers 0.98 of region [0.45, 0.45, 0.55, 0.55] in front",),
        judge="deterministic",
        criteria_hash="0" * 64,
        given_at_ns=time.time_ns(),
        observed_at_ns=run.ended_at_ns or 0,
    )


def _observation(run: Run, data: bytes) -> Observation:
    views = tuple(
        View(
            name=camera,
            stamp_ns=run.ended_at_ns or 0,
            frame_id=camera,
            height=VGA.height,
            width=VGA.width,
            encoding="rgb8",
            step=VGA.width * 3,
            is_bigendian=False,
            data=data,
            topic=topic(camera),
        )
        for camera in CAMERAS
    )
    return Observation(run_id=run.run_id, captured_at_ns=run.ended_at_ns or 0, views=views)
