# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a judge's requests took, and that a cap holds."""

import json
from dataclasses import replace

import pytest
from judge_world import together
from openai_server import Response, answers, fails, says

from harness_ros.contract import Status, Usage
from harness_ros.judges.model.settings import PriceSettings
from harness_ros.judges.model.spending import Bill, CapReachedError, Spending

PRICES = {"input_per_million": 10.0, "output_per_million": 100.0, "currency": "EUR"}
COST = 1000 * 10e-6 + 50 * 100e-6
"""Of one answer of the server."""


def test_a_judgement_says_what_it_took(server, make_judge, request_record):
    usage = make_judge(prices=PRICES).judge(request_record).usage
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (1, 1000, 50)
    assert usage.cost == pytest.approx(COST)


def test_the_account_is_all_since_the_start(server, make_judge, request_record):
    judge = make_judge(prices=PRICES)
    server.script.extend([fails(500, retry_after="0"), answers(), says("no JSON")])
    for _ in range(3):
        judge.judge(request_record)
    account = judge.account
    assert (account.calls, account.input_tokens, account.output_tokens) == (5, 4000, 200)
    assert account.cost == pytest.approx(4 * COST)
    assert (account.currency, account.spending_cap, account.exhausted) == ("EUR", None, False)


def test_tokens_are_counted_where_there_are_no_prices(server, make_judge, request_record):
    judge = make_judge()
    judge.judge(request_record)
    assert (judge.account.input_tokens, judge.account.cost, judge.account.currency) == (1000, 0, "")


def uncounted():
    completion = json.loads(answers().body)
    del completion["usage"]
    return Response(json.dumps(completion).encode())


@pytest.mark.parametrize("response", [uncounted(), replace(answers(), cut_at=50)])
def test_what_nobody_counted_is_charged_as_estimated(server, make_judge, request_record, response):
    server.default = response
    judge = make_judge(prices=PRICES, attempts=1, max_output_tokens=1000)
    usage = judge.judge(request_record).usage
    assert (usage.calls, usage.input_tokens) == (1, 0)
    assert usage.cost > 1000 * 100e-6


@pytest.mark.parametrize("response", [fails(429, retry_after="0"), fails(400), fails(500)])
def test_what_the_endpoint_did_not_take_costs_nothing(server, make_judge, request_record, response):
    server.default = response
    usage = make_judge(prices=PRICES, attempts=1).judge(request_record).usage
    assert (usage.calls, usage.cost) == (1, 0)


def test_no_request_is_sent_once_the_cap_is_reached(server, make_judge, request_record):
    judge = make_judge(prices=PRICES, spending_cap=3 * COST + 0.14, max_output_tokens=1000)
    judgements = [judge.judge(request_record) for _ in range(6)]
    judged = [judgement.status is Status.SUCCESS for judgement in judgements]
    assert judged == [True, True, True, True, False, False] or judged == [*[True] * 3, *[False] * 3]
    last = judgements[-1]
    for word in ("spending_cap", "EUR", f"{judge.account.cost:.4g} are spent"):
        assert word in last.error
    assert last.usage == Usage()
    assert len(server.requests) == sum(judged)
    assert judge.account.exhausted
    assert judge.account.cost <= judge.account.spending_cap


def test_the_first_request_is_not_sent_where_it_may_cost_too_much(
    server, make_judge, request_record
):
    judgement = make_judge(prices=PRICES, spending_cap=0.0).judge(request_record)
    assert "spending_cap is 0 EUR: 0 are spent" in judgement.error
    assert server.requests == []


def test_requests_at_the_same_time_do_not_slip_past_the_cap(server, make_judge, request_record):
    server.default = replace(answers(), delay_s=0.05)
    judge = make_judge(prices=PRICES, spending_cap=0.25, max_output_tokens=1000, parallel=8)
    judgements = together(8, lambda _: judge.judge(request_record))
    judged = [judgement for judgement in judgements if not judgement.error]
    assert 0 < len(judged) < 8
    assert judge.account.cost <= 0.25
    assert any("are set aside" in judgement.error for judgement in judgements)


def test_repeated_requests_and_votes_are_held_against_the_cap(server, make_judge, request_record):
    server.default = says("no JSON")
    judge = make_judge(prices=PRICES, spending_cap=0.135, max_output_tokens=1000)
    assert "spending_cap" in judge.judge(request_record).error
    assert len(server.requests) == 1


def test_nothing_stays_set_aside(server, make_judge, request_record):
    server.script.extend([fails(500, retry_after="0"), Response(drop=True), says(None)])
    judge = make_judge(prices=PRICES, spending_cap=100)
    judge.judge(request_record)
    assert judge._session._spending._set_aside == pytest.approx(0)


def test_a_request_that_is_given_up_is_charged_once():
    spending, bill = Spending(PriceSettings.model_validate(PRICES), 1.0), Bill()
    with pytest.raises(TimeoutError), spending.reserve(1000, 1000, bill):
        raise TimeoutError
    assert spending.account.cost == bill.total.cost == pytest.approx(0.11)
    with spending.reserve(1000, 1000, bill) as reservation:
        reservation.took(10, 10)
    assert spending.account.cost == pytest.approx(0.11 + 0.0011)
    with pytest.raises(CapReachedError):
        spending.reserve(100_000, 0, bill)
