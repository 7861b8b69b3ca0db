# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Records of harness_ros.contract to messages and back."""

from __future__ import annotations

import json
import math
from typing import Any

from builtin_interfaces.msg import Time
from sensor_msgs.msg import CameraInfo
from std_msgs.msg import Header

from harness_ros import msg, srv
from harness_ros.contract import (
    Arguments,
    Calibration,
    Clearance,
    EvaluationRequest,
    Judgement,
    Kind,
    Observation,
    Run,
    Signal,
    Status,
    Usage,
    Verdict,
    View,
)
from harness_ros.messages import (
    MAX_CHARACTERS,
    NANOSECONDS,
    ConversionError,
    confidence_from,
    parse_arguments,
    run_from_malformed,
    run_from_message,
    to_ns,
    usage_from_message,
    verdict_from_message,
)

__all__ = [
    "MAX_CHARACTERS",
    "NANOSECONDS",
    "ConversionError",
    "calibration_from_message",
    "calibration_to_message",
    "dump_arguments",
    "encodable",
    "judgement_from_response",
    "judgement_to_response",
    "observation_from_message",
    "observation_to_message",
    "parse_arguments",
    "request_from_message",
    "request_to_message",
    "run_from_malformed",
    "run_from_message",
    "run_to_message",
    "to_ns",
    "to_time",
    "usage_to_message",
    "verdict_from_message",
    "verdict_to_message",
    "view_from_message",
    "view_to_message",
]


def to_time(stamp_ns: int) -> Time:
    """Nanoseconds as builtin_interfaces/Time."""
    seconds, nanoseconds = divmod(stamp_ns, NANOSECONDS)
    return Time(sec=seconds, nanosec=nanoseconds)


