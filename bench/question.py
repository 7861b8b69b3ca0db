# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What it costs to put three views into the messages for a model.

The baseline is the least that could be sent: the same pictures as JPEG of the same quality by plain
OpenCV, one after the other. Beside it the key of the question, by which recorded answers are found:
that hashes the frames, and is asked for with a cassette alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from bench.options import Options
from bench.record import Measurement, Target, against, spread
from bench.world import CAMERAS, HD, Size, topic
from harness_ros.contract import EvaluationRequest, Observation, View
from harness_ros.judges.model.question import ask_about, messages
from harness_ros.judges.model.settings import ModelSettings

AT_MOST_MS, AT_MOST_TIMES = 30.0, 1.5
WARM_UP = 3


def measure(options: Options) -> Iterator[Measurement]:
    """Median times of a question, in turns with plain JPEG."""
    settings = ModelSettings(type="model", model="any")
    request = _request(HD)
    took, plain, with_key = [], [], []
    options.tell("asks")
    for number in range(options.choose(full=200, quick=50, smoke=3) + WARM_UP):
        ours = _ms(partial(_ask, request, settings))
        theirs = _ms(partial(_plain, request.observation, settings.jpeg_quality))
        keyed = _ms(partial(_ask, request, settings, key=True))
        if number >= WARM_UP:
            took.append(ours)
            plain.append(theirs)
            with_key.append(keyed)
    name = f"question/{HD}"
    yield against(name, "ms", took, "plain JPEG", plain, AT_MOST_TIMES, views=len(CAMERAS))
    for end, values in (("absolute", took), ("with_key", with_key)):
        yield Measurement(
            name=f"{name}/{end}",
            value=spread(values)["median"],
            unit="ms",
            target=Target(at_most=AT_MOST_MS),
            details=spread(values),
        )


def _ask(
    request: EvaluationRequest, settings: ModelSettings, key: bool = False
) -> list[dict[str, Any]]:
    question = ask_about(request, settings)
    if key:
        assert question.key
    return messages(question, settings)


def _plain(observation: Observation, quality: int) -> list[bytes]:
    return [
        cv2.imencode(
            ".jpg",
            cv2.cvtColor(
                np.frombuffer(view.data, np.uint8).reshape(view.height, view.width, 3),
                cv2.COLOR_RGB2BGR,
            ),
            [cv2.IMWRITE_JPEG_QUALITY, quality],
        )[1].tobytes()
        for view in observation.views
    ]


def _request(size: Size) -> EvaluationRequest:
    views = tuple(
        View(
            name=camera,
            stamp_ns=number,
            frame_id=camera,
            height=size.height,
            width=size.width,
            encoding="rgb8",
            step=size.width * 3,
            is_bigendian=False,
            data=_scene(size, number).tobytes(),
            topic=topic(camera),
        )
        for number, camera in enumerate(CAMERAS)
    )
    return EvaluationRequest(
        post_condition="The cup stands on the tray.",
        criterion="",
        observation=Observation(run_id="run", captured_at_ns=len(views), views=views),
    )


def _scene(size: Size, seed: int) -> NDArray[np.uint8]:
    """Things on a table, with the noise of a sensor: as costly to encode as a camera's picture."""
    random = np.random.default_rng(seed)
    rows = np.linspace(90, 170, size.height)[:, None, None]
    scene = np.broadcast_to(rows, (size.height, size.width, 3)).astype(np.uint8).copy()
    for _ in range(60):
        centre = (int(random.integers(size.width)), int(random.integers(size.height)))
        colour = [int(value) for value in random.integers(20, 236, 3)]
        cv2.circle(scene, centre, int(random.integers(10, 90)), colour, cv2.FILLED, cv2.LINE_AA)
    noise = random.normal(0, 3, scene.shape)
    noisy: NDArray[np.uint8] = np.clip(scene + noise, 0, 255).astype(np.uint8)
    return noisy


def _ms(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return (time.perf_counter() - begun) * 1e3
