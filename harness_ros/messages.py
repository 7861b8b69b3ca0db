# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs and verdicts from their messages, whoever deserialized them: rclpy live, rosbags offline.

A message is any object with the fields of its definition (ToolRun.msg, Verdict.msg).
"""

from __future__ import annotations

import math
from typing import Any

from pydantic_core import from_json

from harness_ros.contract import Arguments, HarnessError, Kind, Run, Status, Usage, Verdict

NANOSECONDS = 1_000_000_000
MAX_DEPTH = 32
"""Arguments nested deeper are refused: readers of JSON give up at depths of their own."""
MAX_CHARACTERS = 65_536
"""Arguments of a tool call that are longer as JSON are refused."""

STARTED, FINISHED = 0, 1
"""Phases of ToolRun.msg."""


class ConversionError(HarnessError):
    """A message that holds no valid record."""


def to_ns(time: Any) -> int:
    """builtin_interfaces/Time as nanoseconds."""
    return int(time.sec * NANOSECONDS + time.nanosec)


def parse_arguments(text: str, longest: int | None = None) -> Arguments:
    """Arguments from their JSON text; empty text means none.

    Args:
        longest: characters allowed.

    Raises:
        ConversionError: it is no JSON object, or one that would not survive being written again, or
            too long.
    """
    if longest is not None and len(text) > longest:
        raise ConversionError(
            f"arguments have {len(text)} characters, at most {longest} are allowed: {text[:120]!r}"
        )
    try:
        # Unlike json.loads it takes neither NaN nor half a surrogate pair, and never overflows.
        arguments = from_json(text or "{}", allow_inf_nan=False)
    except ValueError as error:
        raise ConversionError(f"arguments are no JSON: {error}: {text[:120]!r}") from None
    if not isinstance(arguments, dict):
        raise ConversionError(f"arguments are {text[:120]!r}; a JSON object is wanted")
    if not _writable(arguments, MAX_DEPTH):
        raise ConversionError(
            f"arguments are nested deeper than {MAX_DEPTH} levels, or hold a number too large "
            f"for float64: {text[:120]!r}"
        )
    return arguments


def _writable(value: Any, depth: int) -> bool:
    if isinstance(value, (dict, list)):
        items = value.values() if isinstance(value, dict) else value
        return depth > 0 and all(_writable(item, depth - 1) for item in items)
    return not isinstance(value, float) or math.isfinite(value)


def run_from_message(message: Any) -> Run:
    """The Run of a ToolRun message.

    Raises:
        ConversionError: no run_id, unknown phase, a stamp that is none, or malformed arguments.
    """
    if not message.run_id:
        raise ConversionError(f"ToolRun of tool '{message.tool_name}' has no run_id")
    if message.phase not in (STARTED, FINISHED):
        raise ConversionError(f"run {message.run_id}: phase {message.phase}; 0 and 1 are known")
    finished = message.phase == FINISHED
    for name in ("started_at", "ended_at") if finished else ("started_at",):
        time = getattr(message, name)
        if time.sec < 0 or time.nanosec >= NANOSECONDS:
            raise ConversionError(
                f"run {message.run_id}: {name} is {time.sec} s and {time.nanosec} ns; it may not "
                "be negative, and the nanoseconds must be less than a second"
            )
    return Run(
        run_id=message.run_id,
        call_id=message.call_id or message.run_id,
        segment=max(1, message.segment),
        tool_name=message.tool_name,
        arguments=parse_arguments(message.arguments),
        started_at_ns=to_ns(message.started_at),
        ended_at_ns=to_ns(message.ended_at) if finished else None,
    )


def run_from_malformed(message: Any, run_id: str = "") -> Run:
    """What is left of a ToolRun that `run_from_message` refuses: a run to give a verdict to.

    Args:
        run_id: where the message has none.
    """
    return Run(
        run_id=message.run_id or run_id,
        call_id=message.call_id,
        segment=max(1, message.segment),
        tool_name=message.tool_name,
        arguments={},
        started_at_ns=to_ns(message.started_at),
        ended_at_ns=to_ns(message.ended_at),
    )


def verdict_from_message(message: Any) -> Verdict:
    """The Verdict of a Verdict.msg.

    Raises:
        ConversionError: a status or kind that does not exist, or malformed arguments.
    """
    try:
        status, kind = Status(message.status), Kind(message.kind)
    except ValueError as error:
        raise ConversionError(f"verdict of run {message.run_id}: {error}") from None
    return Verdict(
        run_id=message.run_id,
        call_id=message.call_id,
        tool_name=message.tool_name,
        arguments=parse_arguments(message.arguments),
        segment=message.segment,
        status=status,
        evidence=tuple(message.evidence),
        failure_reason=message.failure_reason,
        kind=kind,
        judge=message.judge,
        criteria_hash=message.criteria_hash,
        given_at_ns=to_ns(message.header.stamp),
        observed_at_ns=to_ns(message.observed_at),
        # Bags hold the definition that was in force when they were recorded.
        confidence=confidence_from(getattr(message, "confidence", math.nan)),
        usage=usage_from_message(getattr(message, "usage", None)),
        error_card=getattr(message, "error_card", ""),
    )


def confidence_from(value: float) -> float | None:
    """A confidence of a message; NaN, and what is no share, says nothing."""
    return value if 0.0 <= value <= 1.0 else None


def usage_from_message(message: Any) -> Usage:
    """The Usage of a JudgeUsage.msg; None is a message of before there was one.

    Raises:
        ConversionError: the cost is negative or no number.
    """
    if message is None:
        return Usage()
    if not 0.0 <= message.cost < math.inf:
        raise ConversionError(f"a judge's usage has cost {message.cost}; 0 or more is wanted")
    return Usage(
        calls=message.calls,
        input_tokens=message.input_tokens,
        output_tokens=message.output_tokens,
        cost=message.cost,
    )