def encodable(text: str) -> str:
    """The text with what UTF-8 cannot hold (half surrogate pairs) escaped.

    rclpy raises where a message is sent, outside of every callback, and that ends the node.
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def dump_arguments(arguments: Arguments) -> str:
    """Arguments as JSON text, the same text for the same arguments."""
    return json.dumps(arguments, sort_keys=True)


def run_to_message(run: Run) -> msg.ToolRun:
    """ToolRun of phase FINISHED where the run has ended, else STARTED."""
    return msg.ToolRun(
        phase=msg.ToolRun.FINISHED if run.finished else msg.ToolRun.STARTED,
        run_id=run.run_id,
        call_id=run.call_id,
        segment=run.segment,
        tool_name=run.tool_name,
        arguments=dump_arguments(run.arguments),
        started_at=to_time(run.started_at_ns),
        ended_at=to_time(run.ended_at_ns or 0),
    )


def calibration_to_message(calibration: Calibration | None) -> CameraInfo:
    """CameraInfo of a calibration; all zero where there is none."""
    if calibration is None:
        return CameraInfo()
    return CameraInfo(
        width=calibration.width,
        height=calibration.height,
        k=calibration.k,
        d=calibration.d,
        distortion_model=calibration.distortion_model,
    )


def calibration_from_message(message: CameraInfo) -> Calibration | None:
    """The calibration of a CameraInfo; None where K[0] is 0, which means uncalibrated."""
    if message.k[0] == 0.0:
        return None
    return Calibration(
        width=message.width,
        height=message.height,
        k=tuple(float(value) for value in message.k),
        d=tuple(message.d),
        distortion_model=message.distortion_model,
    )


def view_to_message(view: View) -> msg.View:
    """View.msg of a view; its data are copied once."""
    message = msg.View(
        name=view.name,
        header=Header(stamp=to_time(view.stamp_ns), frame_id=view.frame_id),
        stamped_on_receipt=view.stamped_on_receipt,
        height=view.height,
        width=view.width,
        encoding=view.encoding,
        published_encoding=view.published_encoding,
        step=view.step,
        is_bigendian=view.is_bigendian,
        camera_info=calibration_to_message(view.calibration),
        topic=view.topic,
        publisher=view.publisher,
    )
    # The setter of `data` would copy once more.
    message.data.frombytes(view.data)
    return message


def view_from_message(message: msg.View) -> View:
    """The View of a View.msg."""
    return View(
        name=message.name,
        stamp_ns=to_ns(message.header.stamp),
        stamped_on_receipt=message.stamped_on_receipt,
        frame_id=message.header.frame_id,
        height=message.height,
        width=message.width,
        encoding=message.encoding,
        published_encoding=message.published_encoding,
        step=message.step,
        is_bigendian=message.is_bigendian,
        data=bytes(message.data),
        calibration=calibration_from_message(message.camera_info),
        topic=message.topic,
        publisher=message.publisher,
    )


def observation_to_message(observation: Observation) -> msg.Observation:
    """Observation.msg of an observation."""
    clearance = observation.clearance
    message = msg.Observation(
        run_id=observation.run_id,
        captured_at=to_time(observation.captured_at_ns),
        views=[view_to_message(view) for view in observation.views],
        signals=[
            msg.Signal(
                name=signal.name,
                value=signal.value,
                unit=signal.unit,
                stamp=to_time(signal.stamp_ns),
            )
            for signal in observation.signals
        ],
        has_clearance=clearance is not None,
        summary=observation.summary,
        provenance=json.dumps(observation.provenance, sort_keys=True),
    )
    if clearance is not None:
        message.clearance_front = clearance.front
        message.clearance_left = clearance.left
        message.clearance_right = clearance.right
        message.clearance_rear = clearance.rear
    return message


def observation_from_message(message: msg.Observation) -> Observation:
    """The Observation of an Observation.msg.

    Raises:
        ConversionError: the provenance is no JSON object.
    """
    clearance = None
    if message.has_clearance:
        clearance = Clearance(
            front=message.clearance_front,
            left=message.clearance_left,
            right=message.clearance_right,
            rear=message.clearance_rear,
        )
    return Observation(
        run_id=message.run_id,
        captured_at_ns=to_ns(message.captured_at),
        views=tuple(view_from_message(view) for view in message.views),
        signals=tuple(
            Signal(
                name=signal.name,
                value=signal.value,
                unit=signal.unit,
                stamp_ns=to_ns(signal.stamp),
            )
            for signal in message.signals
        ),
        clearance=clearance,
        summary=message.summary,
        provenance=parse_arguments(message.provenance),
    )


def request_to_message(request: EvaluationRequest) -> Any:
    """Evaluate request of an evaluation request."""
    return srv.Evaluate.Request(
        post_condition=request.post_condition,
        criterion=request.criterion,
        observation=observation_to_message(request.observation),
        outcome_regions=[
            msg.OutcomeRegion(view=view, region=region)
            for view, region in request.outcome_regions.items()
        ],
    )


def request_from_message(message: Any) -> EvaluationRequest:
    """The evaluation request of an Evaluate request.

    Raises:
        ConversionError: it is malformed.
    """
    return EvaluationRequest(
        post_condition=message.post_condition,
        criterion=message.criterion,
        observation=observation_from_message(message.observation),
        outcome_regions={
            item.view: tuple(float(edge) for edge in item.region)
            for item in message.outcome_regions
        },
    )


def judgement_to_response(judgement: Judgement, response: Any) -> Any:
    """Fills an Evaluate response."""
    response.status = int(judgement.status)
    response.evidence = [encodable(line) for line in judgement.evidence]
    response.failure_reason = encodable(judgement.failure_reason)
    response.kind = judgement.kind.value
    response.judge = encodable(judgement.judge)
    response.error = encodable(judgement.error)
    response.confidence = _confidence(judgement.confidence)
    response.usage = usage_to_message(judgement.usage)
    return response


def judgement_from_response(response: Any) -> Judgement:
    """The judgement of an Evaluate response.

    Raises:
        ConversionError: a status or kind that does not exist.
    """
    try:
        return Judgement(
            status=Status(response.status),
            evidence=tuple(response.evidence),
            failure_reason=response.failure_reason,
            kind=Kind(response.kind),
            judge=response.judge,
            error=response.error,
            confidence=confidence_from(response.confidence),
            usage=usage_from_message(response.usage),
        )
    except ValueError as error:
        raise ConversionError(f"judge '{response.judge}' answered: {error}") from None


def verdict_to_message(verdict: Verdict, frame_id: str = "") -> msg.Verdict:
    """Verdict.msg of a verdict."""
    return msg.Verdict(
        header=Header(stamp=to_time(verdict.given_at_ns), frame_id=frame_id),
        run_id=verdict.run_id,
        call_id=verdict.call_id,
        tool_name=verdict.tool_name,
        arguments=dump_arguments(verdict.arguments),
        segment=verdict.segment,
        status=int(verdict.status),
        evidence=list(verdict.evidence),
        failure_reason=verdict.failure_reason,
        kind=verdict.kind.value,
        judge=verdict.judge,
        criteria_hash=verdict.criteria_hash,
        observed_at=to_time(verdict.observed_at_ns),
        confidence=_confidence(verdict.confidence),
        usage=usage_to_message(verdict.usage),
        error_card=encodable(verdict.error_card),
    )


def usage_to_message(usage: Usage) -> msg.JudgeUsage:
    """JudgeUsage.msg of a usage."""
    return msg.JudgeUsage(
        calls=usage.calls,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost=usage.cost,
    )


def _confidence(value: float | None) -> float:
    return math.nan if value is None else value
