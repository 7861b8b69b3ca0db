# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The endpoint on 127.0.0.1 and its client, over real connections."""

import asyncio
import http.client
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness_ros.config.sidecar import HttpConfig
from harness_ros.sidecar import client, run_verifier
from harness_ros.sidecar.client import Verifier
from harness_ros.sidecar.http_endpoint import EndpointError, HttpEndpoint, endpoint_of
from harness_ros.sidecar.turns import TurnResult, TurnVerifier

TOKEN = "a-token-of-thirty-two-characters"
WAIT_S = 30.0


def given(session_id, end_state):
    if "raise" in end_state:
        raise ValueError(end_state["raise"])
    return end_state.get("score")


@pytest.fixture
def endpoint():
    endpoint = HttpEndpoint(TurnVerifier(given), TOKEN)
    endpoint.start()
    yield endpoint
    endpoint.close()


@pytest.fixture
def ask(endpoint):
    """ask(...) -> (status, JSON of the answer)."""

    def ask(method="POST", path="/v1/verify_turn", body=None, **headers):
        connection = http.client.HTTPConnection(*endpoint.server_address, timeout=WAIT_S)
        sent = {
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/json",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        try:
            sent = {name: value for name, value in sent.items() if value is not None}
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    return ask


def turn(**changes):
    return json.dumps({"session_id": "session-1", "turn_index": 2, "end_state": {}, **changes})


def test_a_turn_gets_what_the_service_would_answer(ask):
    status, answer = ask(body=turn(end_state={"score": 0.5}))
    assert status == 200
    result = TurnResult.model_validate(answer)
    assert (result.session_id, result.turn_index) == ("session-1", 2)
    assert (result.has_score, result.score, result.breached) == (True, 0.5, True)
    assert ask(body=turn())[1]["has_score"] is False


@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "ü"]
)
@pytest.mark.parametrize("path", ["/v1/verify_turn", "/openapi.json", "/"])
def test_without_the_token_there_is_no_answer(ask, authorization, path):
    for method in ("GET", "POST"):
        status, answer = ask(method, path, turn(), Authorization=authorization)
        assert status == 401
        assert "Authorization" in answer["error"]
        assert TOKEN not in str(answer)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "0.0.0.0"]
)
def test_a_page_whose_name_leads_here_is_refused(ask, host):
    assert ask(body=turn(), Host=host)[0] == 403


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:9", "localhost:8080"])
def test_a_forwarded_port_may_be_asked(ask, host):
    assert ask(body=turn(), Host=host)[0] == 200


