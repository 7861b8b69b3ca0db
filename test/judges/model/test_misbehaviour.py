# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Whatever an endpoint does, there is one judgement of the right kind in time."""

import json
import re
import time
from dataclasses import replace
from email.utils import formatdate

import pytest
from openai_server import SUCCESS, Response, answers, fails, says

from harness_ros.contract import Kind, Status

VIOLATION, UNAVAILABLE = Kind.JUDGE_PROTOCOL_VIOLATION, Kind.JUDGED
"""Kinds beside an `error`; the evaluator makes `judge_unavailable` of the second."""

TEXT = json.dumps(SUCCESS)
GOOD = answers()
MEGABYTES = answers(evidence=["x" * 2_000_000])
TOOL = {"tool_calls": [{"id": "1", "type": "function", "function": {"name": "rm"}}]}

ANSWERED_OTHERWISE = {
    "prose": (says("It is a success."), "'It is a success.'"),
    "invalid_json": (says('{"status": "success",'), "not one JSON object"),
    "prose_around": (says(f"Sure! {TEXT}"), "Sure!"),
    "code_fence": (says(f"```json\n{TEXT}\n```"), "```json"),
    "extra_field": (answers(comment="sure"), "comment"),
    "wrong_types": (answers(evidence="the cube"), "evidence"),
    "unknown_status": (answers(status="ok"), "status"),
    "success_with_reason": (answers(failure_reason="fell"), "success with a failure_reason"),
    "failure_without_reason": (answers(status="failure"), "failure without a failure_reason"),
    "tool_call": (says(None, "tool_calls", **TOOL), "called the tool 'rm'"),
    "old_tool_call": (says(None, function_call={"name": "rm"}), "called the tool 'rm'"),
    "tool_call_beside_an_answer": (says(TEXT, **TOOL), "called the tool 'rm'"),
    "refusal": (says(None, refusal="I cannot help with that"), "refused: 'I cannot help"),
    "refusal_beside_an_answer": (says(TEXT, refusal="no"), "refused: 'no'"),
    "empty": (says(""), "answered nothing"),
    "blank": (says(" \n "), "answered nothing"),
    "no_content": (says(None), "answered nothing"),
    "cut_at_its_length": (says(TEXT[:40], "length"), "cut off at max_output_tokens"),
    "whole_and_cut_at_its_length": (says(TEXT, "length"), "cut off at max_output_tokens"),
    "content_filter": (says(TEXT, "content_filter"), "stopped for 'content_filter'"),
    "content_in_parts": (says([{"type": "text", "text": TEXT}]), "no chat completion"),
    "two_megabytes": (MEGABYTES, "more than 1048576 bytes"),
    "megabytes_without_end": (replace(MEGABYTES, missing=1), "more than 1048576 bytes"),
    "wrong_content_type": (replace(GOOD, content_type="text/html"), "'text/html'"),
    "no_content_type": (replace(GOOD, content_type=""), "content type ''"),
    "html": (Response(b"<html>Log in first</html>", content_type="text/html"), "Log in first"),
    "broken_body": (replace(GOOD, body=GOOD.body[:-9]), "invalid JSON"),
    "no_choices": (Response(b'{"choices": []}'), "no chat completion"),
    "other_json": (Response(b'{"hello": "world"}'), "no chat completion"),
    "json_list": (Response(b"[1, 2]"), "no chat completion"),
    "null": (Response(b"null"), "no chat completion"),
    "nested": (Response(b"[" * 200_000), "invalid JSON"),
    "not_unicode": (Response(b"\xff\xfe\x00"), "invalid JSON"),
    "no_body": (Response(b""), "invalid JSON"),
}


@pytest.mark.parametrize(("response", "words"), ANSWERED_OTHERWISE.values(), ids=ANSWERED_OTHERWISE)
def test_an_answer_that_was_not_asked_for_is_a_violation(
    server, make_judge, request_record, response, words
):
    server.default = response
    judgement = make_judge().judge(request_record)
    assert (judgement.status, judgement.kind) == (Status.FAILURE, VIOLATION)
    assert words in judgement.error
    assert len(judgement.error) < 1000
    assert judgement.usage.calls == len(server.requests) == 2


@pytest.mark.parametrize("bad", [says("no JSON"), says(None, refusal="no"), Response(b"{}")])
def test_an_answer_that_was_not_asked_for_is_asked_for_once_more(
    server, make_judge, request_record, bad
):
    server.script.extend([bad, answers(status="failure", failure_reason="it fell")])
    judgement = make_judge().judge(request_record)
    assert (judgement.error, judgement.failure_reason) == ("", "it fell")
    assert judgement.usage.calls == 2


@pytest.mark.parametrize("status", ["failure", "inconclusive"])
def test_a_well_formed_answer_is_never_asked_for_again(server, make_judge, request_record, status):
    server.script.append(answers(status=status, failure_reason="the tray is empty"))
    judgement = make_judge().judge(request_record)
    assert judgement.status is Status.FAILURE
    assert judgement.usage.calls == len(server.requests) == 1


def test_one_attempt_is_one_request(server, make_judge, request_record):
    server.default = says("no JSON")
    assert make_judge(attempts=1).judge(request_record).kind is VIOLATION
    assert len(server.requests) == 1


NOT_TO_BE_REPEATED = {
    "wrong_request": (fails(400, "unknown parameter: messages"), "HTTP 400: 'unknown parameter"),
    "wrong_key": (fails(401, "Incorrect API key"), "HTTP 401: 'Incorrect API key'"),
    "forbidden": (fails(403), "HTTP 403"),
    "unknown_model": (fails(404, "The model `test-model` does not exist"), "does not exist"),
    "too_large": (Response(b"Payload Too Large", 413, content_type="text/plain"), "Too Large"),
    "redirect": (fails(307, location="http://127.0.0.1:9/v1"), "HTTP 307"),
    "megabytes": (Response(b"x" * 2_000_000, 400), "(1048576 characters)"),
}


