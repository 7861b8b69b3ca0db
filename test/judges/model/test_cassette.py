# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers are recorded once and played back for ever; nothing is made up."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest
from judge_world import KEY_VARIABLE, request_of, together
from openai_server import answers, fails, says

from harness_ros.contract import Kind, Status, Usage
from harness_ros.judges.model.question import ask_about

FELL = answers(status="failure", failure_reason="it fell")


def recorder(make_judge, folder, **settings):
    return make_judge(cassette={"mode": "record", "folder": folder}, **settings)


def player(make_judge, folder, **settings):
    return make_judge(
        cassette={"mode": "replay", "folder": folder}, base_url="http://127.0.0.1:9/v1", **settings
    )


def files(folder):
    return sorted(folder.iterdir())


def said(judgement):
    return judgement.model_dump(exclude={"usage"})


@pytest.mark.parametrize("response", [answers(), FELL, says("no JSON"), says(None, refusal="no")])
def test_what_was_recorded_is_judged_alike_without_an_endpoint_or_a_key(
    server, make_judge, request_record, tmp_path, monkeypatch, response
):
    server.default = response
    recorded = recorder(make_judge, tmp_path).judge(request_record)
    monkeypatch.delenv(KEY_VARIABLE)
    judge = player(make_judge, tmp_path)
    played = judge.judge(request_record)
    assert said(played) == said(recorded)
    assert played.usage == Usage()
    assert judge.account.replayed == 1
    assert judge.prepare() == ""


def test_what_is_recorded_is_not_asked_again(server, make_judge, request_record, tmp_path):
    judge = recorder(make_judge, tmp_path)
    judge.judge(request_record)
    judge.judge(request_record)
    assert len(server.requests) == 1
    judge.judge(request_of("The tray is empty."))
    assert len(server.requests) == len(files(tmp_path)) == 2


def test_votes_and_the_critic_are_recorded_each(server, make_judge, request_record, tmp_path):
    server.script.extend([answers(), FELL, answers()])
    server.default = says('{"pieces": [{"reason": "seen", "visible": true}]}')
    settings = {"votes": 3, "temperature": 0.7, "critic": True}
    recorded = recorder(make_judge, tmp_path, **settings).judge(request_record)
    assert recorded.status is Status.SUCCESS
    assert len(files(tmp_path)) == 4
    played = player(make_judge, tmp_path, **settings).judge(request_record)
    assert said(played) == said(recorded)


def test_a_file_says_what_was_asked_and_who_answered(server, make_judge, request_record, tmp_path):
    judge = recorder(make_judge, tmp_path)
    judge.judge(request_record)
    (path,) = files(tmp_path)
    key = ask_about(request_record, judge._settings).key
    assert path.name == f"{key}-1.json"
    kept = json.loads(path.read_text())
    assert (kept["key"], kept["vote"]) == (key, 1)
    assert kept["recorded_from"] == server.base_url.split("/")[2]
    assert kept["recorded_at"].endswith("+00:00")
    asked = kept["asked"]
    assert (asked["role"], asked["model"]) == ("judge", "test-model")
    assert asked["post_condition"] == "The cube lies in the tray."
    assert len(asked["instruction_sha256"]) == 64
    assert 'view "tray"' in asked["pictures"][0]["caption"]
    assert len(asked["pictures"][0]["digest"]) == 64
    assert json.loads(kept["reply"]["text"])["status"] == "success"
    assert (kept["reply"]["model"], kept["reply"]["input_tokens"]) == (
        "server-of-the-tests-no-model",
        1000,
    )
    assert len(path.read_text()) < 5000


@pytest.mark.parametrize("response", [fails(403), fails(429, retry_after="60")])
def test_what_is_no_reply_is_not_recorded(server, make_judge, request_record, tmp_path, response):
    server.default = response
    recorder(make_judge, tmp_path).judge(request_record)
    assert files(tmp_path) == []


def test_an_answer_that_was_asked_for_again_is_not_recorded(
    server, make_judge, request_record, tmp_path
):
    server.script.append(says("no JSON"))
    recorder(make_judge, tmp_path).judge(request_record)
    (path,) = files(tmp_path)
    assert json.loads(json.loads(path.read_text())["reply"]["text"])["status"] == "success"


@pytest.mark.parametrize(
    ("request_changed", "settings"),
    [
        (request_of("The cube lies in the tray, and nothing else does."), {}),
        (request_of(), {"model": "other-model"}),
        (request_of(), {"context": "The tray is blue."}),
        (request_of(), {"votes": 2, "temperature": 0.7}),
        (request_of(), {"jpeg_quality": 60}),
    ],
)
def test_what_was_not_recorded_is_no_judgement_and_is_named(
    server, make_judge, request_record, tmp_path, request_changed, settings
):
    recorder(make_judge, tmp_path).judge(request_record)
    judge = player(make_judge, tmp_path, **settings)
    judgement = judge.judge(request_changed)
    assert (judgement.status, judgement.kind) == (Status.FAILURE, Kind.JUDGED)
    assert "no answer is recorded" in judgement.error
    assert ask_about(request_changed, judge._settings).key in judgement.error
    assert request_changed.post_condition in judgement.error
    assert str(tmp_path) in judgement.error


