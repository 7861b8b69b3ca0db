# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How long after the last needed frame the verdict is there, beside a bare service call.

The baseline is a service of type Evaluate with the same three views in a prebuilt request and an
empty answer, called by the driver and served by another process that does nothing. A second one,
whose process keeps the memory that it freed as the nodes of harness_ros do, is shown beside.
"""

from __future__ import annotations

import array
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rclpy.client import Client
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Image

from bench.frames import Frame, pixels
from bench.options import Options
from bench.record import Measurement, Target, against, spread
from bench.runs import Runs
from bench.stage import Stage
from bench.world import CAMERAS, HD, VGA, Size, configuration, topic
from harness_ros import msg, srv

AT_MOST_TIMES = 1.5
AT_MOST_MS = 20.0
ARMED_S = 0.03
"""From the subscriptions to FINISHED, and from there to the frames: both must have arrived."""


def measure(options: Options) -> Iterator[Measurement]:
    """Latency of a verdict at two sizes: by the bare call, and absolute at the smaller."""
    rounds = options.choose(full=40, quick=10, smoke=2)
    warm_up = options.choose(full=3, quick=3, smoke=1)
    with Stage(options) as stage:
        timing = _Timing(stage)
        for size in (VGA, HD):
            found = [
                timing.round(size, f"{turn + 1} of {warm_up + rounds}")
                for turn in range(warm_up + rounds)
            ]
            yield from _figures(size, found[warm_up:])


@dataclass(frozen=True)
class Round:
    """A verdict and two calls beside it, all in ms."""

    verdict: float
    """From the end of the last publish to the verdict."""
    verdict_from_publish: float
    """From the beginning of the last publish."""
    bare: float
    bare_kept: float


def _figures(size: Size, found: list[Round]) -> Iterator[Measurement]:
    verdicts = [item.verdict for item in found]
    yield against(
        f"latency/{size}",
        "ms",
        verdicts,
        "bare Evaluate call",
        [item.bare for item in found],
        at_most=AT_MOST_TIMES,
        since_before_last_publish=spread([item.verdict_from_publish for item in found]),
        judge="deterministic, colour of 1 % of one view",
    )
    yield against(
        f"latency/{size}/kept_memory",
        "ms",
        verdicts,
        "bare call, memory kept",
        [item.bare_kept for item in found],
    )
    if size == VGA:
        yield Measurement(
            name=f"latency/{size}/absolute",
            value=spread(verdicts)["median"],
            unit="ms",
            target=Target(at_most=AT_MOST_MS),
            details=spread(verdicts),
        )


class _Timing:
    """Evaluator, judge, the bare service, and publishers of the cameras."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._prepared: dict[Size, tuple[Frame, Any]] = {}
        self._evaluator = stage.evaluator(configuration(stage.folder))
        stage.node("judge_deterministic")
        for memory in ("plain", "kept"):
            stage.actor("bare_judge", memory).hear()
        self._runs = Runs(stage)
        driver = stage.driver
        self._bare = {
            memory: driver.create_client(srv.Evaluate, f"/bench/{memory}")
            for memory in ("plain", "kept")
        }
        self._cameras = {
            camera: driver.create_publisher(Image, topic(camera), qos_profile_sensor_data)
            for camera in CAMERAS
        }
        self._runs.await_evaluator()
        stage.until(
            lambda: all(client.service_is_ready() for client in self._bare.values()),
            "the bare services",
        )
        stage.settle()

    def round(self, size: Size, which: str) -> Round:
        """One verdict, then one call of each bare service."""
        self._stage.options.tell(f"{size}, round {which}")
        if size not in self._prepared:
            self._prepared[size] = Frame(size), _request(size)
        frame, request = self._prepared[size]
        begun, ended = self._verdict(frame)
        # The Observation goes to the ledger; neither the calls nor the next run are to meet that.
        self._stage.await_quiet(self._evaluator)
        calls = {memory: self._call(client, request) for memory, client in self._bare.items()}
        return Round(ended, begun, calls["plain"], calls["kept"])

    def _verdict(self, frame: Frame) -> tuple[float, float]:
        self._runs.await_subscriptions(wanted=False)
        run_id = self._runs.start()
        self._runs.await_subscriptions(wanted=True)
        # The graph of the driver may be ahead of its own publishers.
        self._stage.until(
            lambda: all(camera.get_subscription_count() for camera in self._cameras.values()),
            "subscriptions at the publishers",
        )
        self._stage.rest(ARMED_S)
        self._runs.finish(run_id)
        self._stage.rest(ARMED_S)
        data = frame.stamped()
        begun = ended = 0
        for camera in self._cameras.values():
            begun = time.perf_counter_ns()
            camera.publish(data)
            ended = time.perf_counter_ns()
        heard_ns = self._runs.success(run_id).at_ns
        return (heard_ns - begun) / 1e6, (heard_ns - ended) / 1e6

    def _call(self, client: Client, request: Any) -> float:
        ended: list[int] = []
        begun = time.perf_counter_ns()
        future = client.call_async(request)
        future.add_done_callback(lambda _: ended.append(time.perf_counter_ns()))
        self._stage.until(lambda: ended, "an answer of the bare service")
        return (ended[0] - begun) / 1e6


def _request(size: Size) -> Any:
    data = array.array("B", pixels(size))
    views = [
        msg.View(
            name=camera,
            height=size.height,
            width=size.width,
            encoding="rgb8",
            step=size.width * 3,
            data=data,
            topic=topic(camera),
        )
        for camera in CAMERAS
    ]
    return srv.Evaluate.Request(observation=msg.Observation(run_id="bench", views=views))
