# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What an endpoint replied: the message of a chat completion, and whether it holds an answer."""

from __future__ import annotations

import json
from typing import Any

from harness_ros.contract import Record
from harness_ros.judges.model.answer import AnswerError, beginning


class Reply(Record):
    """The part of a chat completion that matters here; cassettes keep it."""

    text: str | None
    """What the model wrote; None where it wrote nothing."""
    refusal: str = ""
    """The words with which it refused."""
    tools: tuple[str, ...] = ()
    """Names of tools that it wanted to call."""
    finish_reason: str = ""
    """Why it stopped; `stop` where it was done."""
    model: str = ""
    """Who answered, as the endpoint says."""
    input_tokens: int | None = None
    """None where the endpoint does not say."""
    output_tokens: int | None = None


def read_completion(body: str, content_type: str) -> Reply | str:
    """The reply in the body of an answer with status 200, or the words of an error in it.

    Some gateways report with status 200 that the model behind them failed.

    Raises:
        AnswerError: it is no chat completion.
    """
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise AnswerError(
            f"the endpoint replied with content type '{content_type[:80]}', application/json is "
            f"wanted: {beginning(body)}"
        )
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise AnswerError(f"the endpoint replied with invalid JSON: {beginning(body)}") from None
    if isinstance(value, dict) and value.get("error") and "choices" not in value:
        return words_of_error(body)
    try:
        return _reply(value)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise AnswerError(
            f"the endpoint replied with no chat completion ({type(error).__name__}: {error}): "
            f"{beginning(body)}"
        ) from None


def _reply(value: Any) -> Reply:
    choice = value["choices"][0]
    message = choice["message"]
    usage = value.get("usage") or {}
    calls = [*(message.get("tool_calls") or []), message.get("function_call")]
    return Reply(
        text=message.get("content"),
        refusal=message.get("refusal") or "",
        tools=tuple(_tool(call) for call in calls if call),
        finish_reason=choice.get("finish_reason") or "",
        model=value.get("model") or "",
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
    )


def _tool(call: Any) -> str:
    function = call.get("function") or call
    return str(function.get("name") or "?")[:80]


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**31 else None


def words_of_error(body: str) -> str:
    """What an endpoint says of an error; all that it sent where it does not say it as usual."""
    try:
        value = json.loads(body)
        error = value.get("error", value)
        text = error if isinstance(error, str) else error.get("message") or error.get("detail")
    except (ValueError, AttributeError, RecursionError):
        text = None
    return text if isinstance(text, str) else body


def answer_text(reply: Reply) -> str:
    """The text that a model wrote as its answer.

    Raises:
        AnswerError: it refused, called a tool, was cut off or wrote nothing.
    """
    text = reply.text or ""
    if reply.refusal:
        problem = f"the model refused: {beginning(reply.refusal)}"
    elif reply.tools:
        problem = f"the model called the tool '{reply.tools[0]}', and none was offered"
    elif reply.finish_reason == "length":
        problem = f"the answer is cut off at max_output_tokens: {beginning(text)}"
    elif reply.finish_reason in ("content_filter", "tool_calls", "function_call"):
        problem = f"the model stopped for '{reply.finish_reason}': {beginning(text)}"
    elif not text.strip():
        problem = "the model answered nothing"
    else:
        return text
    raise AnswerError(problem)
