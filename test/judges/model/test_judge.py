# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a model says becomes a judgement: alone, by votes, and after a critic."""

import json
import threading
from dataclasses import replace

import pytest
from judge_world import together
from openai_server import answers, fails, says

from harness_ros.contract import Kind, Status
from harness_ros.judges.model.judge import answer_within_s

FELL = answers(status="failure", failure_reason="it fell", confidence=0.6)
HIDDEN = answers(status="inconclusive", failure_reason="the tray is hidden")
BAD = says("no JSON")


def critic(*visible):
    pieces = [{"reason": f"reason {n}", "visible": item} for n, item in enumerate(visible, 1)]
    return says(json.dumps({"pieces": pieces}))


def test_a_success_is_one_with_evidence_and_confidence(server, make_judge, request_record):
    judgement = make_judge().judge(request_record)
    assert (judgement.status, judgement.kind) == (Status.SUCCESS, Kind.JUDGED)
    assert judgement.evidence == ("the cube lies in the tray",)
    assert judgement.confidence == 0.8
    assert judgement.judge == "looker (test-model)"


def test_a_failure_has_the_reason_of_the_model(server, make_judge, request_record):
    server.default = FELL
    judgement = make_judge().judge(request_record)
    assert (judgement.status, judgement.kind) == (Status.FAILURE, Kind.JUDGED)
    assert (judgement.failure_reason, judgement.confidence) == ("it fell", 0.6)


def test_what_the_model_cannot_tell_is_inconclusive(server, make_judge, request_record):
    server.default = HIDDEN
    judgement = make_judge().judge(request_record)
    assert (judgement.status, judgement.kind) == (Status.FAILURE, Kind.INCONCLUSIVE)
    assert judgement.failure_reason == "the tray is hidden"


def test_process_is_none_of_the_words_for_a_tool_without_segments(
    server, make_judge, request_record
):
    server.default = answers(status="process", failure_reason="goes on")
    assert make_judge().judge(request_record).kind is Kind.JUDGE_PROTOCOL_VIOLATION


def test_process_is_taken_where_the_tool_has_it(server, make_judge, request_record):
    server.default = answers(status="process", failure_reason="one cube is left")
    criterion = {"process": {"when": {}, "reason": "cubes are left"}}
    request = request_record.model_copy(update={"criterion": json.dumps(criterion)})
    judgement = make_judge().judge(request)
    assert (judgement.status, judgement.failure_reason) == (Status.PROCESS, "one cube is left")


def test_what_is_sent_is_what_the_configuration_says(server, make_judge, request_record):
    make_judge(temperature=0.3, seed=5, max_output_tokens=321).judge(request_record)
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    sent = {key: request.body[key] for key in ("model", "temperature", "seed", "max_tokens")}
    assert sent == {"model": "test-model", "temperature": 0.3, "seed": 5, "max_tokens": 321}
    schema = request.body["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert schema["schema"]["properties"]["status"]["enum"] == [
        "success",
        "failure",
        "inconclusive",
    ]
    assert len(request.pictures) == 1
    assert "The cube lies in the tray." in request.text


def test_temperature_is_left_to_the_endpoint_where_it_is_null(server, make_judge, request_record):
    make_judge(temperature=None).judge(request_record)
    assert "temperature" not in server.requests[0].body


def test_a_request_without_a_view_is_not_sent(server, make_judge, request_record):
    empty = request_record.observation.model_copy(update={"views": ()})
    judgement = make_judge().judge(request_record.model_copy(update={"observation": empty}))
    assert "views wanted" in judgement.error
    assert server.requests == []


def test_what_is_not_shown_is_in_the_evidence_of_any_judgement(server, make_judge, request_record):
    regions = {"elsewhere": (0.0, 0.0, 1.0, 1.0)}
    request = request_record.model_copy(update={"outcome_regions": regions})
    for server.default in (answers(), FELL, BAD):
        assert "elsewhere" in make_judge().judge(request).evidence[-1]


@pytest.mark.parametrize("timeout_s", [0.5, 1, 10, 60])
def test_an_answer_comes_before_the_evaluator_gives_up(timeout_s):
    within_s = answer_within_s(timeout_s)
    assert 0 < within_s < timeout_s
    assert timeout_s - within_s <= 1


def test_requests_under_way_are_no_more_than_parallel(server, make_judge, request_record):
    server.default = replace(answers(), delay_s=0.05)
    judge = make_judge(parallel=2)
    judgements = together(6, lambda _: judge.judge(request_record))
    assert [judgement.status for judgement in judgements] == [Status.SUCCESS] * 6
    assert server.most_at_once == 2


# Votes


def votes(server, make_judge, request_record, *responses, **settings):
    server.script.extend(responses)
    judge = make_judge(votes=len(responses), temperature=0.7, attempts=1, **settings)
    return judge.judge(request_record)


