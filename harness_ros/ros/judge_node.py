# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A judge as a hidden service: `_evaluate/<judge>`."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node

from harness_ros import srv
from harness_ros.contract import Judgement, Status
from harness_ros.judges import Judge
from harness_ros.ros import conversion
from harness_ros.ros.parameters import declare


class JudgeNode(Node):
    """Node `_judge_<name>`: answers Evaluate with what its judge says.

    Parameter `judge` is the key under `judges` in eval.yaml that it serves.
    """

    def __init__(self, judge: Judge, **options: Any) -> None:
        super().__init__(f"_judge_{judge.name}", **options)
        self._judge = judge
        key = declare(self, "judge", judge.name, "key under `judges` in eval.yaml to serve")
        self.create_service(srv.Evaluate, f"_evaluate/{key}", self._on_evaluate)
        self.get_logger().info(f"judge '{key}' is ready")

    def _on_evaluate(self, request: Any, response: Any) -> Any:
        try:
            judgement = self._judge.judge(conversion.request_from_message(request))
        except Exception as error:
            self.get_logger().error(f"run {request.observation.run_id}: {error!r}")
            judgement = Judgement(
                status=Status.FAILURE, judge=self._judge.name, error=f"the judge failed: {error!r}"
            )
        return conversion.judgement_to_response(judgement, response)
