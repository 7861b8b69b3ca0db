# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The records that everything here speaks: Run, View, Signal, Observation, Judgement, Verdict.

Stamps are integers of nanoseconds on the clock of the message headers (simulated time where that
is used). Distances are metres, as in REP 103.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Any

import pydantic
from pydantic import BaseModel, ConfigDict, Field

if int(pydantic.VERSION.split(".")[0]) < 2:
    raise ImportError(
        f"harness_ros needs pydantic 2, this is {pydantic.VERSION} (Ubuntu 24.04 ships 1.10): "
        "python3 -m pip install --user --break-system-packages 'pydantic>=2.5'"
    )

from pydantic import JsonValue

Arguments = dict[str, JsonValue]


class HarnessError(Exception):
    """Base of every error raised on purpose; its text is for the person at the robot."""


class Record(BaseModel):
    """A frozen record; unknown fields are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Status(IntEnum):
    """What a judge or the evaluator says of a run; the numbers are those of Verdict.msg."""

    PROCESS = 0
    SUCCESS = 1
    FAILURE = 2


class Kind(str, Enum):
    """Why a run has no judged outcome; `JUDGED` where a judge saw the outcome."""

    JUDGED = ""
    """A judge saw that the post-condition does not hold."""
    INCONCLUSIVE = "inconclusive"
    """A judge looked at the Observation and could not tell."""
    OBSERVATION_UNAVAILABLE = "observation_unavailable"
    """No complete set of frames and signals after the end of the run."""
    JUDGE_UNAVAILABLE = "judge_unavailable"
    """The judge did not answer in time, or answered that it cannot judge."""
    JUDGE_PROTOCOL_VIOLATION = "judge_protocol_violation"
    """The judge's answer contradicts itself or the tool (such as `process` without segments)."""
    MISSING_RUN_ID = "missing_run_id"
    """No tool took the call, or a tool ended and nobody knows its run."""
    INVALID_RUN = "invalid_run"
    """A tool or arguments that the configuration does not allow, or messages that contradict."""
    SEGMENT_BUDGET_EXHAUSTED = "segment_budget_exhausted"
    """The last segment that the budget allows still ended in `process`."""
    CANCELLED = "cancelled"
    """The call was cancelled before there was anything to judge."""
    INTERRUPTED = "interrupted"
    """The evaluator was down while the evidence could be had, or the tool never ended."""


class ExitCode(IntEnum):
    """The exit code of a tool call; the numbers are those of RunTool.action."""

    SUCCESS = 0
    FAILURE = 1
    UNJUDGED = 2
    CANCELLED = 3


class Run(Record):
    """One execution of one physical tool, or of one segment of it (ToolRun.msg)."""

    run_id: str = Field(min_length=1)
    call_id: str
    segment: int = Field(ge=1)
    tool_name: str
    arguments: Arguments
    started_at_ns: int
    ended_at_ns: int | None = None
    """None while the run goes on."""

    @property
    def finished(self) -> bool:
        """Whether the tool has said that this run ended."""
        return self.ended_at_ns is not None


class Calibration(Record):
    """Intrinsic calibration of a camera (sensor_msgs/CameraInfo)."""

    width: int = Field(gt=0)
    """Pixels of the image that it was made with."""
    height: int = Field(gt=0)
    k: tuple[float, float, float, float, float, float, float, float, float]
    """fx 0 cx, 0 fy cy, 0 0 1 in pixels, row by row."""
    d: tuple[float, ...] = ()
    """Distortion; empty where there is none."""
    distortion_model: str = "plumb_bob"


class View(Record):
    """One camera frame, as its publisher sent it (View.msg)."""

    name: str
    stamp_ns: int
    stamped_on_receipt: bool = False
    """The stamp is the time of reception, because the configuration says `stamp: receive`."""
    frame_id: str
    height: int = Field(ge=0)
    """Pixels; 0 for compressed images, whose data carry it."""
    width: int = Field(ge=0)
    encoding: str
    """A sensor_msgs image encoding, or the format of a compressed image (`jpeg`, `png`, ...)."""
    published_encoding: str = ""
    """What the publisher said, where the configuration overrides it."""
    step: int = Field(ge=0)
    """Bytes a row; 0 for compressed images."""
    is_bigendian: bool
    data: bytes = Field(repr=False)
    calibration: Calibration | None = None
    topic: str
    publisher: str = ""


