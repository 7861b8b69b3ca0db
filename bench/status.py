# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the evaluator says on /diagnostics."""

from __future__ import annotations

from typing import Any

from diagnostic_msgs.msg import DiagnosticArray

from bench.stage import Stage

EVALUATOR = "/_evaluator: "


class EvaluatorStatus:
    """Keeps the last diagnostics of the evaluator."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._values: dict[str, dict[str, str]] = {}
        self._messages = 0
        stage.driver.create_subscription(DiagnosticArray, "/diagnostics", self._on_message, 10)

    def received(self, cameras: tuple[str, ...]) -> dict[str, int]:
        """Frames that the evaluator received of each camera since it was armed last.

        Waits for the second message from now on: the first may have been made before.
        """
        seen = self._messages
        self._stage.until(lambda: self._messages >= seen + 2, "diagnostics of the evaluator")
        return {camera: int(self._values[f"source {camera}"]["received"]) for camera in cameras}

    def _on_message(self, message: Any) -> None:
        own = {
            status.name.partition(EVALUATOR)[2]: {item.key: item.value for item in status.values}
            for status in message.status
            if EVALUATOR in status.name
        }
        if own:
            self._values = own
            self._messages += 1
