# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What counts as an answer, and that nothing is repaired."""

import json

import pytest

from harness_ros.judges.model.answer import (
    AnswerError,
    answer_schema,
    critic_schema,
    parse_answer,
    parse_critic,
)

STATUSES = ("success", "failure", "inconclusive")
GOOD = {"evidence": ["the cube is seen"], "failure_reason": "", "status": "success"}


def text(**changes):
    return json.dumps({**GOOD, **changes})


def without(key):
    return json.dumps({name: value for name, value in GOOD.items() if name != key})


@pytest.mark.parametrize(
    "answer",
    [
        text(),
        text(confidence=0.5),
        text(confidence=1),
        text(confidence=None),
        f"\n  {text()}\n",
        text(status="failure", failure_reason="it lies beside"),
        text(status="failure", failure_reason="it lies beside", evidence=[]),
        text(status="inconclusive", failure_reason="the tray is hidden"),
    ],
)
def test_what_was_asked_for_is_an_answer(answer):
    assert parse_answer(answer, STATUSES).status in STATUSES


WRONG = {
    "prose": ("The cube lies in the tray, so it is a success.", "not one JSON object"),
    "prose_before": (f"Here you are: {text()}", "not one JSON object"),
    "prose_behind": (f"{text()} I hope this helps", "not one JSON object"),
    "code_fence": (f"```json\n{text()}\n```", "not one JSON object"),
    "two_objects": (text() + text(), "not one JSON object"),
    "byte_order_mark": ("\ufeff" + text(), "not one JSON object"),
    "list": (f"[{text()}]", "valid dictionary"),
    "word": ('"success"', "valid dictionary"),
    "null": ("null", "valid dictionary"),
    "cut_off": (text()[:-3], "not one JSON object"),
    "nested": ("[" * 200_000, "nested too deeply"),
    "duplicate_key": (text()[:-1] + ', "status": "failure"}', "twice the key 'status'"),
    "nan": (text(confidence=float("nan")), "NaN is not JSON"),
    "infinite": (text(confidence=float("inf")), "Infinity is not JSON"),
    "large_number": (text().replace('"status"', '"confidence": 1e999, "status"'), "confidence"),
    "extra_field": (text(comment="sure"), "comment"),
    "no_status": (without("status"), "status"),
    "no_evidence": (without("evidence"), "evidence"),
    "no_reason": (without("failure_reason"), "failure_reason"),
    "status_in_capitals": (text(status="SUCCESS"), "status"),
    "unknown_status": (text(status="done"), "status"),
    "status_number": (text(status=1), "status"),
    "process": (text(status="process", failure_reason="goes on"), "'process' was not asked for"),
    "evidence_text": (text(evidence="the cube is seen"), "evidence"),
    "evidence_numbers": (text(evidence=[1]), "evidence.0"),
    "evidence_blank": (text(evidence=["  "]), "evidence.0"),
    "evidence_many": (text(evidence=["x"] * 51), "evidence"),
    "evidence_long": (text(evidence=["x" * 2001]), "evidence.0"),
    "reason_null": (text(failure_reason=None), "failure_reason"),
    "confidence_text": (text(confidence="0.5"), "confidence"),
    "confidence_boolean": (text(confidence=True), "confidence"),
    "confidence_percent": (text(confidence=95), "confidence"),
    "nul": (text(evidence=["a\0b"]), "the character '\\x00'"),
    "half_a_character": (text(evidence=["a\ud800"]), "the character '\\ud800'"),
    "success_with_reason": (text(failure_reason="none"), "success with a failure_reason"),
    "success_without_evidence": (text(evidence=[]), "success without any evidence"),
    "failure_without_reason": (text(status="failure"), "failure without a failure_reason"),
    "blank_reason": (text(status="failure", failure_reason=" \n"), "without a failure_reason"),
    "inconclusive_without_reason": (text(status="inconclusive"), "without a failure_reason"),
}


@pytest.mark.parametrize(("answer", "problem"), WRONG.values(), ids=WRONG)
def test_anything_else_is_none_and_its_beginning_is_shown(answer, problem):
    with pytest.raises(AnswerError) as caught:
        parse_answer(answer, STATUSES)
    said = str(caught.value)
    assert problem in said
    assert answer[:4].strip().encode("unicode_escape").decode()[:4] in said
    assert len(said) < 1000
    assert said.isascii()


def test_a_status_that_was_asked_for_is_taken():
    answer = parse_answer(text(status="process", failure_reason="one is left"), ("process",))
    assert answer.failure_reason == "one is left"


def test_evidence_becomes_lines():
    assert parse_answer(text(evidence=["the cube\n\tis  seen"]), STATUSES).evidence == [
        "the cube is seen"
    ]


def test_reasons_stand_before_confidence_and_status_in_the_schema():
    schema = answer_schema(STATUSES)
    keys = ["evidence", "failure_reason", "confidence", "status"]
    assert list(schema["properties"]) == schema["required"] == keys
    assert schema["additionalProperties"] is False
    assert schema["properties"]["status"]["enum"] == list(STATUSES)


def critic(*visible):
    return json.dumps({"pieces": [{"reason": "seen", "visible": item} for item in visible]})


def test_a_critic_says_of_each_piece_whether_it_is_visible():
    assert [piece.visible for piece in parse_critic(critic(True, False), 2)] == [True, False]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (critic(True), "of 1 pieces of evidence, there are 2"),
        (critic(True, True, True), "of 3 pieces"),
        (critic(True, "yes"), "pieces.1.visible"),
        (critic(True, 1), "pieces.1.visible"),
        ('{"pieces": [{"visible": true}, {"visible": true}]}', "pieces.0.reason"),
        (critic(True, True)[:-1] + ', "status": "success"}', "status"),
        ("[]", "valid dictionary"),
    ],
)
def test_a_critic_that_answers_otherwise_did_not_answer(answer, problem):
    with pytest.raises(AnswerError, match=problem):
        parse_critic(answer, 2)


def test_the_critic_gives_its_reason_before_it_decides():
    piece = critic_schema()["properties"]["pieces"]["items"]
    assert list(piece["properties"]) == piece["required"] == ["reason", "visible"]