DAMAGE = {
    "empty": ("", "(top)"),
    "half": ('{"format": 1, "key":', "(top)"),
    "other_format": ('{"format": 2}', "format"),
    "other_json": ("[]", "(top)"),
}


@pytest.mark.parametrize(("text", "where"), DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("make", [recorder, player])
def test_a_damaged_file_is_named_and_left_alone(
    server, make_judge, request_record, tmp_path, text, where, make
):
    recorder(make_judge, tmp_path).judge(request_record)
    (path,) = files(tmp_path)
    path.write_text(text)
    error = make(make_judge, tmp_path).judge(request_record).error
    assert f"{path} is damaged: {where}" in error
    assert path.read_text() == text


def test_a_file_under_another_name_is_not_its_answer(server, make_judge, request_record, tmp_path):
    judge = recorder(make_judge, tmp_path)
    judge.judge(request_record)
    (path,) = files(tmp_path)
    other = request_of("The tray is empty.")
    renamed = tmp_path / f"{ask_about(other, judge._settings).key}-1.json"
    path.rename(renamed)
    error = player(make_judge, tmp_path).judge(other).error
    assert f"{renamed} is damaged: it holds the answer of key" in error


def test_a_folder_that_is_not_there_is_named_at_the_start(make_judge, request_record, tmp_path):
    judge = player(make_judge, tmp_path / "nowhere")
    assert f"there is no folder {tmp_path / 'nowhere'}" in judge.prepare()
    assert "no answer is recorded" in judge.judge(request_record).error


def test_an_answer_that_cannot_be_written_is_an_error(server, make_judge, request_record, tmp_path):
    (tmp_path / "file").write_text("")
    error = recorder(make_judge, tmp_path / "file").judge(request_record).error
    assert "cannot be" in error
    assert str(tmp_path / "file") in error


def test_many_judges_may_record_into_one_folder(server, make_judge, request_record, tmp_path):
    judges = [recorder(make_judge, tmp_path) for _ in range(4)]
    judgements = together(4, lambda number: judges[number].judge(request_record))
    assert {judgement.status for judgement in judgements} == {Status.SUCCESS}
    assert len(files(tmp_path)) == 1
    assert player(make_judge, tmp_path).judge(request_record).status is Status.SUCCESS


def test_the_first_answer_is_that_of_all_who_ask_the_same_at_once(
    server, make_judge, request_record, tmp_path
):
    server.script.extend([replace(answers(), delay_s=0.5), replace(FELL, delay_s=0.5)])
    judges = [recorder(make_judge, tmp_path) for _ in range(2)]
    judgements = together(2, lambda number: judges[number].judge(request_record))
    assert len(server.requests) == 2
    assert [judgement.usage.calls for judgement in judgements] == [1, 1]
    played = player(make_judge, tmp_path).judge(request_record)
    assert [said(judgement) for judgement in judgements] == [said(played)] * 2


def test_a_malformed_answer_gives_way_to_one_that_is_recorded(
    server, make_judge, request_record, tmp_path
):
    bad = replace(says("no JSON"), delay_s=0.5)
    server.script.extend([answers(), bad, bad])
    judges = [recorder(make_judge, tmp_path / name) for name in ("other", "mine")]
    judges[0].judge(request_record)
    (recorded,) = files(tmp_path / "other")
    begun = threading.Thread(target=lambda: judgements.append(judges[1].judge(request_record)))
    judgements = []
    begun.start()
    while len(server.requests) < 2:
        time.sleep(0.01)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / recorded.name).write_bytes(recorded.read_bytes())
    begun.join(20)
    assert said(judgements[0]) == said(player(make_judge, tmp_path / "mine").judge(request_record))
    assert judgements[0].status is Status.SUCCESS


def test_a_disk_without_hard_links_is_recorded_to(
    server, make_judge, request_record, tmp_path, monkeypatch
):
    def refused(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refused)
    recorder(make_judge, tmp_path).judge(request_record)
    assert len(files(tmp_path)) == 1
    assert player(make_judge, tmp_path).judge(request_record).status is Status.SUCCESS


REPLAY = """
import sys
sys.modules["openai"] = None
sys.path.insert(0, {here!r})
from judge_world import request_of
from harness_ros.judges.model.judge import ModelJudge
from harness_ros.judges.model.settings import ModelSettings
cassette = {{"mode": "replay", "folder": {folder!r}}}
settings = {{"type": "model", "model": "test-model", "cassette": cassette}}
judge = ModelJudge("looker", ModelSettings.model_validate(settings))
judgement = judge.judge(request_of())
assert not any(name.startswith(("httpx", "httpcore")) for name in sys.modules)
print(judgement.status.name, judge.prepare())
"""


def test_replay_needs_no_client_library(server, make_judge, request_record, tmp_path):
    recorder(make_judge, tmp_path).judge(request_record)
    code = REPLAY.format(folder=str(tmp_path), here=str(__file__).rpartition("/")[0])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["SUCCESS"], done.stderr
    assert done.stderr == ""
