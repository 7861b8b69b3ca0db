# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a judge's requests took, and that a cap holds."""

import json
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from dataclasses import replace

import pytest
from judge_world import together
from openai_server import Response, answers, fails, says

from harness_ros.contract import Status, Usage
from harness_ros.judges.making import make_judges
from harness_ros.judges.model.funds import FundsError, OwnFunds, Purse, SharedFunds, open_accounts
from harness_ros.judges.model.settings import PriceSettings
from harness_ros.judges.model.spending import Bill, CapReachedError, Spending
from harness_ros.judges.settings import PanelSettings

PRICES = {"input_per_million": 10.0, "output_per_million": 100.0, "currency": "EUR"}
COST = 1000 * 10e-6 + 50 * 100e-6
"""Of one answer of the server."""


@pytest.fixture
def accounts(tmp_path):
    with open_accounts(tmp_path / "accounts") as path:
        yield path


@pytest.fixture
def shared(accounts):
    return SharedFunds(accounts, "looker")


@pytest.fixture(params=["own", "shared"])
def funds(request):
    return OwnFunds() if request.param == "own" else request.getfixturevalue("shared")


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


def test_an_endpoint_that_takes_no_connection_costs_nothing(make_judge, request_record):
    with socket.socket() as listener, ExitStack() as waiting:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        # The queue of the listener is full with these, and nobody takes them out of it.
        for _ in range(4):
            other = waiting.enter_context(socket.socket())
            other.setblocking(False)
            with suppress(BlockingIOError):
                other.connect(listener.getsockname())
        port = listener.getsockname()[1]
        judge = make_judge(
            base_url=f"http://127.0.0.1:{port}/v1", prices=PRICES, timeout_s=4.0, attempts=1
        )
        judgement = judge.judge(request_record)
    assert "ConnectTimeout" in judgement.error
    assert judge.account.calls == 1
    assert judge.account.cost == judgement.usage.cost == 0


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


def test_nothing_stays_set_aside(server, make_judge, request_record, funds):
    server.script.extend([fails(500, retry_after="0"), Response(drop=True), says(None)])
    judge = make_judge(prices=PRICES, spending_cap=100, funds=funds)
    judge.judge(request_record)
    taken = funds.set_aside(1000.0, 100.0)
    assert taken.set_aside == pytest.approx(0)
    assert taken.spent == pytest.approx(judge.account.cost)


def test_judges_with_an_account_in_common_have_one_cap(server, make_judge, request_record, shared):
    judges = [
        make_judge(prices=PRICES, spending_cap=0.25, max_output_tokens=1000, funds=shared)
        for _ in range(8)
    ]
    together(8, lambda number: judges[number].judge(request_record))
    # Of those at the same time some are refused because of what others have set aside.
    for judge in 2 * judges:
        judge.judge(request_record)
    cost = sum(judge.account.cost for judge in judges)
    assert cost == pytest.approx(shared.set_aside(1000.0, 0.25).spent)
    assert 0.25 - 0.14 < cost <= 0.25
    assert len(server.requests) == round(cost / COST)


def test_without_the_account_no_request_is_sent(server, make_judge, request_record, tmp_path):
    missing = tmp_path / "not_there.sqlite"
    judge = make_judge(prices=PRICES, spending_cap=1.0, funds=SharedFunds(missing, "looker"))
    judgement = judge.judge(request_record)
    assert f"{missing}: what was spent cannot be shared" in judgement.error
    assert server.requests == []
    assert not missing.exists()


def test_an_answer_counts_that_cannot_be_written_down(
    server, make_judge, request_record, shared, accounts
):
    class Removes(SharedFunds):
        def settle(self, estimate, cost):
            raise FundsError("the disk is full")

    funds = Removes(accounts, "looker")
    judge = make_judge(prices=PRICES, spending_cap=0.25, funds=funds)
    assert judge.judge(request_record).status is Status.SUCCESS
    assert shared.set_aside(1000.0, 0.25).set_aside > COST


def test_each_judge_has_an_account_of_its_own(shared, accounts):
    assert shared.set_aside(0.2, 0.25) is None
    other = SharedFunds(accounts, "other")
    assert other.set_aside(0.2, 0.25) is None
    assert shared.set_aside(0.2, 0.25) == (0.0, 0.2)
    shared.settle(0.2, 0.1)
    assert shared.set_aside(0.2, 0.25) == (0.1, 0.0)


SPEND = """
import sys
from pathlib import Path
from harness_ros.judges.making import make_judges
from harness_ros.judges.model.funds import SharedFunds

funds, spent = SharedFunds(Path(sys.argv[1]), "looker"), 0
while funds.set_aside(0.03, 5.0) is None:
    funds.settle(0.03, 0.02)
    spent += 1
print(spent)
"""


def test_processes_that_spend_at_the_same_time_stop_at_the_cap(shared, accounts):
    command = [sys.executable, "-c", SPEND, str(accounts)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    spent = sum(int(process.communicate(timeout=60)[0]) for process in started)
    taken = shared.set_aside(1000.0, 5.0)
    assert taken == pytest.approx((0.02 * spent, 0.0))
    # One may have been refused while others had set aside what they did not spend.
    assert 5.0 - 3 * 0.03 < taken.spent <= 5.0


def test_an_account_begins_with_nothing_and_is_gone_at_the_end(tmp_path):
    folder = tmp_path / "made"
    for _ in range(2):
        with open_accounts(folder) as path:
            assert SharedFunds(path, "looker").set_aside(0.25, 0.25) is None
        assert list(folder.iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(FundsError, match="file/spending"), open_accounts(tmp_path / "file"):
        pass


def test_who_was_left_over_settles_nothing_in_the_next_account(tmp_path):
    with open_accounts(tmp_path) as before:
        left_over = SharedFunds(before, "looker")
        left_over.set_aside(0.2, 0.25)
        (tmp_path / f"{before.name}-journal").write_text("")
        with open_accounts(tmp_path) as path:
            assert [item.name for item in tmp_path.iterdir()] == [path.name]
            now = SharedFunds(path, "looker")
            now.set_aside(0.2, 0.25)
            with pytest.raises(FundsError):
                left_over.settle(0.2, 0.1)
            assert now.set_aside(0.2, 0.25) == (0.0, 0.2)


def test_a_judge_that_is_made_twice_has_one_cap(settings_with):
    settings = {
        "eye": settings_with(prices=PRICES, spending_cap=0.25),
        "both": PanelSettings(type="panel", members=["eye", "eye"], rule="majority"),
    }
    purse = Purse()
    alone, panel = make_judges(settings, purse=purse).values()
    judges = [alone, *panel.asks]
    assert len(judges) >= 2
    assert {judge._session._spending._funds for judge in judges} == {purse.of("eye")}


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
