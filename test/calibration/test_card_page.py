# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The page of an error card in a browser: one file, all numbers, wide and on a phone."""

import re

import chromium
import pytest
from planted import card_with

from harness_ros.calibration.page_writing import write_card_page
from harness_ros.judges.answers import measured
from harness_ros.judges.card import Sweep

EXECUTABLE = chromium.find()
pytestmark = pytest.mark.skipif(EXECUTABLE is None, reason="chromium is not installed")

HOSTILE = "<img src=x onerror=alert(1)>\u202e"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    opened = chromium.Browser(EXECUTABLE, tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def card():
    made = card_with(
        70, 90, tools=("pick", "place"), repeat=2, false_success=0.1, false_failure=0.2, unsure=0.03
    )
    errors = measured(made.runs)
    sweeps = [
        Sweep(pixel_budget=pixels, max_views=3, errors=errors, usage=made.usage)
        for pixels in (786_432, 200_000)
    ]
    return made.model_copy(update={"sweeps": tuple(sweeps), "currency": "USD"})


@pytest.fixture(scope="module")
def page(tmp_path_factory, card):
    path = tmp_path_factory.mktemp("page") / "card.html"
    write_card_page(path, card)
    return path


def shown(browser):
    text = browser.run("document.body.innerText")
    return " ".join(text.replace("\u202f", " ").split())


def opened(browser, path, **size):
    browser.size(size.pop("width", 1280), **size)
    # A page without scripts; the browser may still be asked what it shows.
    browser.open(path.as_uri())
    return shown(browser)


def test_the_page_shows_both_rates_with_what_they_are_worth(browser, page, card):
    text = opened(browser, page)
    rate = card.errors.false_success
    assert (
        f"False-success rate {100 * rate.rate:.1f} % {rate.count} called a success of {rate.of} "
        f"judged runs labelled failure, 95 % interval {100 * rate.low:.1f} to "
        f"{100 * rate.high:.1f} %"
    ) in text
    below = card.errors.false_success_below
    assert f"false-success rates above {100 * below:.1f} % are excluded" in text
    assert "False failures by tool" in text and "Other pictures" in text
    assert f"Asked 2 times {100 * card.repeated.unanimous.rate:.1f} %" in text
    for tool in card.tools.values():
        assert tool.basis.post_condition in text
    assert card.id in text and card.labels.sha256 in text


def test_the_confusion_table_has_every_label(browser, page, card):
    opened(browser, page)
    cells = browser.run(
        "[...document.querySelectorAll('.answers tbody tr:last-child td')].map(c => +c.textContent)"
    )
    failures, successes = card.errors.labelled_failure, card.errors.labelled_success
    assert cells == [
        *(failures.success, failures.failure, failures.unjudged),
        *(successes.success, successes.failure, successes.unjudged),
    ]
    assert sum(cells) == card.labels.number


def test_the_curve_is_drawn_inside_its_axes(browser, page, card):
    opened(browser, page)
    marks = browser.run(
        "[...document.querySelectorAll('.curve circle')].map(c => [+c.getAttribute('cx'), "
        "+c.getAttribute('cy')])"
    )
    assert len(marks) == len(card.curve) > 10
    assert all(46 <= x <= 466 and 14 <= y <= 226 for x, y in marks)
    assert [x for x, _ in marks] == sorted((x for x, _ in marks), reverse=True)


def test_what_a_wanted_rate_takes_is_the_threshold_of_the_card(browser, page, card):
    text = opened(browser, page)
    assert f"10 % 29 (there are {card.curve[0].false_success.of}) " in text
    assert f" {card.threshold(0.1).confidence:g} " in text
    assert re.search(r"1 % 299 \d+ judged failures cannot show a false-success rate", text)


def test_the_page_asks_for_nothing_and_runs_nothing(browser, page):
    opened(browser, page)
    assert browser.requests == {page.as_uri()}
    assert browser.problems == []
    assert browser.run("document.scripts.length") == 0


@pytest.mark.parametrize("width", [320, 375, 768, 1280])
def test_nothing_is_wider_than_the_window(browser, page, width):
    opened(browser, page, width=width, mobile=width < 700)
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_texts_of_others_are_only_texts(browser, tmp_path, card):
    identity = card.identity.model_copy(update={"plugin": HOSTILE})
    runs = tuple(run.model_copy(update={"run_id": HOSTILE}) for run in card.runs)
    path = tmp_path / "card.html"
    write_card_page(path, card.model_copy(update={"identity": identity, "runs": runs}))
    text = opened(browser, path)
    assert "<img src=x onerror=alert(1)>‹U+202E›" in text
    assert browser.run("document.images.length") == 0
    assert browser.problems == []


def test_a_card_without_confidences_and_failures_is_a_page_too(browser, tmp_path):
    path = tmp_path / "card.html"
    write_card_page(path, card_with(0, 4, confident=False))
    text = opened(browser, path)
    assert "not known: no judged run is labelled failure" in text
    assert "nothing is known of the false-success rate" in text
    assert "Risk and coverage" not in text
