# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluations by a model that come at the same time: what the judge adds to waiting for answers.

The endpoint is the server of the tests, in a process of its own, which answers after 50 ms. Beside
the judge the same number of requests of the same size are sent by plain `http.client`: that is what
this machine and this server take without a judge.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import local
from typing import Any
from urllib.parse import urlsplit

from bench.frames import pixels
from bench.options import Options
from bench.processes import ROOT, Process
from bench.record import Baseline, BenchError, Measurement, Target, spread
from bench.world import CAMERAS, Size, topic
from harness_ros.contract import EvaluationRequest, Observation, Status, View
from harness_ros.judges.model.judge import ModelJudge
from harness_ros.judges.model.question import ask_about, messages
from harness_ros.judges.model.settings import ModelSettings

SERVER = ROOT / "test" / "judges" / "model" / "openai_server.py"
AT_ONCE, ANSWER_S = 8, 0.05
AT_MOST_TIMES = 1.3
SIZE = Size(320, 240)
"""Of a view: encoding larger ones is what `question` measures."""


def measure(options: Options) -> Iterator[Measurement]:
    """Median time of evaluations at the same time, by what the endpoint's answers take alone."""
    evaluations = options.choose(full=200, quick=200, smoke=16)
    rounds = options.choose(full=9, quick=3, smoke=1)
    command = [sys.executable, str(SERVER), "--delay", str(ANSWER_S)]
    server = Process(command, options.folder / "server.log", os.environ, speaks=True)
    try:
        address = str(server.hear()["base_url"])
        took, bare = _in_turns(options, address, evaluations, rounds)
    finally:
        server.ask_to_end()
        server.end()
    ideal_s = evaluations / AT_ONCE * ANSWER_S
    yield Measurement(
        name="asking/evaluations",
        value=spread(took)["median"],
        unit="s",
        ratio=spread(took)["median"] / ideal_s,
        baseline=Baseline(name="waiting for the answers alone", value=ideal_s),
        target=Target(at_most=AT_MOST_TIMES, of="ratio"),
        details={
            **spread(took),
            "plain http.client": spread(bare),
            "evaluations": evaluations,
            "at_once": AT_ONCE,
            "answer_s": ANSWER_S,
            "views": f"{len(CAMERAS)} of {SIZE}",
            "load_1min": round(os.getloadavg()[0], 2),
        },
    )


def _in_turns(
    options: Options, address: str, evaluations: int, rounds: int
) -> tuple[list[float], list[float]]:
    settings = ModelSettings(type="model", model="any", base_url=address, api_key_env=None)
    request = _request()
    sent = {"model": "any", "messages": messages(ask_about(request, settings), settings)}
    judge, plain = ModelJudge("model", settings), _Plain(address, json.dumps(sent).encode())
    problem = judge.prepare()
    if problem:
        raise BenchError(problem)

    def evaluate(_: int) -> None:
        judgement = judge.judge(request)
        if judgement.status is not Status.SUCCESS:
            raise BenchError(f"an evaluation was no success: {judgement.failure_reason}")

    took, bare = [], []
    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            _seconds(pool, evaluate, 2 * AT_ONCE)
            _seconds(pool, plain.ask, 2 * AT_ONCE)
            for number in range(rounds):
                options.tell(f"round {number + 1} of {rounds}")
                took.append(_seconds(pool, evaluate, evaluations))
                bare.append(_seconds(pool, plain.ask, evaluations))
    finally:
        judge.close()
    return took, bare


def _request() -> EvaluationRequest:
    data = pixels(SIZE)
    views = tuple(
        View(
            name=camera,
            stamp_ns=1,
            frame_id=camera,
            height=SIZE.height,
            width=SIZE.width,
            encoding="rgb8",
            step=SIZE.width * 3,
            is_bigendian=False,
            data=data,
            topic=topic(camera),
        )
        for camera in CAMERAS
    )
    return EvaluationRequest(
        post_condition="The cube lies in the tray.",
        criterion="",
        observation=Observation(run_id="run", captured_at_ns=1, views=views),
    )


def _seconds(pool: ThreadPoolExecutor, job: Callable[[int], Any], times: int) -> float:
    begun = time.perf_counter()
    for _ in pool.map(job, range(times)):
        pass
    return time.perf_counter() - begun


class _Plain:
    """The same body again and again, over one connection for each thread."""

    def __init__(self, address: str, body: bytes) -> None:
        self._address = urlsplit(address)
        self._body = body
        self._of_thread = local()

    def ask(self, _: int) -> None:
        if not hasattr(self._of_thread, "connection"):
            host, port = self._address.hostname or "", self._address.port
            self._of_thread.connection = http.client.HTTPConnection(host, port)
        connection = self._of_thread.connection
        path = f"{self._address.path}/chat/completions"
        connection.request("POST", path, self._body, {"Content-Type": "application/json"})
        connection.getresponse().read()
