# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The local server: who gets an answer, what it holds, and that it holds no verdict."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from graded_folder import SECRET, ask, graded_folder, rows_of, serving

from harness_ros.grading.labels import read_labels
from harness_ros.labelling.runs import LabellingError
from harness_ros.labelling.server import LabelServer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return graded_folder(tmp_path / "graded", rows_of("SFi"))


@pytest.fixture
def server(folder: Path) -> Iterator[LabelServer]:
    with serving(folder) as running:
        yield running


def test_it_listens_on_this_machine_alone(server: LabelServer) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"
    assert urlsplit(server.url).hostname == "127.0.0.1"


def test_two_servers_have_two_addresses_that_cannot_be_guessed(folder: Path) -> None:
    tokens = set()
    for _ in range(2):
        with serving(folder) as running:
            tokens.add(urlsplit(running.url).path)
    assert len(tokens) == 2
    assert all(len(token) > 30 for token in tokens)


@pytest.mark.parametrize("path", ["/", "/runs/0", "/x/runs/0", "//", "/%C3%A4/"])
def test_without_the_token_nothing_is_answered(server: LabelServer, path: str) -> None:
    address = server.url.rsplit("/", 2)[0]
    answer = ask(address, path)
    assert answer.status == 404
    assert b"not the address that harness-ros printed" in answer.body


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_a_page_whose_name_leads_here_is_refused(server: LabelServer, host: str) -> None:
    assert ask(server.url, Host=host).status == 403
    assert ask(server.url, "runs/0/label", {"label": "success"}, Host=host).status == 403


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:8000", "localhost"])
def test_a_forwarded_port_is_answered(server: LabelServer, host: str) -> None:
    assert ask(server.url, Host=host).status == 200


def test_another_page_cannot_label(server: LabelServer, folder: Path) -> None:
    sent = {"label": "success", "note": ""}
    assert ask(server.url, "runs/0/label", sent, Origin="http://evil.example").status == 403
    assert ask(server.url, "runs/0/label", sent, Content_Type="text/plain").status == 415
    assert read_labels_or_none(folder) == {}


def read_labels_or_none(folder: Path) -> dict[str, bool | None]:
    path = folder / "labels.jsonl"
    if not path.read_bytes():
        return {}
    return {run_id: label.success for run_id, label in read_labels(path).items()}


def test_the_page_asks_nobody_else(server: LabelServer) -> None:
    answer = ask(server.url)
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "unsafe" not in policy
    assert b"http://" not in answer.body
    assert b"https://" not in answer.body


def test_nothing_before_the_label_tells_the_verdict(folder: Path) -> None:
    with serving(folder, show_verdict=True) as server:
        paths = ["", "summary", *(f"runs/{index}" for index in range(3))]
        answers = [ask(server.url, path) for path in paths]
        assert [answer.status for answer in answers] == [200] * 5
        assert not [answer for answer in answers if SECRET.encode() in answer.body]
        # What differs between a success and a failure is the run alone.
        first, second = (answer.fields for answer in answers[2:4])
        assert {key for key in first if first[key] != second[key]} == {"run"}
        assert [picture["name"] for picture in first["pictures"]] == ["top", "wrist"]
        refused = ask(server.url, "runs/0/verdict", {})
        assert (refused.status, SECRET.encode() in refused.body) == (409, False)


def test_a_run_is_shown_with_all_that_was_seen(server: LabelServer) -> None:
    run = ask(server.url, "runs/0").fields
    assert run["postCondition"] == "The cup is held."
    assert (run["tool"], run["arguments"]) == ("pick", [["target", "cup"]])
    assert run["measured"] == ["width 0.05 m", "clearance front free", "seen 0.120 s after the end"]
    assert run["pictures"][0] == {"name": "top", "width": 640, "height": 480}
    picture = ask(server.url, "runs/0/1.jpg")
    assert picture.headers["Content-Type"] == "image/jpeg"
    assert picture.body.startswith(b"\xff\xd8")


def test_verdicts_are_kept_back_unless_asked_for_at_the_start(server: LabelServer) -> None:
    assert ask(server.url, "runs/0/label", {"label": "success", "note": ""}).status == 200
    refused = ask(server.url, "runs/0/verdict", {})
    assert refused.status == 409
    assert "--show-verdict" in refused.fields["error"]


def test_a_label_changed_after_its_verdict_was_seen_says_so(folder: Path) -> None:
    path = folder / "labels.jsonl"
    with serving(folder, show_verdict=True) as server:
        ask(server.url, "runs/0/label", {"label": "success", "note": ""})
        assert "saw_verdict" not in path.read_text()
        assert SECRET in ask(server.url, "runs/0/verdict", {}).fields["lines"]
        ask(server.url, "runs/0/label", {"label": "failure", "note": ""})
    lines = path.read_text().splitlines()
    assert ["saw_verdict" in line for line in lines] == [False, True, True]
    with serving(folder) as server:
        ask(server.url, "runs/0/label", {"label": "success", "note": ""})
    assert "saw_verdict" in path.read_text().splitlines()[-1]


@pytest.mark.parametrize(
    ("path", "sent", "status", "part"),
    [
        ("runs/3", None, 409, "there are 3 runs"),
        ("runs/0/9.jpg", None, 404, "2 pictures"),
        ("runs/../0", None, 404, "no such page"),
        ("runs/0/label", {"label": "maybe", "note": ""}, 409, "allowed are success"),
        ("runs/0/label", {"label": ["success"], "note": ""}, 409, "allowed are success"),
        ("runs/0/label", {"label": "success", "note": "x" * 2001}, 409, "at most 2000"),
        ("runs/0/label", {"label": "success", "note": 3}, 409, "text"),
        ("runs/9/label", {"label": "success", "note": ""}, 409, "there are 3 runs"),
        ("runs/0/label", [1], 400, "object"),
        ("runs/0/label", {"note": "x" * 70000}, 413, "65536"),
        ("elsewhere", {}, 404, "no such page"),
    ],
)
def test_what_cannot_be_answered_is_said(
    server: LabelServer, folder: Path, path: str, sent: object, status: int, part: str
) -> None:
    answer = ask(server.url, path, sent)
    assert answer.status == status
    assert part in answer.body.decode()
    assert read_labels_or_none(folder) == {}


def test_pictures_that_are_not_there_are_said(tmp_path: Path) -> None:
    bare = graded_folder(tmp_path / "graded", rows_of("S"), pictures=False)
    with serving(bare) as server:
        answer = ask(server.url, "runs/0")
    assert answer.status == 409
    assert "no pictures, though there were views" in answer.fields["error"]


def test_a_port_that_is_taken_is_said(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(LabellingError, match=f"--port {port}: Address already in use"),
            serving(folder, port=port),
        ):
            raise AssertionError