class Signal(Record):
    """One scalar, such as the width of a gripper (Signal.msg)."""

    name: str
    value: float
    unit: str
    stamp_ns: int


class Clearance(Record):
    """Distances from the base to the nearest obstacle, in metres."""

    front: float
    left: float
    right: float
    rear: float


class Observation(Record):
    """The world after a run ended; each stamp in it is at or after `ended_at + settle`."""

    run_id: str
    captured_at_ns: int
    """Stamp of the youngest view or signal."""
    views: tuple[View, ...]
    signals: tuple[Signal, ...] = ()
    clearance: Clearance | None = None
    summary: str = ""
    provenance: dict[str, Any] = Field(default_factory=dict)

    def view(self, name: str) -> View | None:
        """The view of the camera `name`, or None."""
        return next((view for view in self.views if view.name == name), None)

    def signal(self, name: str) -> Signal | None:
        """The signal `name`, or None."""
        return next((signal for signal in self.signals if signal.name == name), None)


Region = tuple[float, float, float, float]
"""Left, top, right, bottom of a part of a view, as shares of its width and height (0 to 1)."""


class EvaluationRequest(Record):
    """All that a judge ever gets (Evaluate.srv)."""

    post_condition: str
    criterion: str
    """JSON of the criterion for deterministic judges; empty where there is none."""
    observation: Observation
    outcome_regions: dict[str, Region] = Field(default_factory=dict)
    """Where in a view the outcome is to be seen, by the view's name."""


class Usage(Record):
    """What the answers of a paid or counted judge took (JudgeUsage.msg); all 0 for others."""

    calls: int = Field(default=0, ge=0)
    """Requests that were sent to a model, repeated ones included."""
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cost: float = Field(default=0.0, ge=0)
    """In the currency of the prices in the configuration; 0 where there are none."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=self.cost + other.cost,
        )


class Judgement(Record):
    """A judge's answer (Evaluate.srv)."""

    status: Status
    evidence: tuple[str, ...] = ()
    failure_reason: str = ""
    kind: Kind = Kind.JUDGED
    """`JUDGE_PROTOCOL_VIOLATION` only beside an `error`: a model answered, and not as asked."""
    judge: str = ""
    error: str = ""
    """Not empty: the judge could not judge, and why."""
    confidence: float | None = Field(default=None, ge=0, le=1)
    """How sure the judge is of its status; None where it does not say."""
    usage: Usage = Usage()


class Verdict(Record):
    """What the world says of one run (Verdict.msg)."""

    run_id: str
    call_id: str
    tool_name: str
    arguments: Arguments
    segment: int
    status: Status
    evidence: tuple[str, ...] = ()
    failure_reason: str = ""
    kind: Kind = Kind.JUDGED
    judge: str = ""
    criteria_hash: str = ""
    given_at_ns: int = 0
    observed_at_ns: int = 0
    """`captured_at` of the Observation; 0 when there was none."""
    confidence: float | None = Field(default=None, ge=0, le=1)
    """How sure the judge is of its status; None where it does not say."""
    usage: Usage = Usage()
    error_card: str = ""
    """Id of the judge's error card, `uncalibrated`, or `stale: ` and why; empty where no judge was
    asked."""

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of a call whose last segment ended with this verdict."""
        return exit_code(self.status, self.kind)


UNJUDGED_KINDS = frozenset(Kind) - {Kind.JUDGED, Kind.SEGMENT_BUDGET_EXHAUSTED, Kind.CANCELLED}
"""Kinds of failure in which nobody saw the outcome; rates count them apart."""


def exit_code(status: Status, kind: Kind) -> ExitCode:
    """Exit code of a verdict; a call that still is in `process` has not been judged to its end."""
    if status is Status.SUCCESS:
        return ExitCode.SUCCESS
    if kind is Kind.CANCELLED:
        return ExitCode.CANCELLED
    if status is Status.PROCESS or kind in UNJUDGED_KINDS:
        return ExitCode.UNJUDGED
    return ExitCode.FAILURE
