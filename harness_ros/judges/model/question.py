# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The question that a model is asked of an Observation, and its key, by which answers are kept.

The instruction comes as the system's message; post-condition, values and pictures as the user's.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field, JsonValue

from harness_ros.capture.images import ImageError
from harness_ros.contract import (
    EvaluationRequest,
    HarnessError,
    Observation,
    Record,
    View,
)
from harness_ros.judges.model.answer import answer_schema, critic_schema
from harness_ros.judges.model.instruction import (
    CLOSING,
    PROMPT_VERSION,
    critic_instruction,
    judge_instruction,
    statuses,
)
from harness_ros.judges.model.pictures import LOOKS, Picture, draw
from harness_ros.judges.model.quoting import NAME_LENGTH, quoted
from harness_ros.judges.model.settings import ModelSettings
from harness_ros.judges.model.values import measured

POST_CONDITION_LENGTH = 4000
CLAIMS, CLAIM_LENGTH = 50, 2000
"""Pieces of evidence that a critic is asked of at most, and characters of each."""

_SAMPLING = ("model", "temperature", "seed", "max_output_tokens", "detail")
_NOT_PROMPT = ModelSettings.operational | {"type", "model", "abstain"}
"""Keys that have no part in what is asked, and the model, which error cards name by itself."""


class QuestionError(HarnessError):
    """There is nothing to ask the model."""


class Question(Record):
    """What is sent to the model."""

    instruction: str
    text: str
    """What comes before the pictures."""
    pictures: tuple[Picture, ...]
    closing: str = CLOSING
    """What comes behind them."""
    statuses: tuple[str, ...]
    """What may be answered; nothing where evidence is checked."""
    sampling: dict[str, JsonValue]
    """Model and settings that the answer depends on."""
    facts: str = Field(repr=False)
    """What of the text is measured."""
    notes: tuple[str, ...] = ()
    """What the model is not shown, for the evidence."""

    @property
    def key(self) -> str:
        """SHA-256 (hex) of all that is asked: equal questions may be answered alike."""
        asked = {
            **self.model_dump(include={"instruction", "text", "closing", "statuses", "sampling"}),
            "pictures": [[picture.caption, picture.digest] for picture in self.pictures],
        }
        return _sha256(asked)


def ask_about(request: EvaluationRequest, settings: ModelSettings) -> Question:
    """The question whether the post-condition holds.

    Raises:
        QuestionError: none of the wanted views is there, one of them cannot be decoded or has an
            outcome region that is none, or the post-condition is empty or too long to be sent.
    """
    observation = request.observation
    post_condition = _post_condition(request.post_condition)
    views = _chosen(observation, settings)
    notes = tuple(_left_out(observation, views, request, settings))
    youngest_ns = max(view.stamp_ns for view in observation.views)
    try:
        pictures = draw(views, request.outcome_regions, youngest_ns, settings)
    except ImageError as error:
        raise QuestionError(f"a view cannot be shown to the model: {error}") from None
    facts = "\n".join(
        [
            *measured(observation, youngest_ns),
            *(f"Not shown: {note}" for note in notes),
            f"Pictures: {len(pictures)}, each behind its caption",
        ]
    )
    process = _process(request)
    meaning = "" if process is None else f"{process}\n"
    return Question(
        instruction=judge_instruction(settings.context, process is not None),
        text=f"Post-condition: {post_condition}\n{meaning}{facts}",
        pictures=pictures,
        statuses=statuses(process is not None),
        sampling=sampling(settings),
        facts=facts,
        notes=notes,
    )


def criticise(question: Question, evidence: Sequence[str], settings: ModelSettings) -> Question:
    """The question whether each piece of claimed evidence is seen in the same pictures.

    The post-condition is left out: who knows what is hoped for, finds it.

    Raises:
        QuestionError: there is no evidence, or more than is sent.
    """
    if not evidence:
        raise QuestionError("no evidence was claimed, so none can be looked for")
    longest = max(map(len, evidence))
    if len(evidence) > CLAIMS or longest > CLAIM_LENGTH:
        raise QuestionError(
            f"{len(evidence)} pieces of evidence of up to {longest} characters were claimed; at "
            f"most {CLAIMS} of {CLAIM_LENGTH} can be looked for"
        )
    claims = [f"{number}. {quoted(piece)}" for number, piece in enumerate(evidence, 1)]
    return question.model_copy(
        update={
            "instruction": critic_instruction(settings.context),
            "text": "\n".join([question.facts, f"Claims, {len(claims)} in number:", *claims]),
            "statuses": (),
        }
    )


