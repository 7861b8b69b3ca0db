# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The page of a rule's evidence in a browser: one file, wide and on a phone."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1] / "grading"))

import chromium
from rule_world import BREACH, Client, Clock, a_failure, a_rule, a_win, eventful_store

from harness_ros.rules.dossier import dossier_of
from harness_ros.rules.page_writing import write_rule_page
from harness_ros.sidecar.promotion.rounds import Validation
from harness_ros.sidecar.promotion.store import RuleStore

EXECUTABLE = chromium.find()
pytestmark = pytest.mark.skipif(EXECUTABLE is None, reason="chromium is not installed")

HOSTILE = "<img src=x onerror=alert(1)>\u202e"
RULES = ["promoted", "retired", "tried", "waiting"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    opened = chromium.Browser(EXECUTABLE, tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    with RuleStore(eventful_store(folder / "rules.sqlite")) as store:
        for rule in RULES:
            write_rule_page(folder / f"{rule}.html", dossier_of(store, rule))
    return {rule: folder / f"{rule}.html" for rule in RULES}


def opened(browser, path, width=1280):
    browser.size(width, mobile=width < 700)
    browser.open(path.as_uri())
    text = browser.run("document.body.innerText")
    return " ".join(text.replace("\u202f", " ").split())


def test_a_promoted_rule_is_shown_with_each_score_without_and_with_it(browser, pages):
    text = opened(browser, pages["promoted"])
    assert "State active since 20" in text and "decided by replay_bench" in text
    assert "50 % 4 of 8 sessions, 95 % interval 21.5 to 78.5 %" in text
    assert "invoice-3 failure outcome_correct 0.20 to 0.80 +0.60" in text
    assert "invoice-2 failure, held out outcome_correct 0.20 to 0.60 +0.40" in text
    assert "refund-3 protected win outcome_correct 0.95 to 0.97 +0.02" in text
    assert "luck cannot be excluded" in text


def test_each_mean_has_its_standard_error_and_cases(browser, pages):
    text = opened(browser, pages["promoted"])
    assert "Failure cases 3 +0.40 0.12" in text
    assert "of these, held out 1 +0.40 –" in text


def test_a_retired_rule_says_which_win_it_cost(browser, pages):
    text = opened(browser, pages["retired"])
    assert "Why it is retired Win case refund-2 lost 0.55 of outcome_correct" in text
    assert "retires the rule: outcome_correct" in text


def test_a_trial_says_what_it_has_seen_and_what_that_can_show(browser, pages):
    text = opened(browser, pages["tried"])
    assert "State on trial" in text
    assert "0 of 2 sessions so far" in text
    assert "5 up to 45 %" in text
    assert "Earlier rounds" in text
    assert browser.run("document.querySelectorAll('details.earlier').length") == 2


def test_a_replay_that_is_no_evidence_says_why(browser, pages):
    text = opened(browser, pages["tried"])
    assert "refund-3 protected win evidence of nothing: no verdict" in text


def test_a_rule_that_waits_for_its_first_round_is_a_page_too(browser, pages):
    text = opened(browser, pages["waiting"])
    assert "No round yet. 2 cases wait for it: refund-3 (win), refund-2 (win)." in text
    assert "not known: no session that counts was reported before it" in text


def test_states_and_rounds_stand_in_their_order(browser, pages):
    opened(browser, pages["tried"])
    steps = browser.run("[...document.querySelectorAll('.steps .what')].map(e => e.textContent)")
    assert steps == ["candidate", "round 1", "round 2", "round 3", "forward trial begins"]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("width", [320, 375, 768, 1280])
def test_nothing_is_wider_than_the_window(browser, pages, rule, width):
    opened(browser, pages[rule], width)
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_the_page_asks_for_nothing_and_runs_nothing(browser, pages):
    opened(browser, pages["promoted"])
    assert browser.requests == {pages["promoted"].as_uri()}
    assert browser.problems == []
    assert browser.run("document.scripts.length") == 0


def test_a_decided_trial_says_what_so_few_sessions_leave_possible(browser, tmp_path):
    clock = Clock()
    with RuleStore(tmp_path / "rules") as store:
        store.report(a_failure("first"))
        store.submit(a_rule())
        validation = Validation(store, Client(clock), clock=clock)
        for _ in range(3):
            validation.validate("rule-1")
        for number in range(5):
            store.report(a_win(f"later-{number}", protected=False))
        assert len(validation.settle_trials()) == 1
        write_rule_page(tmp_path / "page.html", dossier_of(store, "rule-1"))
    text = opened(browser, tmp_path / "page.html")
    assert "still possible breach rates up to 45 %, one-sided" in text
    assert "sessions later-0, later-1, later-2, later-3, later-4" in text


def test_texts_of_others_are_only_texts(browser, tmp_path):
    clock = Clock()
    with RuleStore(tmp_path / "rules") as store:
        store.report(a_failure(HOSTILE, signatures=(BREACH, HOSTILE)))
        store.submit(a_rule(HOSTILE, text=HOSTILE, author=HOSTILE, signatures=(BREACH, HOSTILE)))
        client = Client(clock, {HOSTILE: RuntimeError(HOSTILE)})
        Validation(store, client, clock=clock, validator=HOSTILE).validate()
        write_rule_page(tmp_path / "page.html", dossier_of(store, HOSTILE))
    text = opened(browser, tmp_path / "page.html")
    assert "<img src=x onerror=alert(1)>‹U+202E›" in text
    assert "\u202e" not in text
    assert browser.run("document.images.length") == 0
    assert browser.problems == []
