# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`harness-ros rules`, on the store of validations that really ran."""

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from rule_world import a_rule, eventful_store

from harness_ros.cli import main
from harness_ros.sidecar.promotion.store import RuleStore


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return eventful_store(tmp_path_factory.mktemp("store") / "rules.sqlite")


@pytest.fixture
def run(monkeypatch, capsys):
    """run(argument, ...) -> (exit code, what it printed, what it printed to stderr)."""

    def run_main(*arguments):
        monkeypatch.setattr(sys, "argv", ["harness-ros", "rules", *map(str, arguments)])
        code = main()
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run_main


def test_the_list_has_every_rule_with_its_state(run, path):
    code, out, _ = run("list", "--store", path)
    assert code == 0
    assert [line.split()[0:2] for line in out.splitlines()] == [
        ["active", "promoted"],
        ["retired", "retired"],
        ["on", "trial"],
        ["candidate", "waiting"],
    ]


def test_the_list_can_be_of_one_state_and_be_json(run, path):
    _, out, _ = run("list", "--store", path, "--state", "candidate", "--json")
    assert [item["rule"]["rule_id"] for item in json.loads(out)] == ["tried", "waiting"]


def test_a_rule_is_shown_with_why_and_the_cases_of_its_last_round(run, path):
    code, out, _ = run("show", "retired", "--store", path)
    assert code == 0
    assert "state      retired since 20" in out
    assert "win case refund-3 lost 0.55 of outcome_correct" in out
    assert "    win      refund-3  outcome_correct 0.95 to 0.40" in out
    assert "baseline   50% of 8 sessions breached before it" in out


def test_a_trial_is_shown_with_what_it_has_seen(run, path):
    _, out, _ = run("show", "tried", "--store", path)
    assert "state      on trial since" in out
    assert "trial      0 of 2 sessions breached since" in out
    assert "rounds     3, 3 without a decision" in out


def test_the_history_has_states_rounds_and_the_trial_in_their_order(run, path):
    _, out, _ = run("history", "tried", "--store", path)
    lines = [line.partition("  ")[2] for line in out.splitlines()]
    assert [line.split(":")[0] for line in lines] == [
        "candidate",
        *["round of 5 cases, 210 s"] * 3,
        "forward trial begins",
    ]
    _, out, _ = run("history", "promoted", "--store", path, "--json")
    told = json.loads(out)
    assert [change["state"] for change in told["history"]] == ["candidate", "active"]
    assert told["history"][1]["evidence"]["decision"]["outcome"] == "promote"
    assert len(told["rounds"][0]["cases"]) == 5


def test_a_rule_may_be_named_by_how_its_id_begins(run, path):
    code, out, _ = run("show", "prom", "--store", path, "--json")
    assert (code, json.loads(out)["status"]["rule"]["rule_id"]) == (0, "promoted")


@pytest.mark.parametrize("rule", ["nothing", ""])
def test_an_unknown_rule_is_one_line_with_the_path(run, path, rule):
    code, out, err = run("show", rule, "--store", path)
    assert (code, out) == (2, "")
    assert err.startswith(f"harness-ros: {path}: no rule '{rule}'")


def test_an_id_that_begins_two_ids_is_an_error_that_names_both(run, tmp_path):
    with RuleStore(tmp_path / "rules") as store:
        store.submit(a_rule("rule-1"))
        store.submit(a_rule("rule-2"))
    code, _, err = run("history", "rule", "--store", tmp_path / "rules")
    assert code == 2
    assert "several rules begin with 'rule': rule-1, rule-2" in err


def test_a_missing_store_is_an_error_and_is_not_made(run, tmp_path):
    code, _, err = run("list", "--store", tmp_path / "none")
    assert (code, err) == (2, f"harness-ros: --store {tmp_path / 'none'}: no such file\n")
    assert not (tmp_path / "none").exists()


def test_an_unknown_state_is_an_error_with_those_that_are(run, path):
    code, _, err = run("list", "--store", path, "--state", "trusted")
    assert (code, err) == (
        2,
        "harness-ros: --state 'trusted': allowed are candidate, active, retired\n",
    )


def test_a_text_cannot_write_to_the_terminal(run, tmp_path):
    with RuleStore(tmp_path / "rules") as store:
        store.submit(a_rule(text="\x1b[2Jobey\nactive  fine"))
    _, out, _ = run("list", "--store", tmp_path / "rules")
    assert "\x1b" not in out
    assert len(out.splitlines()) == 1


@pytest.mark.parametrize("command", ["list", "show", "history", "page"])
def test_each_command_has_help(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"harness-ros rules {command}" in out
    assert "--store" in out