def test_what_most_votes_say_is_the_judgement(server, make_judge, request_record):
    judgement = votes(server, make_judge, request_record, answers(), FELL, answers())
    assert judgement.status is Status.SUCCESS
    assert judgement.confidence == pytest.approx(2 / 3)
    assert any("1 failure" in line for line in judgement.evidence)
    assert judgement.usage.calls == 3
    assert judgement.usage.input_tokens == 3000


def test_a_vote_that_is_no_answer_never_helps_a_success(server, make_judge, request_record):
    judgement = votes(server, make_judge, request_record, answers(), BAD, FELL)
    assert (judgement.status, judgement.kind) == (Status.FAILURE, Kind.INCONCLUSIVE)


def test_one_failure_is_enough_by_the_rule_that_says_so(server, make_judge, request_record):
    responses = (answers(), answers(), FELL)
    judgement = votes(server, make_judge, request_record, *responses, rule="any_failure")
    assert (judgement.status, judgement.kind) == (Status.FAILURE, Kind.JUDGED)
    assert judgement.confidence == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("response", "kind"), [(BAD, Kind.JUDGE_PROTOCOL_VIOLATION), (fails(403), Kind.JUDGED)]
)
def test_votes_of_which_none_is_an_answer_are_no_judgement(
    server, make_judge, request_record, response, kind
):
    judgement = votes(server, make_judge, request_record, response, response)
    assert judgement.error
    assert judgement.kind is kind


def test_votes_are_asked_for_at_the_same_time(server, make_judge, request_record):
    gate = threading.Barrier(5)

    def when_all_are_there(_):
        gate.wait(10)
        return answers()

    server.default = when_all_are_there
    judge = make_judge(votes=5, temperature=0.7, parallel=1)
    assert judge.judge(request_record).status is Status.SUCCESS


def test_each_vote_has_a_seed_of_its_own(server, make_judge, request_record):
    make_judge(votes=3, temperature=0.7, seed=40).judge(request_record)
    assert sorted(request.body["seed"] for request in server.requests) == [40, 41, 42]


# Critic


def test_a_success_survives_when_its_evidence_is_found(server, make_judge, request_record):
    server.script.extend([answers(), critic(True)])
    judgement = make_judge(critic=True).judge(request_record)
    assert judgement.status is Status.SUCCESS
    assert judgement.evidence[-1] == "critic: found all 1 pieces of claimed evidence"
    assert judgement.usage.calls == 2
    asked, again = server.requests
    assert again.pictures == asked.pictures
    assert "the cube lies in the tray" in again.text
    assert "visible" in json.dumps(again.body["response_format"])


def test_a_success_without_its_evidence_is_inconclusive(server, make_judge, request_record):
    claims = ["the cube lies in the tray", "the gripper is open"]
    server.script.extend([answers(evidence=claims), critic(True, False)])
    judgement = make_judge(critic=True).judge(request_record)
    assert (judgement.status, judgement.kind) == (Status.FAILURE, Kind.INCONCLUSIVE)
    assert "did not find 1 of 2" in judgement.failure_reason
    assert "'the gripper is open' (reason 2)" in judgement.failure_reason
    assert judgement.evidence == tuple(claims)
    assert judgement.confidence is None


@pytest.mark.parametrize("response", [FELL, HIDDEN])
def test_what_is_no_success_has_no_critic(server, make_judge, request_record, response):
    server.default = response
    assert make_judge(critic=True).judge(request_record).usage.calls == 1


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (critic(True, True), Kind.JUDGE_PROTOCOL_VIOLATION),
        (answers(), Kind.JUDGE_PROTOCOL_VIOLATION),
        (fails(403), Kind.JUDGED),
    ],
)
def test_a_success_whose_critic_does_not_answer_is_none(
    server, make_judge, request_record, response, kind
):
    server.script.append(answers())
    server.default = response
    judgement = make_judge(critic=True).judge(request_record)
    assert (judgement.status, judgement.kind) == (Status.FAILURE, kind)
    assert judgement.error.startswith("the critic did not answer: ")


def test_the_evidence_of_all_successful_votes_is_looked_for(server, make_judge, request_record):
    said = [answers(evidence=[f"claim {number}", "the same"]) for number in range(30)]
    asked = []

    def asked_critic(body):
        text = body["messages"][1]["content"][0]["text"]
        claims = [line for line in text.splitlines() if "claim " in line or "the same" in line]
        asked.append(len(claims))
        return critic(*[True] * len(claims))

    server.script.extend(said[:15])
    server.default = asked_critic
    judge = make_judge(critic=True, votes=15, temperature=0.7)
    assert judge.judge(request_record).status is Status.SUCCESS
    assert asked == [16]