def messages(question: Question, settings: ModelSettings) -> list[dict[str, Any]]:
    """The messages of a chat completion of OpenAI's protocol: text and pictures as data URIs."""
    parts: list[dict[str, Any]] = [_text(question.text)]
    for picture in question.pictures:
        data = base64.b64encode(picture.jpeg).decode("ascii")
        url = {"url": f"data:image/jpeg;base64,{data}", "detail": settings.detail}
        parts += [_text(picture.caption), {"type": "image_url", "image_url": url}]
    return [
        {"role": "system", "content": question.instruction},
        {"role": "user", "content": [*parts, _text(question.closing)]},
    ]


def sampling(settings: ModelSettings) -> dict[str, JsonValue]:
    """Model and settings that an answer depends on, whatever is asked."""
    return settings.model_dump(mode="json", include=set(_SAMPLING))


def prompt_hash(settings: ModelSettings) -> str:
    """SHA-256 (hex) of all that decides what is sent beside the Observation, and the model.

    Error cards hold for one of them: a judge that is asked otherwise is another judge.
    """
    return _sha256(
        {
            "version": [PROMPT_VERSION, LOOKS],
            "judge": [judge_instruction(settings.context, process) for process in (False, True)],
            "critic": critic_instruction(settings.context),
            "closing": CLOSING,
            "schemas": [
                *(answer_schema(statuses(process)) for process in (False, True)),
                critic_schema(),
            ],
            "settings": settings.model_dump(mode="json", exclude=set(_NOT_PROMPT)),
        }
    )


def _post_condition(text: str) -> str:
    if not text.strip():
        raise QuestionError("the post-condition is empty")
    if len(text) > POST_CONDITION_LENGTH:
        # Cut off, it would be another one.
        raise QuestionError(
            f"the post-condition has {len(text)} characters; at most {POST_CONDITION_LENGTH} are "
            "sent to a model"
        )
    return quoted(text)


def _chosen(observation: Observation, settings: ModelSettings) -> tuple[View, ...]:
    """The views that are shown, in their order."""
    views = observation.views
    if settings.views:
        named = (observation.view(name) for name in dict.fromkeys(settings.views))
        views = tuple(view for view in named if view is not None)
    if not views:
        there = ", ".join(quoted(view.name, NAME_LENGTH) for view in observation.views) or "none"
        wanted = ", ".join(settings.views) or "at least one"
        raise QuestionError(f"views wanted: {wanted}; in the Observation: {there}")
    return views[: settings.max_views]


def _left_out(
    observation: Observation,
    shown: Sequence[View],
    request: EvaluationRequest,
    settings: ModelSettings,
) -> Iterator[str]:
    """What the model is not shown, a sentence each."""
    names = {view.name for view in shown}
    absent = [name for name in dict.fromkeys(settings.views) if observation.view(name) is None]
    if absent:
        yield f"views that are wanted and not in the observation: {_names(absent)}"
    wanted = settings.views or tuple(view.name for view in observation.views)
    there = [view.name for view in observation.views if not any(view is other for other in shown)]
    more = [name for name in there if name in wanted]
    if more:
        yield f"views not shown, since at most {settings.max_views} are: {_names(more)}"
    others = [name for name in there if name not in wanted]
    if others:
        yield f"views not shown, since the judge does not name them: {_names(others)}"
    regions = [name for name in request.outcome_regions if name not in names]
    if regions:
        yield f"outcome regions not shown, since their views are not: {_names(regions)}"


def _names(names: Sequence[str]) -> str:
    return ", ".join(quoted(name, NAME_LENGTH) for name in names)


_SAYS_PROCESS = re.compile(r"\bprocess\b", re.IGNORECASE)


def _process(request: EvaluationRequest) -> str | None:
    """What `process` means for this tool; None where it is not to be answered.

    A judge does not know how many segments a tool has: the configuration allows a `process` branch
    in a criterion to those with several alone, and a post-condition that names the word says so.
    """
    try:
        criterion = json.loads(request.criterion or "null")
    except (ValueError, RecursionError):
        criterion = None
    branch = criterion.get("process") if isinstance(criterion, dict) else None
    if isinstance(branch, dict) and isinstance(branch.get("reason"), str):
        return f'"process" means: {quoted(branch["reason"], CLAIM_LENGTH)}'
    if _SAYS_PROCESS.search(request.post_condition):
        return '"process" means what the post-condition says of it'
    return None


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _sha256(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
