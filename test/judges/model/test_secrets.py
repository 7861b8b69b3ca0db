# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The key comes from the environment, goes to the endpoint, and nowhere else."""

from __future__ import annotations

import logging
import pickle
import pprint

import pytest
from judge_world import KEY, KEY_VARIABLE
from openai_server import Response, answers, fails, says

from harness_ros.contract import Status

ECHOES = {
    "refused": fails(401, f"Incorrect API key provided: {KEY}"),
    "refused_in_plain_text": Response(f"bad key {KEY}".encode(), 403, content_type="text/plain"),
    "busy": fails(429, f"{KEY} has no quota", retry_after="0"),
    "spelled_otherwise": Response(
        b'{"error": {"message": "\\u0073' + KEY[1:].encode() + b'"}}', 400
    ),
    "spelled_otherwise_at_the_edge": Response(
        b'{"error": {"message": "' + b"x" * 140 + b"\\u0073" + KEY[1:].encode() + b'"}}', 400
    ),
    "in_an_error_with_status_200": Response(
        b'{"error": {"message": "' + b"x" * 140 + b"\\u0073" + KEY[1:].encode() + b'"}}'
    ),
    "in_the_answer": answers(evidence=[f"the label says {KEY}"]),
    "in_what_is_no_answer": says(f"I was called with {KEY}"),
    "in_a_refusal": says(None, refusal=f"not for {KEY}"),
    "in_a_tool": says(None, tool_calls=[{"function": {"name": KEY}}]),
    "in_html": Response(f"<html>{KEY}".encode(), content_type="text/html"),
    "at_the_edge_of_what_is_shown": says("x" * 140 + KEY),
    "in_the_middle_of_megabytes": Response(f"{KEY} ".encode() * 100_000),
}


@pytest.mark.parametrize("response", ECHOES.values(), ids=ECHOES)
def test_the_key_is_nowhere_in_what_is_said_logged_or_kept(
    server, make_judge, request_record, tmp_path, caplog, capfd, response
):
    caplog.set_level(logging.DEBUG)
    server.default = response
    cassette = {"mode": "record", "folder": tmp_path / "cassette"}
    judge = make_judge(cassette=cassette, attempts=2)
    judgement = judge.judge(request_record)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    kept = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    shown = [repr(judge), pprint.pformat(vars(judge)), repr(judge.account), judge.prepare()]
    captured = capfd.readouterr()
    everything = "\n".join(
        [
            *(judgement.model_dump_json(), repr(judgement), *kept, *shown),
            *(caplog.text, captured.out, captured.err),
        ]
    )
    # A part of the key says much of it.
    assert KEY[:12] not in everything
    assert pickle.dumps(judgement).find(KEY[:12].encode()) == -1


def test_a_key_among_the_headers_of_a_reply_is_not_shown(server, make_judge, request_record):
    server.default = Response(b"{}", content_type=KEY)
    error = make_judge().judge(request_record).error
    assert f"content type '<{KEY_VARIABLE}>'" in error


def test_a_key_that_is_missing_is_named_at_once(server, make_judge, request_record, monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE)
    judge = make_judge()
    for said in (judge.prepare(), judge.judge(request_record).error):
        assert f"the environment variable {KEY_VARIABLE} is not set" in said
        assert "127.0.0.1" in said
    assert server.requests == []


def test_a_key_that_is_set_later_is_taken(server, make_judge, request_record, monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, "  ")
    judge = make_judge()
    assert judge.judge(request_record).error
    monkeypatch.setenv(KEY_VARIABLE, f"{KEY}\n")
    assert judge.prepare() == ""
    assert judge.judge(request_record).status is Status.SUCCESS
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("key", ["two words", "line\nfeed and more", "clé-secrète"])
def test_what_cannot_be_a_key_is_refused_without_showing_it(
    server, make_judge, request_record, monkeypatch, key
):
    monkeypatch.setenv(KEY_VARIABLE, key)
    said = make_judge().judge(request_record).error
    assert f"{KEY_VARIABLE} holds no key" in said
    assert key[:6] not in said
    assert server.requests == []


def test_an_endpoint_without_a_key_gets_none_whatever_the_environment_holds(
    server, make_judge, request_record, monkeypatch
):
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "of-somebody")
    assert make_judge(api_key_env=None).judge(request_record).status is Status.SUCCESS
    headers = server.requests[0].headers
    assert "authorization" not in headers
    assert "of-somebody" not in "".join(headers.values())


def test_secrets_in_the_address_are_not_shown(make_judge, request_record, tmp_path):
    address = "http://user:pass-word@127.0.0.1:9/v1?api-key=of-somebody"
    judgement = make_judge(base_url=address, attempts=1).judge(request_record)
    assert "no answer from 127.0.0.1:9" in judgement.error
    assert "pass-word" not in judgement.error
    assert "of-somebody" not in judgement.error
