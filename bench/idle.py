# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the evaluator costs while no tool runs: no camera subscription, little processor time."""

from __future__ import annotations

from collections.abc import Iterator

from bench.options import Options
from bench.record import Measurement, Target, spread
from bench.runs import Runs
from bench.stage import Stage
from bench.world import CAMERAS, HD, RATE_HZ, configuration

AT_MOST_PERCENT = 1.0
AFTER_DISCOVERY_S = 3.0


def measure(options: Options) -> Iterator[Measurement]:
    """Camera subscriptions and processor time, three cameras publishing at 30 Hz."""
    windows = options.choose(full=3, quick=1, smoke=1)
    seconds = options.choose(full=10.0, quick=10.0, smoke=1.0)
    with Stage(options) as stage:
        evaluator = stage.evaluator(configuration(stage.folder))
        cameras = stage.actor("cameras", "--width", HD.width, "--height", HD.height)
        cameras.hear()
        runs = Runs(stage)
        runs.await_evaluator()
        stage.settle()
        shares, subscriptions, published = [], 0, 0
        # Discovery announces itself often in the first seconds of a process, and no longer then.
        stage.rest(options.choose(AFTER_DISCOVERY_S, AFTER_DISCOVERY_S, 0.0))
        for window in range(windows):
            options.tell(f"window {window + 1} of {windows}")
            cameras.say(frames=round(seconds * RATE_HZ), subscriptions=0)
            cameras.hear()
            cpu_s = evaluator.cpu_s()
            subscriptions = max(subscriptions, sum(runs.subscribed(camera) for camera in CAMERAS))
            published += cameras.hear(timeout_s=30.0 + seconds)["published"]
            shares.append(100.0 * (evaluator.cpu_s() - cpu_s) / seconds)
            subscriptions = max(subscriptions, sum(runs.subscribed(camera) for camera in CAMERAS))
    yield Measurement(
        name="idle/camera_subscriptions",
        value=subscriptions,
        unit="subscriptions",
        target=Target(at_most=0.0),
        details={"n": 2 * windows, "frames_a_camera": published},
    )
    yield Measurement(
        name="idle/cpu",
        value=spread(shares)["median"],
        unit="% of a core",
        target=Target(at_most=AT_MOST_PERCENT),
        details={**spread(shares), "seconds_a_window": seconds},
    )
