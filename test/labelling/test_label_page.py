# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The page in a browser: keys label, pictures zoom, what is said is on disk, phones have room."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "grading"))

import chromium
from graded_folder import SECRET, graded_folder, rows_of, serving
from test_report import HOSTILE

from harness_ros.grading.labels import read_labels

EXECUTABLE = chromium.find()
pytestmark = pytest.mark.skipif(EXECUTABLE is None, reason="chromium is not installed")

READY = "!document.body.classList.contains('waits')"
COUNT = "document.getElementById('count').textContent"
LEFT = "document.getElementById('left').textContent"
DONE = "document.body.classList.contains('done')"
LIGHTBOX = "document.getElementById('lightbox').open"
PRESSED = "document.querySelector('[aria-pressed=true]')?.dataset.say"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Browser]:
    assert EXECUTABLE is not None
    opened = chromium.Browser(EXECUTABLE, tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return graded_folder(tmp_path / "graded", rows_of("SFSF"))


@contextmanager
def labelling(
    browser: chromium.Browser, folder: Path, **options: Any
) -> Iterator[chromium.Browser]:
    """The page at the size of a desk; whatever a test does, nothing goes wrong unseen."""
    with serving(folder, **options) as server:
        browser.size(1440)
        browser.open(server.url)
        browser.wait_for(READY)
        yield browser
        assert browser.problems == []
        assert all(request.startswith(server.url) for request in browser.requests)
        # What it still asks for is not to be taken for a request of the next page.
        browser.open("about:blank", scripts=False)


def press(page: chromium.Browser, key: str, awaited: str) -> None:
    page.press(key)
    page.wait_for(f"({awaited}) && {READY}")


def on_disk(folder: Path) -> list[str]:
    lines = (folder / "labels.jsonl").read_text().splitlines()
    return [json.loads(line)["label"] for line in lines]


def test_keys_label_and_the_next_run_comes(browser: chromium.Browser, folder: Path) -> None:
    with labelling(browser, folder) as page:
        assert (page.run(COUNT), page.run(LEFT)) == ("1 of 4", "4 left")
        press(page, "s", f"{COUNT} === '2 of 4'")
        assert on_disk(folder) == ["success"]
        press(page, "F", f"{COUNT} === '3 of 4'")
        press(page, "u", f"{COUNT} === '4 of 4'")
        assert page.run(LEFT) == "1 left"
        press(page, "s", DONE)
        assert on_disk(folder) == ["success", "failure", "unknown", "success"]
        page.wait_for("document.querySelectorAll('#done-lines li').length >= 3")
        figures = "[...document.querySelectorAll('#done .figure')].map((it) => it.textContent)"
        assert page.run(figures) == ["2", "1", "1"]


def test_the_page_shows_what_was_seen_and_no_verdict(
    browser: chromium.Browser, folder: Path
) -> None:
    with labelling(browser, folder) as page:
        words = page.run("document.body.innerText")
        for part in ("The cup is held.", "pick", "cup", "width 0.05 m", "clearance front free"):
            assert part in words
        assert page.run("document.querySelectorAll('#pictures img').length") == 2
        assert SECRET not in page.run("document.documentElement.outerHTML")
        assert page.run("document.querySelector('[data-do=verdict]')") is None
        page.press("v")
        assert page.run("document.getElementById('verdict').hidden")


def test_after_a_restart_it_goes_on_where_it_stopped(
    browser: chromium.Browser, folder: Path
) -> None:
    with labelling(browser, folder) as page:
        press(page, "s", f"{COUNT} === '2 of 4'")
        press(page, "f", f"{COUNT} === '3 of 4'")
    with labelling(browser, folder) as page:
        assert (page.run(COUNT), page.run(LEFT)) == ("3 of 4", "2 left")
        press(page, "ArrowLeft", f"{COUNT} === '2 of 4'")
        assert page.run(PRESSED) == "failure"
    assert on_disk(folder) == ["success", "failure"]


def test_backspace_takes_the_last_label_back(browser: chromium.Browser, folder: Path) -> None:
    with labelling(browser, folder) as page:
        press(page, "s", f"{COUNT} === '2 of 4'")
        press(page, "Backspace", f"{COUNT} === '1 of 4'")
        assert (page.run(LEFT), page.run(PRESSED)) == ("4 left", None)
        assert [label.success for label in read_labels(folder / "labels.jsonl").values()] == [None]
        press(page, "f", f"{COUNT} === '2 of 4'")
    assert [label.success for label in read_labels(folder / "labels.jsonl").values()] == [False]


def test_arrows_move_without_a_label(browser: chromium.Browser, folder: Path) -> None:
    with labelling(browser, folder) as page:
        press(page, "ArrowRight", f"{COUNT} === '2 of 4'")
        press(page, "ArrowRight", f"{COUNT} === '3 of 4'")
        press(page, "ArrowLeft", f"{COUNT} === '2 of 4'")
        assert on_disk(folder) == []
        # Those that were left out come once the last one is labelled.
        for count in ("3 of 4", "4 of 4", "1 of 4"):
            press(page, "s", f"{COUNT} === '{count}'")
        press(page, "s", DONE)


def test_z_shows_the_pictures_large_and_keys_still_label(
    browser: chromium.Browser, folder: Path
) -> None:
    with labelling(browser, folder) as page:
        press(page, "z", LIGHTBOX)
        zoomed = "document.querySelector('.stage').classList.contains('zoomed')"
        page.press("+")
        page.wait_for(f"{zoomed} && document.querySelector('.stage img').clientWidth > 1440")
        page.press("-")
        page.wait_for(f"!{zoomed}")
        page.press("ArrowRight")
        page.wait_for("document.querySelector('.stage img').alt.startsWith('wrist')")
        assert page.run(COUNT) == "1 of 4"
        press(page, "f", f"!{LIGHTBOX} && {COUNT} === '2 of 4'")
        page.click("#pictures .thumb")
        page.wait_for(LIGHTBOX)
        press(page, "z", f"!{LIGHTBOX}")
    assert on_disk(folder) == ["failure"]


def test_a_held_key_is_one_label(browser: chromium.Browser, folder: Path) -> None:
    with labelling(browser, folder) as page:
        page.call("Input.dispatchKeyEvent", type="keyDown", key="s")
        page.wait_for(f"{COUNT} === '2 of 4' && {READY}")
        page.call("Input.dispatchKeyEvent", type="keyDown", key="s", autoRepeat=True)
        page.call("Input.dispatchKeyEvent", type="keyUp", key="s")
        press(page, "f", f"{COUNT} === '3 of 4'")
    assert on_disk(folder) == ["success", "failure"]


def test_a_note_is_kept_with_the_run(browser: chromium.Browser, folder: Path) -> None:
    kept = "document.activeElement.id !== 'note'"
    with labelling(browser, folder) as page:
        press(page, "n", "document.activeElement.id === 'note'")
        page.type("it leans, so sf?")
        press(page, "Enter", kept)
        assert page.run(COUNT) == "1 of 4"
        press(page, "s", f"{COUNT} === '2 of 4'")
        assert page.run("document.getElementById('note').value") == ""
        press(page, "n", "document.activeElement.id === 'note'")
        page.type("not kept by a key")
        # Who goes on has not thrown it away.
        page.click("[data-do=next]")
        page.wait_for(f"{COUNT} === '3 of 4' && {READY}")
    lines = list(map(json.loads, (folder / "labels.jsonl").read_text().splitlines()))
    notes = [(line["label"], line["note"]) for line in lines]
    assert notes == [
        (None, "it leans, so sf?"),
        ("success", "it leans, so sf?"),
        (None, "not kept by a key"),
    ]


def test_the_verdict_is_seen_after_the_label_where_that_was_asked_for(
    browser: chromium.Browser, folder: Path
) -> None:
    shown = "!document.getElementById('verdict').hidden"
    with labelling(browser, folder, show_verdict=True) as page:
        page.press("v")
        assert not page.run(shown)
        press(page, "s", f"{COUNT} === '2 of 4'")
        press(page, "ArrowLeft", f"{COUNT} === '1 of 4'")
        assert not page.run(shown)
        press(page, "v", shown)
        assert SECRET in page.run("document.getElementById('verdict').innerText")
        press(page, "v", f"!({shown})")


def test_the_list_leads_to_every_run(browser: chromium.Browser, folder: Path) -> None:
    with labelling(browser, folder) as page:
        press(page, "s", f"{COUNT} === '2 of 4'")
        press(page, "l", "document.querySelectorAll('#all-runs li').length === 4")
        marks = "[...document.querySelectorAll('#all-runs .mark')].map((it) => it.title)"
        assert page.run(marks) == ["success", *["without a label"] * 3]
        page.click("#all-runs li:last-child button")
        page.wait_for(f"{COUNT} === '4 of 4' && {READY}")


def test_a_server_that_has_ended_is_said_and_nothing_is_labelled(
    browser: chromium.Browser, folder: Path
) -> None:
    with serving(folder) as server:
        browser.size(1440)
        browser.open(server.url)
        browser.wait_for(READY)
    browser.press("s")
    browser.wait_for("!document.getElementById('trouble').hidden")
    assert "start it again" in browser.run("document.getElementById('trouble').textContent")
    assert browser.run(COUNT) == "1 of 4"
    assert on_disk(folder) == []
    browser.open("about:blank", scripts=False)


def test_texts_of_a_bag_are_no_html(browser: chromium.Browser, tmp_path: Path) -> None:
    hostile = " ".join(HOSTILE).encode(errors="ignore").decode()
    rows = rows_of("S", post_condition=hostile, arguments={hostile: hostile}, tool_name=hostile)
    folder = graded_folder(tmp_path / "graded", rows, pictures=True)
    with labelling(browser, folder) as page:
        assert "<" in page.run("document.getElementById('condition').textContent")
        assert page.run("document.querySelectorAll('main script, main img[src=x]').length") == 0
        assert page.run("window.executed") is None


@pytest.mark.parametrize(("width", "mobile"), [(1440, False), (390, True)])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_all_answers_are_in_sight_at_once(
    browser: chromium.Browser, folder: Path, width: int, mobile: bool, dark: bool
) -> None:
    with labelling(browser, folder) as page:
        page.size(width, 844 if mobile else 900, dark=dark, mobile=mobile)
        assert page.run("document.documentElement.scrollWidth") <= width
        seen = """[...document.querySelectorAll('[data-say], #condition')].every((item) => {
            const box = item.getBoundingClientRect();
            return box.top >= 0 && box.bottom <= innerHeight && box.left >= 0
                && box.right <= innerWidth && item.scrollWidth <= item.clientWidth + 1;
        })"""
        page.wait_for(seen)
        if not mobile:
            assert page.run("document.documentElement.scrollHeight <= innerHeight")
