# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A run without a verdict, as the evaluator holds it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import Enum

from rclpy.clock import Clock

from harness_ros.capture.diagnosis import ClockState
from harness_ros.capture.observing import Origins
from harness_ros.capture.sample import NANOSECONDS
from harness_ros.capture.session import CaptureSession
from harness_ros.contract import Observation, Run
from harness_ros.ros.evaluator.questions import Question

SHORT_RUN_S = 0.2
"""Of a shorter run it cannot be told whether both messages came at once."""
CLOCK_JUMP_S = 0.5
"""Less is the adjustment of a clock, not a jump."""


class Phase(Enum):
    """What an open run waits for."""

    ARMED = "the tool to end"
    CAPTURING = "frames after the end"
    JUDGING = "the judge"


@dataclass
class OpenRun:
    """A run without a verdict."""

    run: Run
    capture: CaptureSession
    deadline: float
    """On the steady clock, of the present phase."""
    clock: ClockWatch
    armed_at: float = field(default_factory=time.monotonic)
    """On the steady clock."""
    phase: Phase = Phase.ARMED
    resumed: bool = False
    """Taken up again after a restart."""
    origins: Origins = field(default_factory=Origins)
    observation: Observation | None = None
    observed_at: float | None = None
    """On the steady clock."""
    kept: bool = False
    """The Observation is in the ledger, or on its way."""
    question: Question | None = None

    def was_there(self) -> bool:
        """Whether this evaluator was armed for as long as the run took, whatever its stamps say.

        Of what it slept through, it hears both messages at once.
        """
        lasted_s = ((self.run.ended_at_ns or 0) - self.run.started_at_ns) / NANOSECONDS
        armed_s = time.monotonic() - self.armed_at
        return not self.resumed and armed_s > 0.8 * lasted_s > SHORT_RUN_S

    @property
    def sources(self) -> tuple[str, ...]:
        """What it listens to."""
        return self.capture.rule.sources


class ClockWatch:
    """Whether a clock jumped since this was made: it is held against the steady clock."""

    def __init__(self, clock: Clock, simulated: bool) -> None:
        self._clock = clock
        self._simulated = simulated
        self._began_ns = clock.now().nanoseconds
        self._began_steady = time.monotonic()

    def state(self) -> ClockState:
        """What is known now. Simulated time has a pace of its own: only going back is a jump."""
        now_ns = self._clock.now().nanoseconds
        elapsed_s = (now_ns - self._began_ns) / NANOSECONDS
        drift_s = elapsed_s - (time.monotonic() - self._began_steady)
        jumped_s = drift_s if not self._simulated else min(elapsed_s, 0.0)
        return ClockState(
            simulated=self._simulated,
            started=now_ns > 0,
            jumped_s=jumped_s if abs(jumped_s) > CLOCK_JUMP_S else 0.0,
        )
