# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""report.html in a browser: filters, pictures, keyboard, phones, hostile texts, 2,000 runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from harness_ros.grading.report import ReportData, picture_of, write_report
from harness_ros.grading.row import BagProblem

sys.path.append(str(Path(__file__).parent))

import chromium
from graded_rows import SECOND, evening, graded
from test_report import HOSTILE, hostile

EXECUTABLE = chromium.find()
pytestmark = pytest.mark.skipif(EXECUTABLE is None, reason="chromium is not installed")

TOP = picture_of("top", np.full((480, 640, 3), 90, np.uint8), "the table from above")
WRIST = picture_of("wrist", np.full((240, 320, 3), 160, np.uint8))
CHECKS = picture_of("checks", np.full((700, 500, 3), 230, np.uint8), "what each check saw")

VISIBLE = "document.querySelectorAll('#list .card').length"
COUNT = "document.getElementById('count').textContent.replace(/\\u202f/g, ' ')"
FOCUSED = "document.activeElement"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Browser]:
    assert EXECUTABLE is not None
    opened = chromium.Browser(EXECUTABLE, tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Nine runs of two tools, one of them without pictures, recorded as successes."""
    rows = [
        *evening("SFSi", "pick-", recorded="S"),
        *evening("SFFoP", "place-", recorded="S", tool_name="place", bag="bags/other"),
    ]
    path = tmp_path_factory.mktemp("report") / "report.html"
    data = ReportData(
        "Evening",
        rows,
        problems=[BagProblem(bag="bags/gone", problem="no such file", fatal=True)],
        views=lambda row: [] if row.run_id == "place-3" else [TOP, WRIST],
        annotated=lambda row: CHECKS if row.run_id == "pick-1" else None,
        labels={"pick-0": "failure", "pick-1": "failure"},
        clips=lambda row: {"top": "clips/0.mp4"} if row.run_id == "pick-0" else {},
    )
    write_report(path, data)
    return path.as_uri()


@pytest.fixture
def page(browser: chromium.Browser, report: str) -> Iterator[chromium.Browser]:
    """The report at the size of a desk; whatever a test does, nothing goes wrong unseen."""
    browser.size(1280)
    browser.open(report)
    yield browser
    assert browser.problems == []
    assert browser.requests == {report}


def shown(page: chromium.Browser) -> list[str]:
    """The calls of the cards, with the short ids of their runs."""
    found: list[str] = page.run(
        "[...document.querySelectorAll('#list .card .id')].map((id) => id.textContent)"
    )
    return found


def go(page: chromium.Browser, hash_: str) -> None:
    """Another address within the page; it has been acted on when this returns."""
    page.run(
        "new Promise((done) => { addEventListener('hashchange', () => done(), { once: true });"
        f"location.hash = {json.dumps(hash_)}; }})"
    )


# Filters


def test_the_report_opens_with_all_runs_and_asks_for_nothing(page: chromium.Browser) -> None:
    assert page.run(COUNT) == "9 runs "
    assert page.run(VISIBLE) == 9


def test_search_finds_words_of_the_evidence(page: chromium.Browser) -> None:
    page.click("#q")
    page.type("evidence pick-2")
    page.wait_for(f"{VISIBLE} === 1")
    assert shown(page) == ["pick-2"]
    assert page.run(COUNT) == "1 of 9 runs show all"
    assert page.run("location.hash") == "#q=evidence+pick-2"
    page.click("#count button")
    page.wait_for(f"{VISIBLE} === 9")
    assert page.run("location.hash") == ""
    assert page.run(f"{FOCUSED}.id") == "q"


def test_filters_stand_in_the_address(page: chromium.Browser) -> None:
    page.click("#outcomes input[value=failure]")
    page.wait_for(f"{VISIBLE} === 3")
    page.run(
        "document.getElementById('tool').value = 'place';"
        "document.getElementById('tool').dispatchEvent(new Event('change'))"
    )
    page.wait_for(f"{VISIBLE} === 2")
    assert shown(page) == ["place-1", "place-2"]
    assert page.run("location.hash") == "#outcome=failure&tool=place"


def test_what_is_typed_is_kept_when_another_filter_is_changed(page: chromium.Browser) -> None:
    page.run(
        "document.getElementById('q').value = 'evidence';"
        "document.getElementById('q').dispatchEvent(new Event('input'));"
        "document.querySelector('#outcomes input[value=success]').click()"
    )
    assert page.run("location.hash") == "#q=evidence&outcome=success"
    assert page.run("document.getElementById('q').value") == "evidence"


ADDRESSES: list[tuple[str, list[str]]] = [
    ("#outcome=unjudged", ["pick-3", "place-3"]),
    ("#outcome=unjudged,process&tool=place", ["place-3", "place-4"]),
    ("#kind=observation_unavailable", ["place-3"]),
    ("#recorded=same&tool=pick", ["pick-0", "pick-2"]),
    ("#label=false-success", ["pick-0"]),
    ("#label=none&tool=pick", ["pick-2", "pick-3"]),
    ("#bag=bags%2Fother&outcome=success", ["place-0"]),
    ("#tool=pick&sort=-time", ["pick-3", "pick-2", "pick-1", "pick-0"]),
    ("#sort=differs&tool=pick", ["pick-1", "pick-3", "pick-0", "pick-2"]),
    ("#q=nothing+like+it", []),
    ("#sort=nonsense&view=nonsense&constructor=1&tool=pick&kind=inconclusive", ["pick-3"]),
]


def test_an_address_shows_what_it_says(page: chromium.Browser) -> None:
    for address, expected in ADDRESSES:
        go(page, address)
        assert shown(page) == expected, address


def test_a_shared_address_opens_as_it_was_left(browser: chromium.Browser, report: str) -> None:
    browser.size(1280)
    browser.open(f"{report}#outcome=unjudged&sort=-time&view=table")
    rows = "[...document.querySelectorAll('.grid .id')].map((id) => id.textContent)"
    assert browser.run(rows) == ["pick-3", "place-3"]
    assert browser.run("document.getElementById('sort').value") == "-time"
    assert browser.problems == []


def test_a_number_of_the_head_leads_to_its_runs(page: chromium.Browser) -> None:
    page.click(".outcomes a.unjudged")
    page.wait_for(f"{VISIBLE} === 2")
    assert shown(page) == ["pick-3", "place-3"]
    assert page.run("document.querySelector('#outcomes input[value=unjudged]').checked")


def test_a_bar_of_the_timeline_leads_to_its_run(page: chromium.Browser) -> None:
    go(page, "#tool=pick")
    page.wait_for(f"{VISIBLE} === 4")
    assert page.run("document.querySelectorAll('svg.timeline a.bar.hidden').length") == 5
    page.run("document.querySelector('svg.timeline a.bar[data-index=\"6\"]').focus()")
    page.press("Enter")
    page.wait_for(f"{FOCUSED}.matches('.card.meant')")
    assert page.run(f"{FOCUSED}.querySelector('.id').textContent") == "place-2"
    assert page.run("location.hash") == "#run=place-2"


def test_arrow_keys_go_along_the_timeline(page: chromium.Browser) -> None:
    reached = "[...document.querySelectorAll('svg.timeline')].map((drawing) => "
    assert page.run(reached + "drawing.querySelectorAll('a.bar:not([tabindex])').length)") == [1, 1]
    page.run("document.querySelector('svg.timeline a.bar').focus()")
    page.press("ArrowRight")
    page.press("ArrowRight")
    assert page.run(f"{FOCUSED}.dataset.index") == "2"


def test_a_run_that_differs_shows_both_verdicts_with_their_evidence(page: chromium.Browser) -> None:
    go(page, "#run=pick-1")
    page.wait_for(f"{FOCUSED}.matches('.card.meant')")
    both = page.run(f"{FOCUSED}.querySelector('.both').innerText")
    for words in ("Now", "evidence of pick-1", "Recorded", "as it was seen then"):
        assert words in both


def test_a_clip_is_linked(page: chromium.Browser) -> None:
    link = "document.querySelector('[data-index=\"0\"] .clips a')"
    assert page.run(f"{link}.getAttribute('href')") == "./clips/0.mp4"


# The table


def test_the_table_is_sorted_and_opened_by_keyboard(page: chromium.Browser) -> None:
    go(page, "#view=table&tool=place")
    page.wait_for("document.querySelectorAll('.grid > tbody > tr').length === 5")
    page.run("document.querySelectorAll('.grid th button')[3].focus()")
    page.press("Enter")
    page.press("Enter")
    assert page.run("document.querySelector('th[aria-sort]').getAttribute('aria-sort')") == (
        "descending"
    )
    assert page.run(f"{FOCUSED}.textContent") == "Began ↓"
    first = "document.querySelector('.grid > tbody > tr')"
    assert "place-4" in page.run(f"{first}.textContent")
    page.run(f"{first}.querySelector('.opener').focus()")
    page.press("Enter")
    assert page.run(f"{FOCUSED}.getAttribute('aria-expanded')") == "true"
    assert shown(page) == ["place-4"]
    page.press("Enter")
    assert shown(page) == []


# Pictures


def test_a_picture_opens_large_and_is_closed_by_keyboard(page: chromium.Browser) -> None:
    page.wait_for("document.querySelectorAll('.thumb').length >= 4")
    thumb = "document.querySelectorAll('.thumb')[1]"
    assert page.run(f"{thumb}.getAttribute('aria-label')") == "wrist, pick(target=cup): open large"
    page.run("document.querySelector('.card .id').focus()")
    page.press("Tab")
    page.press("Tab")
    assert page.run(f"{FOCUSED} === {thumb}")
    page.press("Enter")
    page.wait_for("document.querySelector('#lightbox[open] .stage img')?.naturalWidth === 320")
    assert "wrist 2/2, run pick-0" in page.run(
        "document.getElementById('lightbox-title').textContent"
    )
    assert page.run("document.getElementById('lightbox').matches(':modal')")
    page.press("Escape")
    page.wait_for("!document.getElementById('lightbox').open")
    assert page.run(f"{FOCUSED} === {thumb}")


def test_tab_stays_in_the_large_picture(page: chromium.Browser) -> None:
    page.wait_for("document.querySelector('.thumb')")
    page.run("document.querySelector('.thumb').click()")
    for _ in range(12):
        page.press("Tab")
        inside = f"{FOCUSED} === document.body || {FOCUSED}.closest('#lightbox') !== null"
        assert page.run(inside), "the page behind the picture has the focus"


def test_arrows_go_through_the_pictures_of_all_runs_that_are_listed(page: chromium.Browser) -> None:
    go(page, "#outcome=failure,unjudged&tool=pick")
    page.wait_for("document.querySelectorAll('.thumb').length === 5")
    page.run("document.querySelector('.thumb').click()")
    titles = []
    for _ in range(6):
        titles.append(page.run("document.querySelector('#lightbox-title .faint').innerText"))
        page.press("ArrowRight")
    assert titles == [
        "top 1/3, run pick-1",
        "wrist 2/3, run pick-1",
        "checks 3/3, run pick-1",
        "top 1/2, run pick-3",
        "wrist 2/2, run pick-3",
        "wrist 2/2, run pick-3",
    ]
    page.press("ArrowLeft")
    page.press("ArrowLeft")
    assert "checks 3/3" in page.run("document.getElementById('lightbox-title').textContent")
    assert page.run("document.querySelector('.caption').textContent") == "what each check saw"


def test_a_large_picture_is_zoomed_and_scrolled(page: chromium.Browser) -> None:
    page.wait_for("document.querySelector('.thumb')")
    page.run("document.querySelector('.thumb').click()")
    page.wait_for("document.querySelector('.stage img').complete")
    width = "document.querySelector('.stage img').getBoundingClientRect().width"
    stage = "document.querySelector('.stage')"
    page.press("+")
    page.press("+")
    assert page.run(f"{stage}.scrollWidth > {stage}.clientWidth")
    assert page.run(f"{stage}.scrollLeft") > 0, "the middle does not stay in the middle"
    large = page.run(width)
    page.press("-")
    assert page.run(width) == pytest.approx(large / 2, rel=0.02)
    page.press("0")
    assert page.run(f"{stage}.scrollWidth === {stage}.clientWidth")


def test_two_fingers_zoom_and_one_wipes(page: chromium.Browser) -> None:
    page.size(390, 800, mobile=True)
    page.call("Emulation.setTouchEmulationEnabled", enabled=True)
    page.wait_for("document.querySelector('.thumb')")
    page.run("document.querySelector('.thumb').click()")

    def touch(kind: str, *points: tuple[int, int]) -> None:
        places = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        page.call("Input.dispatchTouchEvent", type=kind, touchPoints=places)

    title = "document.getElementById('lightbox-title').textContent"
    touch("touchStart", (300, 400))
    touch("touchMove", (200, 400))
    touch("touchMove", (120, 400))
    touch("touchEnd")
    page.wait_for(f"{title}.includes('wrist 2/2')")
    touch("touchStart", (150, 400), (250, 400))
    touch("touchMove", (100, 400), (300, 400))
    page.wait_for("document.querySelector('.stage').classList.contains('zoomed')")
    touch("touchEnd")
    page.call("Emulation.setTouchEmulationEnabled", enabled=False)


# Everybody


@pytest.mark.parametrize("view", ["cards", "table"])
def test_nothing_is_wider_than_the_window(page: chromium.Browser, view: str) -> None:
    go(page, f"#view={view}")
    page.wait_for("document.getElementById('list').childElementCount > 0")
    page.run("document.querySelectorAll('.opener').forEach((one) => one.click())")
    page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.wait_for("document.querySelector('.thumb')")
    for width in (360, 390, 540, 820, 1440):
        page.size(width, mobile=width < 600)
        # A phone makes its window wider for what does not fit: the width that it has counts.
        assert page.run("document.documentElement.scrollWidth") <= width


def test_the_first_tab_skips_to_the_runs(page: chromium.Browser) -> None:
    page.press("Tab")
    assert page.run(f"{FOCUSED}.textContent") == "Skip to the runs"
    page.press("Enter")
    page.wait_for(f"{FOCUSED}.id === 'runs'")
    assert page.run(VISIBLE) == 9, "the link to a place of the page is read as a filter"


CONTRAST = """
(() => {
  const channel = (value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const over = (colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((value) => channel(value / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [worst, seen] = [{}, []];
  for (const item of document.querySelectorAll('body *')) {
    const own = [...item.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || item.closest('svg, script, style, dialog:not([open]), .unseen, .skip, noscript')) {
      continue;
    }
    if (!item.getClientRects().length) continue;
    const layers = [];
    for (let at = item; at; at = at.parentElement) {
      layers.unshift(getComputedStyle(at).backgroundColor);
    }
    const [paper, ink] = [over(layers), over([...layers, getComputedStyle(item).color])];
    const [high, low] = [luminance(paper), luminance(ink)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    seen.push(ratio);
    if (ratio < 4.5) worst[`${item.tagName}.${item.className}`] = ratio;
  }
  return { worst, seen: seen.length };
})()
"""


@pytest.mark.parametrize("view", ["cards", "table"])
def test_every_text_has_enough_contrast(page: chromium.Browser, view: str) -> None:
    # WCAG 2.2, 1.4.3: 4.5 to 1.
    go(page, f"#view={view}")
    page.wait_for("document.getElementById('list').childElementCount > 0")
    page.run("document.querySelectorAll('.opener').forEach((item) => item.click())")
    page.wait_for("document.querySelectorAll('.thumb').length > 0")
    page.run("document.querySelector('.thumb').click()")
    for dark in (False, True):
        page.size(1280, dark=dark)
        found = page.run(CONTRAST)
        assert found["seen"] > 100
        assert found["worst"] == {}


def test_every_control_has_a_name(page: chromium.Browser) -> None:
    page.wait_for("document.querySelector('.thumb')")
    tree = page.call("Accessibility.getFullAXTree")["nodes"]
    roles = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "heading", "table"}
    controls = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in tree
        if not node.get("ignored") and node.get("role", {}).get("value") in roles
    ]
    assert {"button", "link", "searchbox", "combobox", "checkbox"} <= {role for role, _ in controls}
    assert [role for role, name in controls if not name.strip() and role != "table"] == []


def test_print_has_every_run_and_no_filters(page: chromium.Browser) -> None:
    page.run("dispatchEvent(new Event('beforeprint'))")
    page.call("Emulation.setEmulatedMedia", media="print")
    assert page.run("document.getElementById('filters').getClientRects().length") == 0
    assert page.run("document.querySelectorAll('.strip.waiting').length") == 0
    assert page.run("document.querySelectorAll('.thumb').length") == 8 * 2 + 1
    page.call("Emulation.setEmulatedMedia", media="")


def test_without_scripts_totals_charts_and_a_table_are_there(
    browser: chromium.Browser, report: str
) -> None:
    browser.size(1280)
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(report, scripts=False)
        text = browser.run("document.body.innerText")
        rows = browser.run("document.querySelectorAll('table.plain > tbody > tr').length")
        bars = browser.run("document.querySelectorAll('svg.timeline a.bar').length")
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert "evidence of place-3" in text
    assert (rows, bars) == (9, 9)


# Hostile texts, and many


def test_hostile_texts_execute_nothing(browser: chromium.Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(path, hostile())
    for view in ("cards", "table"):
        browser.size(1280)
        browser.open(f"{path.as_uri()}#view={view}")
        browser.run("document.querySelectorAll('.opener').forEach((one) => one.click())")
        browser.wait_for(f"{VISIBLE} === {len(HOSTILE)}")
        browser.run("document.querySelector('.strip').scrollIntoView({behavior: 'instant'})")
        browser.wait_for("document.querySelector('.thumb')")
        browser.run("document.querySelector('.thumb').click()")
        browser.wait_for("document.querySelector('.stage img').complete")
        assert browser.run("typeof window.executed") == "undefined"
        # A text that had become markup would be stopped by the policy, and the console told of it.
        assert browser.problems == []
        assert browser.requests == {path.as_uri()}
        browser.size(360, mobile=True)
        assert browser.run("document.documentElement.scrollWidth") <= 360


def test_hostile_ids_and_tools_can_be_linked_to(browser: chromium.Browser, tmp_path: Path) -> None:
    rows = [graded("S", text, tool_name=text) for text in HOSTILE]
    path = tmp_path / "report.html"
    write_report(path, ReportData("Evening", rows))
    browser.size(1280)
    browser.open(path.as_uri())
    links = "[...document.querySelectorAll('.card .id')].map((link) => link.hash)"
    for index, link in enumerate(browser.run(links)):
        go(browser, link)
        browser.wait_for(f"{FOCUSED}.dataset.index === '{index}'")
    tools = "[...document.querySelectorAll('.tools tbody a')].map((link) => link.hash)"
    found = browser.run(tools)
    assert len(found) == len(HOSTILE)
    for link in found:
        go(browser, link)
        browser.wait_for(f"{VISIBLE} === 1")
        go(browser, "#q=")
        browser.wait_for(f"{VISIBLE} === {len(HOSTILE)}")
    assert browser.problems == []


def test_two_thousand_runs_are_ready_at_once(browser: chromium.Browser, tmp_path: Path) -> None:
    rows = [
        graded(
            "SFSi"[number % 4],
            f"{number:04}-run",
            recorded="S",
            bag=f"bags/{number // 200}",
            started_at_ns=10 * SECOND * number,
            evidence=("marker 3 seen in top at (0.66, 0.19)", "gripper_width 0.09 m") * 2,
        )
        for number in range(2000)
    ]
    path = tmp_path / "report.html"
    write_report(path, ReportData("Many", rows, views=lambda _: [TOP, WRIST]))
    pictures = 2000 * (len(TOP.jpeg) + len(WRIST.jpeg)) * 4 / 3
    assert path.stat().st_size < pictures + 2000 * 4000
    browser.size(1280)
    browser.open(path.as_uri())
    ready = browser.run("performance.getEntriesByName('interactive')[0].startTime")
    assert ready < 5000, f"{ready:.0f} ms; a fifth of that is usual"
    assert browser.run("document.querySelectorAll('.grid > tbody > tr').length") == 200
    go(browser, "#view=cards&q=1999-run")
    browser.wait_for(f"{VISIBLE} === 1")
    browser.wait_for("document.querySelectorAll('.thumb').length === 2")
    go(browser, "#view=cards")
    browser.wait_for(f"{VISIBLE} >= 30")
    assert browser.run(VISIBLE) < 200, "all cards are made at once"
    assert browser.problems == []
