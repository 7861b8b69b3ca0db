# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a model may answer: its JSON schema, and the strict reading of what came.

Nothing is repaired: prose or a code fence around the JSON, a further key, a word that is no status
is an answer that was not asked for, and no judgement. Reasons stand before the status, since a
model writes from left to right and what it has written decides what it writes next.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from harness_ros.contract import HarnessError

STATUSES = ("success", "failure", "inconclusive", "process")
"""All that a model may be allowed to answer."""
MOST_PIECES = 50
LONGEST = 2000
"""Characters of a piece of evidence or a reason."""
SHOWN = 160
"""Characters of an answer that an error shows."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


class AnswerError(HarnessError):
    """A model answered, and not as asked."""


def _one_line(value: Any) -> Any:
    """Text as a line of evidence; what is no text is left to the type."""
    if not isinstance(value, str):
        return value
    if found := _CONTROL.search(value):
        # Neither the ledger nor a ROS message could hold it.
        raise ValueError(f"has the character {found[0]!r}")
    return " ".join(value.split())


Line = Annotated[str, BeforeValidator(_one_line), Field(max_length=LONGEST)]
Piece = Annotated[Line, Field(min_length=1)]


class StrictAnswer(BaseModel):
    """What a model may write: exactly these keys, of exactly these types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class ModelAnswer(StrictAnswer):
    """What a model says of a post-condition."""

    evidence: Annotated[list[Piece], Field(max_length=MOST_PIECES)]
    """What is to be seen that decides, a piece each."""
    failure_reason: Line
    """Why it is no success; empty for a success."""
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    """How sure the model says it is of its status."""
    status: Literal["success", "failure", "inconclusive", "process"]


class CriticPiece(StrictAnswer):
    """What a model finds of one piece of claimed evidence."""

    reason: Line
    visible: bool


class _CriticAnswer(StrictAnswer):
    pieces: list[CriticPiece]


Model = TypeVar("Model", bound=BaseModel)


def answer_schema(statuses: Sequence[str]) -> dict[str, Any]:
    """JSON schema of an answer with one of these statuses, of what strict endpoints understand."""
    return strict_object(
        evidence={"type": "array", "items": {"type": "string"}},
        failure_reason={"type": "string"},
        confidence={"type": ["number", "null"]},
        status={"type": "string", "enum": list(statuses)},
    )


def critic_schema() -> dict[str, Any]:
    """JSON schema of what a critic answers: one entry for each piece, in their order."""
    piece = strict_object(reason={"type": "string"}, visible={"type": "boolean"})
    return strict_object(pieces={"type": "array", "items": piece})


def strict_object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """JSON schema of an object with exactly these keys, in this order."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def parse_answer(text: str, statuses: Sequence[str]) -> ModelAnswer:
    """The answer that a model wrote.

    Args:
        statuses: what it was allowed to say.

    Raises:
        AnswerError: it is not exactly what was asked for, or contradicts itself.
    """
    answer = parsed(text, ModelAnswer)
    problem = ""
    if answer.status not in statuses:
        problem = f"the status '{answer.status}' was not asked for; allowed are {list(statuses)}"
    elif answer.status == "success" and answer.failure_reason:
        problem = "a success with a failure_reason"
    elif answer.status == "success" and not answer.evidence:
        problem = "a success without any evidence"
    elif answer.status != "success" and not answer.failure_reason:
        problem = f"{answer.status} without a failure_reason"
    if problem:
        raise AnswerError(f"{problem}: {beginning(text)}")
    return answer


def parse_critic(text: str, pieces: int) -> tuple[CriticPiece, ...]:
    """What a critic wrote of so many pieces of evidence, in their order.

    Raises:
        AnswerError: it is not exactly what was asked for.
    """
    found = parsed(text, _CriticAnswer).pieces
    if len(found) != pieces:
        raise AnswerError(
            f"it says of {len(found)} pieces of evidence, there are {pieces}: {beginning(text)}"
        )
    return tuple(found)


def beginning(text: str) -> str:
    """The beginning of what came, on one line, for errors."""
    shown = ascii(text[:SHOWN])
    return shown if len(text) <= SHOWN else f"{shown}... ({len(text)} characters)"


def parsed(text: str, kind: type[Model]) -> Model:
    """What a model wrote, where it is exactly one JSON object of this kind and nothing else.

    Raises:
        AnswerError: it is not.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object_of, parse_constant=_no_constant)
        return kind.model_validate(value)
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, item['loc'])) or 'the answer'}: {item['msg']}"
            for item in error.errors(include_url=False, include_input=False)[:3]
        ]
        problem = "; ".join(problems)
    except RecursionError:
        problem = "it is nested too deeply"
    except ValueError as error:
        problem = f"it is not one JSON object and nothing else ({error})"
    raise AnswerError(f"{problem}: {beginning(text)}")


def _object_of(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"twice the key {next(key for key in keys if keys.count(key) > 1)!r}")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
