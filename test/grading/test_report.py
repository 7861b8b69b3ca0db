# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""report.html as a text: what it counts, what it holds, what it keeps out."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import tracemalloc
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from harness_ros.capture.images import encode_png
from harness_ros.contract import Kind, Status, Usage, View
from harness_ros.grading.labels import Label
from harness_ros.grading.report import (
    ReportData,
    ReportError,
    ReportView,
    picture_of,
    view_of,
    write_report,
)
from harness_ros.grading.report.entries import clip_link, entries
from harness_ros.grading.report.figures import figures
from harness_ros.grading.report.tables import tables
from harness_ros.grading.report.timeline import timelines
from harness_ros.grading.report.wording import Outcome, outcome, seconds, stamp, visible
from harness_ros.grading.row import BagProblem, GradedRun, parse_line
from harness_ros.grading.summary import summarize

sys.path.append(str(Path(__file__).parent))

from graded_rows import SECOND, evening, graded

ROOT = Path(__file__).parents[2]
PICTURE = picture_of("top", np.full((48, 64, 3), 90, np.uint8), "the table from above")


class Page(HTMLParser):
    """The elements of a page as a browser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] == "script" and self.cdata_elem == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif self.cdata_elem != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).replace("\u202f", " ").split())

    def data(self, name: str) -> Any:
        (found,) = (text for attributes, text in self.scripts if attributes.get("id") == name)
        return json.loads(found)


def written(tmp_path: Path, data: ReportData) -> str:
    path = tmp_path / "report.html"
    write_report(path, data)
    return path.read_text(encoding="utf-8")


def page(tmp_path: Path, data: ReportData) -> Page:
    return Page(written(tmp_path, data))


# What it counts


@pytest.mark.parametrize(
    ("status", "kind", "expected"),
    [
        (Status.SUCCESS, Kind.JUDGED, Outcome.SUCCESS),
        (Status.FAILURE, Kind.JUDGED, Outcome.FAILURE),
        (Status.FAILURE, Kind.SEGMENT_BUDGET_EXHAUSTED, Outcome.FAILURE),
        (Status.FAILURE, Kind.INCONCLUSIVE, Outcome.UNJUDGED),
        (Status.FAILURE, Kind.CANCELLED, Outcome.CANCELLED),
        (Status.PROCESS, Kind.JUDGED, Outcome.PROCESS),
    ],
)
def test_outcome_is_what_people_filter_for(status: Status, kind: Kind, expected: Outcome) -> None:
    assert outcome(status, kind) is expected


def test_every_outcome_has_a_symbol_of_its_own() -> None:
    assert len({item.symbol for item in Outcome}) == len(Outcome)


def test_the_head_says_the_numbers_of_the_summary(tmp_path: Path) -> None:
    rows = [*evening("SSSFF", recorded="S"), *evening("io", "u")]
    text = page(tmp_path, ReportData("Evening", rows)).text
    assert "7 calls in 1 bag; 5 runs judged" in text
    assert "3 of 5 judged calls, 95 % interval 23 to 88 %" in text
    assert "1 inconclusive" in text
    assert "1 observation unavailable" in text
    assert "2 differ show of 5 runs with a recorded verdict" in text


def test_what_nobody_judged_is_in_no_rate(tmp_path: Path) -> None:
    text = page(tmp_path, ReportData("Evening", evening("iio"))).text
    assert "Success rate – no call was judged" in text


def test_labels_give_the_false_success_rate(tmp_path: Path) -> None:
    data = ReportData(
        "Evening",
        evening("SSFF"),
        labels={"r0": "success", "r1": "failure", "r2": "failure", "r3": "success"},
    )
    text = page(tmp_path, data).text
    assert "50 % show 1 judged a success of 2 judged runs labelled a failure" in text
    assert "judged success 1 1 show judged failure 1 show 1" in text
    assert [entry["mistaken"] for entry in entries(data)] == [
        None,
        "false success",
        None,
        "false failure",
    ]


def test_a_summary_that_is_given_says_the_rates(tmp_path: Path) -> None:
    rows = evening("SSFF")
    summary = summarize(rows, confidence=0.5)
    read = json.loads(summary.to_json())
    for given in (summary, read):
        text = page(tmp_path, ReportData("Evening", rows, summary=given)).text
        assert "2 of 4 judged calls, 50 % interval" in text
    assert figures(ReportData("", rows)).summary.confidence == 0.95


def test_a_summary_of_any_shape_is_shown_as_tables() -> None:
    rate = summarize(evening("SF")).overall.success.model_dump()
    shown = {
        "runs": 2,
        "rate": rate,
        "nothing": None,
        "by_tool": {"pick": {"runs": 1, "ok": True}, "place": {"runs": 3}},
        "problems": [{"bag": "x"}],
    }
    first, second = tables(shown)
    assert first.rows == (
        ("runs", "2"),
        ("rate", "1 of 2: 50\u202f% (9 to 91\u202f%)"),
        ("nothing", "–"),
    )
    assert second.title == "By tool"
    assert second.head == ("", "pick", "place")
    assert second.rows == (("runs", "1", "3"), ("ok", "yes", ""))


def test_a_summary_of_many_tools_has_a_line_for_each() -> None:
    many = {f"tool_{number}": {"runs": number} for number in range(9)}
    (table,) = tables({"by_tool": many})
    assert table.head == ("", "runs")
    assert table.rows[3] == ("tool_3", "3")


def test_every_key_of_a_summary_is_shown_or_stands_elsewhere(tmp_path: Path) -> None:
    rows = evening("SSFFi", recorded="S")
    labels = {"r0": Label(run_id="r0", success=True), "r2": Label(run_id="r2", success=True)}
    text = page(tmp_path, ReportData("Evening", rows, summary=summarize(rows, (), labels))).text
    for words in ("Overall", "By tool", "Recorded", "Labels, overall", "false success rate"):
        assert words in text


# The timeline


def test_a_bar_is_as_long_as_its_run_and_has_the_row_of_its_outcome() -> None:
    (line,) = timelines(
        [
            graded("S", "a", started_at_ns=10 * SECOND, ended_at_ns=15 * SECOND),
            graded("F", "b", started_at_ns=15 * SECOND, ended_at_ns=20 * SECOND),
            graded("S", "c", started_at_ns=18 * SECOND, ended_at_ns=30 * SECOND),
        ]
    )
    assert [(bar.left, bar.width) for bar in line.bars] == [(0, 25), (25, 25), (40, 60)]
    first, second, third = (bar.top for bar in line.bars)
    assert first == third < second
    assert [tick.words for tick in line.ticks] == ["0 s", "5 s", "10 s", "15 s", "20 s"]


def test_a_run_without_an_end_goes_to_the_end_of_the_bag() -> None:
    rows = [
        graded("S", "a", started_at_ns=0, ended_at_ns=10 * SECOND),
        graded("o", "b", started_at_ns=5 * SECOND, ended_at_ns=None),
    ]
    (line,) = timelines(rows)
    assert (line.bars[1].left, line.bars[1].width) == (50, 50)


@pytest.mark.parametrize("span_s", [0, 1e-6, 0.3, 59, 61, 3600, 86400 * 3])
def test_an_axis_of_any_length_has_few_marks(span_s: float) -> None:
    rows = [graded("S", "a", started_at_ns=7, ended_at_ns=7 + int(span_s * SECOND))]
    (line,) = timelines(rows)
    assert 1 <= len(line.ticks) <= 8
    assert all(0 <= tick.at <= 100 for tick in line.ticks)


def test_each_bag_has_a_timeline_of_its_own() -> None:
    rows = [*evening("S", "a", bag="one"), *evening("FF", "b", bag="two")]
    assert [(line.bag, len(line.bars)) for line in timelines(rows)] == [("one", 1), ("two", 2)]


# What it holds


def test_an_entry_has_what_a_card_shows() -> None:
    row = graded("i", "0123456789abcdef", recorded="S", arguments={"target": "cup", "at": [1, 2]})
    (entry,) = entries(ReportData("", [row], clips=lambda _: {"top": "clips/a b.mp4"}))
    assert entry["short"] == "01234567"
    assert entry["call"] == "pick(at=[1, 2], target=cup)"
    assert entry["said"] == "failure (inconclusive)"
    assert entry["recorded"]["said"] == "success"
    assert entry["recorded"]["evidence"] == ["as it was seen then"]
    assert entry["recorded"]["otherCriteria"] is True
    assert entry["agrees"] is False
    assert (entry["began"], entry["took"], entry["seenAfter"]) == ("0.00 s", "2.00 s", "1.00 s")
    assert entry["clips"] == [["top", "./clips/a%20b.mp4"]]


def test_pictures_stand_in_the_file_with_their_rows(tmp_path: Path) -> None:
    checks = picture_of("checks", np.zeros((10, 10, 3), np.uint8))
    found = page(
        tmp_path,
        ReportData(
            "Evening",
            evening("SFS"),
            views=lambda row: [PICTURE] if row.run_id != "r1" else [],
            annotated=lambda row: checks if row.run_id == "r2" else None,
        ),
    )
    assert [view["name"] for view in found.data("pictures-0")] == ["top"]
    assert [view["name"] for view in found.data("pictures-2")] == ["top", "checks"]
    assert base64.b64decode(found.data("pictures-0")[0]["jpeg"]) == PICTURE.jpeg
    assert not [item for item in found.scripts if item[0].get("id") == "pictures-1"]


def test_without_scripts_there_is_a_table_of_all_runs(tmp_path: Path) -> None:
    text = written(tmp_path, ReportData("Evening", evening("SFi", recorded="S")))
    plain = text.partition("<noscript>")[2].partition("</noscript>")[0]
    for run_id in ("r0", "r1", "r2"):
        assert f"evidence of {run_id}" in plain
    assert "failure (inconclusive)" in plain
    assert plain.count("(differs)") == 2


def test_problems_of_bags_are_told(tmp_path: Path) -> None:
    problems = [BagProblem(bag="bags/a", problem="cut off"), BagProblem(bag="b", problem="x<y")]
    text = page(tmp_path, ReportData("Evening", evening("S"), problems)).text
    assert "2 problems with bags" in text
    assert "cut off" in text
    assert "x<y" in text


def test_a_bag_of_which_nothing_was_graded_is_a_report_too(tmp_path: Path) -> None:
    problem = BagProblem(bag="bags/a", problem="no runs", fatal=True)
    text = page(tmp_path, ReportData("Nothing", [], [problem])).text
    assert "Nothing was graded. no runs" in text
    assert "0 calls in 0 bags" in text


def test_the_same_data_make_the_same_bytes(tmp_path: Path) -> None:
    data = ReportData(
        "Evening", evening("SFiPc", recorded="S"), views=lambda _: [PICTURE], labels={}
    )
    assert written(tmp_path / "a", data) == written(tmp_path / "b", data)


def test_pictures_of_one_run_at_a_time_are_in_memory(tmp_path: Path) -> None:
    size, count = 400_000, 60

    def views(row: GradedRun) -> Sequence[ReportView]:
        number = int(row.run_id[1:])
        return [ReportView("top", bytes([number]) * size, 8, 8)]

    rows = evening("S" * count)
    tracemalloc.start()
    write_report(tmp_path / "report.html", ReportData("Evening", rows, views=views))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (tmp_path / "report.html").stat().st_size > size * count * 4 / 3
    assert peak < size * count / 3, f"{peak} bytes at once of {size * count}"


def test_a_report_that_fails_leaves_the_one_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(path, ReportData("Good", evening("S")))

    def gone(row: GradedRun) -> Sequence[ReportView]:
        raise RuntimeError("the pictures are gone")

    with pytest.raises(RuntimeError, match="gone"):
        write_report(path, ReportData("Bad", evening("S"), views=gone))
    assert "Good" in path.read_text(encoding="utf-8")
    assert [item.name for item in tmp_path.iterdir()] == ["report.html"]


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportError, match=r"file/report\.html"):
        write_report(tmp_path / "file" / "report.html", ReportData("Evening", evening("S")))


def test_large_views_are_made_smaller() -> None:
    pixels = np.zeros((1200, 1600, 3), np.uint8)
    pixels[:, :, 0] = 200
    data = encode_png(pixels)
    view = View(
        name="top",
        stamp_ns=1,
        frame_id="top",
        height=0,
        width=0,
        encoding="png",
        step=0,
        is_bigendian=False,
        data=data,
        topic="/top",
    )
    made = view_of(view, "from above", longest_px=400)
    assert (made.name, made.width, made.height, made.caption) == ("top", 400, 300, "from above")
    decoded = cv2.imdecode(np.frombuffer(made.jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert decoded.shape == (300, 400, 3)
    # OpenCV has blue first: the red of the view is still red.
    assert np.allclose(decoded[150, 200], (0, 0, 200), atol=6)


# What it keeps out

HOSTILE = [
    "</script><script>window.executed = 1</script>",
    "<!--<script>",
    "<img src=x onerror='window.executed = 1'>",
    '"><svg onload="window.executed = 1">',
    "' onmouseover='window.executed = 1",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:window.executed=1",
    "]]></style></title></noscript><script>window.executed = 1</script>",
    "&lt;b&gt;",
    "nul \0 and bell \a",
    "\u202eevil\u202c \u2066x\u2069",
    "\u2028line\u2029",
    "שלום עולם مرحبا 你好 🤖",
]


def hostile() -> ReportData:
    rows = [
        graded(
            "F",
            text,
            recorded="S",
            bag=text,
            call_id=text,
            tool_name=text,
            arguments={"target": text, "more": [text]},
            failure_reason=text,
            evidence=(text, text),
            judge=text,
            criteria_hash=text,
            post_condition=text,
            observation_summary=text,
            error_card=text,
        )
        for text in HOSTILE
    ]
    text = " ".join(HOSTILE)
    return ReportData(
        title=text,
        rows=rows,
        problems=[BagProblem(bag=text, problem=text)],
        summary={text: text, "more": {text: {text: text}}},
        views=lambda _: [ReportView(text, PICTURE.jpeg, 64, 48, text)],
        labels={run_id: "success" for run_id in HOSTILE},
        clips=lambda _: {text: "clips/" + text.replace("\0", "")},
        subtitle=text,
    )


@pytest.fixture
def hostile_page(tmp_path: Path) -> Page:
    return page(tmp_path, hostile())


def test_hostile_texts_make_no_element(hostile_page: Page, tmp_path: Path) -> None:
    harmless = page(tmp_path, ReportData("Evening", evening("F" * len(HOSTILE))))
    # What texts brought in would be one of these, or an attribute.
    for tag in ("img", "script", "style", "iframe", "object", "base", "meta", "form"):
        expected = [item for item in harmless.elements if item[0] == tag]
        extra = len(HOSTILE) if tag == "script" else 0  # their pictures
        found = [item for item in hostile_page.elements if item[0] == tag]
        assert len(found) == len(expected) + extra, tag
    handlers = [
        (tag, name)
        for tag, attributes in hostile_page.elements
        for name in attributes
        if name.startswith("on")
    ]
    assert handlers == []


def test_hostile_texts_are_still_there_to_be_read(hostile_page: Page) -> None:
    read = hostile_page.data("entries")
    assert read[0]["reason"] == HOSTILE[0]
    assert read[-1]["evidence"] == [HOSTILE[-1], HOSTILE[-1]]
    assert HOSTILE[2] in hostile_page.text


def test_data_of_scripts_hold_no_markup(tmp_path: Path) -> None:
    text = written(tmp_path, hostile())
    for attributes, body in Page(text).scripts:
        if attributes.get("type") == "application/json":
            assert not set("<>&") & set(body)
    assert "\0" not in text
    assert not set("\u202e\u202c\u2066\u2069") & set(text)


def test_links_lead_to_places_of_the_page_and_files_beside_it(hostile_page: Page) -> None:
    links = [
        attributes["href"] or ""
        for tag, attributes in hostile_page.elements
        if "href" in attributes and tag != "link"
    ]
    assert links
    assert all(link.startswith("#") for link in links)
    clips = [link for entry in hostile_page.data("entries") for _, link in entry["clips"]]
    assert len(clips) == len(HOSTILE)
    assert all(re.fullmatch(r"\./clips/[\w./~%-]*", link) for link in clips)


@pytest.mark.parametrize(
    "file", ["/etc/passwd", "//host/a.mp4", "", "..\\a.mp4", "\\\\host\\a.mp4", "a\0.mp4"]
)
def test_a_clip_that_is_not_beside_the_report_is_refused(file: str) -> None:
    with pytest.raises(ReportError, match=r"run r1: clip .* relative"):
        clip_link("r1", file)


@pytest.mark.parametrize("file", ["javascript:alert(1)", "data:text/html,x", "https://host/a"])
def test_a_clip_is_never_read_as_an_address(file: str) -> None:
    assert clip_link("r1", file).startswith("./")
    assert ":" not in clip_link("r1", file)


def test_a_label_that_is_none_is_refused(tmp_path: Path) -> None:
    labels: Any = {"r0": "maybe"}
    with pytest.raises(ReportError, match="run r0: label 'maybe'"):
        write_report(tmp_path / "x.html", ReportData("Evening", evening("S"), labels=labels))


def test_the_policy_allows_the_page_its_own_script_and_style_alone(tmp_path: Path) -> None:
    found = page(tmp_path, hostile())
    (policy,) = (
        attributes["content"] or ""
        for tag, attributes in found.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    (script,) = (text for attributes, text in found.scripts if "type" not in attributes)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert "unsafe" not in policy


def test_the_page_names_no_address_of_the_network(tmp_path: Path) -> None:
    text = written(tmp_path, ReportData("Evening", evening("SF"), views=lambda _: [PICTURE]))
    assert not re.search(r"https?://|//\w+\.\w|url\((?!#)|@import", text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("marker 3 – 0.5 m", "marker 3 – 0.5 m"),
        ("a\0b\x1b[31m", "a␀b␛[31m"),
        ("a\nb\tc", "a b c"),
        ("\u202eabc", "‹U+202E›abc"),
        ("\ud800", "‹U+D800›"),
        ("\x7f\x9b", "␡‹U+009B›"),
        ("שלום 你好 🤖", "שלום 你好 🤖"),
    ],
)
def test_what_cannot_be_seen_is_made_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("value_ns", "shown"),
    [
        (0, "0.00 s"),
        (420_000_000, "0.42 s"),
        (9_994_000_000, "9.99 s"),
        (12_340_000_000, "12.3 s"),
        (125 * SECOND, "2 min 05 s"),
        (3725 * SECOND, "1 h 02 min"),
        (-1_500_000_000, "-1.50 s"),
    ],
)
def test_times_are_told_as_people_say_them(value_ns: int, shown: str) -> None:
    assert seconds(value_ns) == shown


def test_stamps_keep_all_of_their_digits() -> None:
    assert stamp(1_764_522_345_000_000_007) == "1764522345.000000007 s"
    assert stamp(-1) == "-0.000000001 s"


# Confidence, and what an answer took


def test_confidence_and_what_an_answer_took_are_shown_where_there_are_any(tmp_path: Path) -> None:
    took = Usage(calls=2, input_tokens=12_345, output_tokens=50, cost=0.25)
    rows = [graded("S", "r0", confidence=0.875, usage=took), graded("F", "r1")]
    asked, plain = entries(ReportData("Evening", rows))
    assert (asked["confidence"], plain["confidence"]) == ("0.88", None)
    assert asked["usage"] == "2 requests, 12\u202f345 tokens in, 50 out, cost 0.25"
    assert plain["usage"] is None
    text = written(tmp_path, ReportData("Evening", rows))
    assert "Answers of models" in text
    assert "cost 0.25, 0.125 a run" in text
    assert "Answers of models" not in written(tmp_path, ReportData("Evening", rows[1:]))


def test_a_row_keeps_confidence_and_usage_and_reads_lines_without_them() -> None:
    row = graded("S", "r0", confidence=0.5, usage=Usage(calls=1, cost=0.1))
    assert parse_line(row.line()) == row
    before = json.loads(row.line())
    del before["confidence"], before["usage"]
    assert parse_line(json.dumps(before)) == graded("S", "r0")