def test_a_page_in_a_browser_is_refused(ask):
    assert ask(body=turn(), Origin="http://localhost:3000")[0] == 403


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ("", 400, "no JSON"),
        ("{", 400, "no JSON"),
        ('{"session_id": "s", "end_state": {"a": NaN}}', 400, "NaN is no number"),
        ("[" * 50_000, 400, "no JSON"),
        ("[]", 422, "the body"),
        ('{"session_id": "s"}', 422, "end_state: Field required"),
        (turn(session_id=""), 422, "session_id"),
        (turn(session_id=5), 422, "session_id"),
        (turn(turn_index=-1), 422, "turn_index"),
        (turn(end_state=[1]), 422, "end_state"),
        (turn(more=1), 422, "more"),
        (turn(end_state={"a": "x" * 1_000_000}), 413, "at most 1000000 bytes"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_body_that_is_no_turn_is_refused(ask, body, status, said):
    found = ask(body=body)
    assert found[0] == status
    assert said in found[1]["error"]


def test_other_requests_are_refused(ask):
    assert ask(body=turn(), Content_Type="text/plain")[0] == 415
    assert ask(body=iter([turn().encode()]), Transfer_Encoding="chunked")[0] == 411
    assert ask(body=turn(), path="/v1/other")[0] == 404
    assert ask("GET", "/v1/verify_turn")[0] == 404
    assert ask(body=turn(), Content_Length="-5")[0] == 411


def test_what_a_verifier_raises_is_no_error_of_the_endpoint(ask):
    status, answer = ask(body=turn(end_state={"raise": "broken"}))
    assert (status, answer["has_score"]) == (200, False)
    assert "broken" in answer["reason"]


def test_the_endpoint_listens_on_the_loopback_alone(endpoint):
    assert endpoint.server_address[0] == "127.0.0.1"
    assert endpoint.url.startswith("http://127.0.0.1:")


def test_one_that_hangs_holds_up_no_other():
    release, begun = threading.Event(), threading.Event()

    def hanging(session_id, end_state):
        if session_id == "hangs":
            begun.set()
            release.wait()
        return 1.0

    endpoint = HttpEndpoint(TurnVerifier(hanging, timeout_s=WAIT_S), TOKEN)
    endpoint.start()
    verifier = Verifier(endpoint.url, TOKEN, WAIT_S)
    late = threading.Thread(target=verifier, args=("hangs", {}))
    late.start()
    try:
        assert begun.wait(WAIT_S)
        assert verifier("goes on", {}) == 1.0
        assert late.is_alive()
    finally:
        release.set()
        late.join()
        endpoint.close()


def test_the_description_is_that_of_the_models(ask):
    status, described = ask("GET", "/openapi.json")
    assert status == 200
    assert described["openapi"].startswith("3.1")
    schemas = described["components"]["schemas"]
    post = described["paths"]["/v1/verify_turn"]["post"]
    asked = post["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    answered = post["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
    assert asked == "#/components/schemas/TurnRequest"
    assert answered == "#/components/schemas/TurnResult"
    assert set(schemas["TurnResult"]["properties"]) == set(TurnResult.model_fields)
    assert all(text["description"] for text in schemas["TurnResult"]["properties"].values())
    named = set(json.dumps(described).split("#/components/schemas/")[1:])
    assert {name.split('"')[0] for name in named} <= schemas.keys()


# The client


def test_the_client_is_a_verifier(endpoint):
    verifier = Verifier(endpoint.url, TOKEN)
    assert verifier("session-1", {"score": 0.25}) == 0.25
    assert verifier("session-1", {}) is None
    found = asyncio.run(run_verifier(verifier, "session-1", {"score": 0.75}, WAIT_S))
    assert found == 0.75
    assert verifier.verify_turn("session-1", 4, {})["turn_index"] == 4


@pytest.mark.parametrize(
    "end_state",
    [{"a": {1, 2}}, {"a": float("nan")}, None, 5, {"a": "x" * 2_000_000}],
    ids=["set", "nan", "none", "number", "long"],
)
def test_an_end_state_that_cannot_be_sent_breaks_nothing(endpoint, end_state, caplog):
    assert Verifier(endpoint.url, TOKEN)("session-1", end_state) is None
    assert "session-1" in caplog.text


def test_a_wrong_token_is_said_in_the_log_and_never_the_token(endpoint, caplog):
    assert Verifier(endpoint.url, "another-token-of-no-use")("session-1", {}) is None
    assert "status 401" in caplog.text
    assert "another-token" not in caplog.text


def test_an_endpoint_that_is_gone_breaks_nothing(endpoint, caplog):
    verifier = Verifier(endpoint.url, TOKEN)
    endpoint.close()
    assert verifier("session-1", {"score": 1}) is None
    assert "no verdict from http://127.0.0.1" in caplog.text


def test_an_endpoint_that_is_silent_is_left_after_the_time():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        verifier = Verifier(f"http://127.0.0.1:{silent.getsockname()[1]}", TOKEN, 0.05)
        assert verifier("session-1", {}) is None


@pytest.mark.parametrize(
    "answer",
    [
        "{}",
        "[]",
        "no json",
        '{"has_score": true, "score": 7}',
        '{"has_score": true, "score": NaN}',
        '{"has_score": true, "score": "1"}',
        '{"has_score": true, "score": true}',
        '{"has_score": 1, "score": 1}',
    ],
)
def test_an_answer_that_is_none_is_no_verdict(answer, monkeypatch):
    verifier = Verifier("http://127.0.0.1:1", TOKEN)
    monkeypatch.setattr(verifier, "_ask", lambda body: (200, answer.encode()))
    assert verifier("session-1", {}) is None


@pytest.mark.parametrize("url", ["", "127.0.0.1:80", "ftp://127.0.0.1", "http://"])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(ValueError, match="is wanted"):
        Verifier(url, TOKEN)


def test_the_file_of_the_client_works_alone(endpoint, tmp_path):
    (tmp_path / "sidecar_client.py").write_text(Path(client.__file__).read_text())
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from sidecar_client import Verifier\n"
        "print(Verifier(sys.argv[2], sys.argv[3])('session-1', {'score': 0.5}))\n"
    )
    # -S and -I: neither the packages of this Python nor the folder of the tests.
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(tmp_path), endpoint.url, TOKEN],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "0.5\n", done.stderr


# Opening


def test_the_token_is_made_for_its_owner_alone(tmp_path):
    config = HttpConfig(port=0, token_file=tmp_path / "secret" / "token")
    first = endpoint_of(config, TurnVerifier(given))
    first.close()
    token = config.token_file.read_text().strip()
    assert len(token) >= 32 and first.allows(token) and not first.allows("")
    assert config.token_file.stat().st_mode & 0o777 == 0o600
    second = endpoint_of(config, TurnVerifier(given))
    second.close()
    assert second.allows(token)


def test_a_token_that_others_can_read_is_refused(tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN)
    path.chmod(0o644)
    with pytest.raises(EndpointError, match="others can read it: chmod 600"):
        endpoint_of(HttpConfig(port=0, token_file=path), TurnVerifier(given))


@pytest.mark.parametrize("token", ["", "short", "ü" * 40, "a\nb" * 20])
def test_a_token_that_cannot_serve_is_refused(token):
    with pytest.raises(EndpointError, match="at least 16"):
        HttpEndpoint(TurnVerifier(given), token)


def test_a_port_that_is_taken_is_named(endpoint):
    port = endpoint.server_address[1]
    with pytest.raises(EndpointError, match=f"port {port} of 127.0.0.1"):
        HttpEndpoint(TurnVerifier(given), TOKEN, port)