@pytest.mark.parametrize(("response", "words"), NOT_TO_BE_REPEATED.values(), ids=NOT_TO_BE_REPEATED)
def test_a_refused_request_is_not_repeated(server, make_judge, request_record, response, words):
    server.default = response
    judgement = make_judge().judge(request_record)
    assert (judgement.status, judgement.kind) == (Status.FAILURE, UNAVAILABLE)
    assert words in judgement.error
    assert len(server.requests) == 1


PASSING = {
    "busy": fails(429, retry_after="0"),
    "busy_until": fails(429, retry_after=formatdate(0, usegmt=True)),
    "busy_for_milliseconds": fails(429, retry_after_ms="5"),
    "broken": fails(500, retry_after="0"),
    "gateway": fails(502, retry_after="0"),
    "overloaded": fails(529, retry_after="0"),
    "dropped": Response(drop=True),
    "cut_off": replace(GOOD, cut_at=60),
    "error_with_status_200": Response(b'{"error": {"code": 502, "message": "provider failed"}}'),
}


@pytest.mark.parametrize("response", PASSING.values(), ids=PASSING)
def test_what_passes_is_tried_again(server, make_judge, request_record, response):
    server.script.append(response)
    judgement = make_judge().judge(request_record)
    assert (judgement.status, judgement.error) == (Status.SUCCESS, "")
    assert judgement.usage.calls == len(server.requests) == 2


@pytest.mark.parametrize("response", PASSING.values(), ids=PASSING)
def test_what_does_not_pass_is_a_judgement_that_says_so(
    server, make_judge, request_record, response
):
    server.default = response
    judgement = make_judge(attempts=2).judge(request_record)
    assert (judgement.status, judgement.kind) == (Status.FAILURE, UNAVAILABLE)
    assert "127.0.0.1" in judgement.error
    assert "(request 2 of 2)" in judgement.error
    assert len(server.requests) == 2


def test_nothing_is_sent_before_the_endpoint_wants_to_be_asked_again(
    server, make_judge, request_record
):
    server.default = fails(429, "slow down", retry_after="30")
    begun = time.monotonic()
    judgement = make_judge().judge(request_record)
    assert time.monotonic() - begun < 10
    assert "slow down" in judgement.error
    assert "would have to wait 30 s" in judgement.error
    assert len(server.requests) == 1


SLOW = {
    "silent": replace(GOOD, delay_s=60),
    "stuck": replace(GOOD, missing=1),
    "trickling": replace(GOOD, pause_s=0.05),
    "trickling_refusal": replace(fails(503, "x" * 5000), pause_s=0.05),
}


@pytest.mark.parametrize("response", SLOW.values(), ids=SLOW)
def test_a_slow_endpoint_is_given_up_before_the_evaluator_does(
    server, make_judge, request_record, response
):
    make_judge().judge(request_record)  # loads the client
    server.default = response
    judge = make_judge(timeout_s=1.5)
    begun = time.monotonic()
    judgement = judge.judge(request_record)
    assert time.monotonic() - begun < 5
    assert (judgement.status, judgement.kind) == (Status.FAILURE, UNAVAILABLE)
    # In other words where the machine is so busy that the last resort came first.
    assert re.search("did not answer in|no answer within", judgement.error)


def test_a_request_that_hangs_leaves_time_for_another(server, make_judge, request_record):
    make_judge().judge(request_record)
    server.script.append(replace(GOOD, delay_s=60))
    judgement = make_judge(timeout_s=3).judge(request_record)
    assert judgement.status is Status.SUCCESS
    assert judgement.usage.calls == 2


def test_nobody_there_is_a_judgement_that_names_the_host(make_judge, request_record):
    judge = make_judge(base_url="http://127.0.0.1:9/v1", attempts=2)
    judgement = judge.judge(request_record)
    assert (judgement.status, judgement.kind) == (Status.FAILURE, UNAVAILABLE)
    assert "no answer from 127.0.0.1:9" in judgement.error


def test_an_endpoint_without_schemas_is_asked_without_from_then_on(
    server, make_judge, request_record
):
    def picky(body):
        return fails(400, "response_format is not supported") if "response_format" in body else GOOD

    server.default = picky
    judge = make_judge()
    assert judge.judge(request_record).usage.calls == 2
    assert judge.judge(request_record).usage.calls == 1
    assert ["response_format" in request.body for request in server.requests] == [
        True,
        False,
        False,
    ]


def test_a_schema_that_is_wanted_is_not_given_up(server, make_judge, request_record):
    server.default = fails(400, "response_format is not supported")
    judgement = make_judge(structured_output="json_schema").judge(request_record)
    assert "response_format is not supported" in judgement.error
    assert len(server.requests) == 1


def test_no_schema_is_sent_where_none_is_wanted(server, make_judge, request_record):
    assert make_judge(structured_output="none").judge(request_record).status is Status.SUCCESS
    assert "response_format" not in server.requests[0].body


def test_the_length_is_named_as_the_endpoint_wants_it(server, make_judge, request_record):
    def modern(body):
        message = "'max_tokens' is not supported: use 'max_completion_tokens' instead"
        return fails(400, message) if "max_tokens" in body else GOOD

    server.default = modern
    judge = make_judge(max_output_tokens=77)
    assert judge.judge(request_record).status is Status.SUCCESS
    judge.judge(request_record)
    assert [request.body.get("max_completion_tokens") for request in server.requests] == [
        *(None, 77, 77)
    ]
