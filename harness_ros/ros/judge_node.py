# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A judge as a hidden service: `_evaluate/<judge>`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from rclpy.node import Node

from harness_ros import srv
from harness_ros.contract import Judgement, Status
from harness_ros.judges import Judge
from harness_ros.ros import conversion
from harness_ros.ros.diagnostics import Diagnostics, Level, Report
from harness_ros.ros.parameters import declare
from harness_ros.ros.qos import REQUESTS


class JudgeNode(Node):
    """Node `_judge_<name>`: answers Evaluate with what its judge says.

    Parameter `judge` is the key under `judges` in eval.yaml that it serves.
    """

    def __init__(self, judge: Judge, **options: Any) -> None:
        super().__init__(f"_judge_{judge.name}", **options)
        self._judge = judge
        key = declare(self, "judge", judge.name, "key under `judges` in eval.yaml to serve")
        self._diagnostics = Diagnostics(self, self._reports)
        self._judged = 0
        self._could_not = 0
        self._slowest_s = 0.0
        self._service = self.create_service(
            srv.Evaluate, f"_evaluate/{key}", self._on_evaluate, qos_profile=REQUESTS
        )
        self.get_logger().info(f"judge '{key}' is ready")

    def _on_evaluate(self, request: Any, response: Any) -> Any:
        began = time.monotonic()
        try:
            judgement = self._judge.judge(conversion.request_from_message(request))
        except Exception as error:
            self._diagnostics.failed(f"run {request.observation.run_id}", error)
            judgement = Judgement(
                status=Status.FAILURE, judge=self._judge.name, error=f"the judge failed: {error!r}"
            )
        self._judged += 1
        self._could_not += bool(judgement.error)
        self._slowest_s = max(self._slowest_s, time.monotonic() - began)
        return conversion.judgement_to_response(judgement, response)

    def _reports(self) -> Iterator[Report]:
        values = {
            "judge": self._judge.name,
            "service": self._service.srv_name,
            "asked": self._judged,
            "could not judge": self._could_not,
            "slowest (s)": self._slowest_s,
        }
        level = Level.WARN if self._could_not else Level.OK
        yield Report("judge", level, f"{self._judged} questions answered", values)
