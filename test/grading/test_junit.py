# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""JUnit XML as CI systems read it."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_ros.contract import HarnessError, Kind
from harness_ros.grading.junit import write_junit
from harness_ros.grading.row import BagProblem

sys.path.append(str(Path(__file__).parent))

from graded_rows import SECOND, VERDICTS, evening, graded

# junit-10.xsd of Jenkins' xUnit plugin: which elements an element may hold, attributes that it may
# and that it must have.
SCHEMA = {
    "testsuites": (
        {"testsuite"},
        {"name", "time", "tests", "failures", "disabled", "errors"},
        set(),
    ),
    "testsuite": (
        {"properties", "testcase", "system-out", "system-err"},
        {"name", "tests", "failures", "errors", "time", "disabled", "skipped", "timestamp"},
        {"name", "tests"},
    ),
    "testcase": (
        {"skipped", "error", "failure", "system-out", "system-err"},
        {"name", "assertions", "time", "classname", "status"},
        {"name", "classname"},
    ),
    "failure": (set(), {"type", "message"}, {"type", "message"}),
    "error": (set(), {"type", "message"}, {"type", "message"}),
    "system-out": (set(), set(), set()),
}


def check(root: ElementTree.Element) -> None:
    assert root.tag == "testsuites"
    for element in root.iter():
        children, may, must = SCHEMA[element.tag]
        assert {child.tag for child in element} <= children, element.tag
        assert must <= set(element.attrib) <= may, element.attrib
        for name in {"tests", "failures", "errors"} & set(element.attrib):
            assert re.fullmatch(r"\d+", element.attrib[name])
        assert re.fullmatch(r"\d+\.\d{3}", element.get("time", "0.000"))
    for element in [root, *root]:
        for name, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
            assert int(element.attrib[name]) == len(list(element.iter(tag)))
    for suite in root:
        cases = [(case.get("classname"), case.get("name")) for case in suite]
        assert len(set(cases)) == len(cases), "of tests with the same name CI systems keep one"
        for case in suite:
            assert len([child for child in case if child.tag in ("failure", "error")]) <= 1


@pytest.fixture
def written(tmp_path: Path):
    def write(rows, problems=()) -> ElementTree.Element:
        path = tmp_path / "junit.xml"
        write_junit(path, rows, problems)
        root = ElementTree.parse(path).getroot()
        check(root)
        return root

    return write


def only_case(root: ElementTree.Element) -> ElementTree.Element:
    (case,) = root.iter("testcase")
    return case


def test_a_run_is_named_by_bag_tool_arguments_and_segment(written) -> None:
    case = only_case(written([graded("S", "r", arguments={"b": 2, "a": "cup", "c": [True]})]))
    assert case.attrib == {
        "name": "pick(a=cup, b=2, c=[true]) [segment 1]",
        "classname": "bags/evening.pick",
        "time": "2.000",
    }


def test_dots_of_a_bag_do_not_end_its_name(written) -> None:
    case = only_case(written([graded("S", "r", bag="./run_0.mcap")]))
    assert case.get("classname") == "_/run_0_mcap.pick"


def test_a_judged_failure_is_a_failure_with_reason_and_evidence(written) -> None:
    failure = only_case(written([graded("F", "r")])).find("failure")
    assert failure is not None and failure.text is not None
    assert failure.get("message") == "not held"
    for part in ("not held", "evidence of r", "The cup is held.", "run: r", "deterministic 2"):
        assert part in failure.text


@pytest.mark.parametrize("kind", sorted({*Kind} - {Kind.JUDGED, Kind.SEGMENT_BUDGET_EXHAUSTED}))
def test_what_nobody_judged_is_an_error_of_its_kind(written, kind: Kind) -> None:
    error = only_case(written([graded("i", "r", kind=kind)])).find("error")
    assert error is not None
    assert error.get("type") == kind.value
    assert error.get("message") == f"{kind.value}: marker 3 is not seen"


def test_an_exhausted_budget_is_a_failure(written) -> None:
    failure = only_case(written([graded("B", "r")])).find("failure")
    assert failure is not None and failure.get("type") == "segment_budget_exhausted"


def test_a_success_says_its_evidence(written) -> None:
    case = only_case(written([graded("S", "r")]))
    assert [child.tag for child in case] == ["system-out"]
    assert "evidence of r" in (case[0].text or "")


def test_process_passes_where_another_segment_followed_and_is_an_error_at_the_end(written) -> None:
    rows = [graded("P", "r1", call_id="c"), graded("P", "r2", call_id="c", segment=2)]
    first, second = written(rows).iter("testcase")
    assert first.find("error") is None
    error = second.find("error")
    assert error is not None and error.get("message") == "process"


def test_each_bag_is_a_suite_with_its_own_counts_and_time(written) -> None:
    root = written([*evening("SFi", bag="b"), *evening("S", "q", bag="a")])
    assert [suite.get("name") for suite in root] == ["a", "b"]
    assert [suite.get("tests") for suite in root] == ["1", "3"]
    assert [suite.get("time") for suite in root] == ["2.000", "6.000"]
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("4", "1", "1")
    assert root.get("time") == "8.000"


def test_trials_of_one_call_are_numbered_in_the_order_in_which_they_began(written) -> None:
    rows = evening("SFS")
    names = [case.get("name") for case in written(rows[::-1]).iter("testcase")]
    base = "pick(target=cup) [segment 1]"
    assert names == [base, f"{base} #2", f"{base} #3"]


@pytest.mark.parametrize("ended", [None, 0])
def test_a_run_without_an_end_or_before_its_start_took_no_time(written, ended) -> None:
    assert only_case(written([graded("S", "r", ended_at_ns=ended)])).get("time") == "0.000"


def test_milliseconds_are_rounded_and_not_cut(written) -> None:
    row = graded("S", "r", started_at_ns=0, ended_at_ns=61 * SECOND + 7_600_000)
    assert only_case(written([row])).get("time") == "61.008"


def test_problems_of_a_bag_are_an_error_together(written) -> None:
    problems = [
        BagProblem(bag="b", problem="a topic is damaged"),
        BagProblem(bag="b", problem="no index\nat all", fatal=True),
    ]
    root = written(evening("S", bag="a"), problems)
    case = root[1][0]
    assert case.get("classname") == "b.bag"
    (error,) = case
    assert error.tag == "error"
    assert error.attrib == {"type": "fatal", "message": "no index at all (and 1 more)"}
    assert error.text == "no index\nat all\na topic is damaged"


def test_without_runs_there_is_an_empty_document(written) -> None:
    root = written([])
    assert len(root) == 0 and root.get("tests") == "0"


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"none/junit.xml: No such file"):
        write_junit(tmp_path / "none" / "junit.xml", [])


ANY = st.text(st.characters(blacklist_categories=[]), max_size=12)
TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)
BAD = st.sampled_from(["\x00", "\x0b", "\x1b[31m", "\ufffe", "\uffff", "]]>", "<&\"'>", "\r\n\r"])
SAID = st.one_of(TEXT, BAD)


@given(
    st.lists(
        st.builds(
            graded,
            st.sampled_from(sorted(VERDICTS)),
            SAID,
            bag=SAID,
            tool_name=SAID,
            arguments=st.dictionaries(SAID, st.one_of(SAID, st.floats(), st.booleans())),
            failure_reason=SAID,
            evidence=st.tuples(SAID, SAID),
            post_condition=SAID,
            judge=SAID,
            segment=st.integers(),
            started_at_ns=st.integers(),
            ended_at_ns=st.one_of(st.none(), st.integers()),
        ),
        max_size=5,
    ),
    st.lists(st.builds(BagProblem, bag=SAID, problem=SAID.filter(bool)), max_size=3),
)
def test_any_text_gives_xml_that_can_be_read(tmp_path_factory, rows, problems) -> None:
    path = tmp_path_factory.mktemp("junit") / "junit.xml"
    write_junit(path, rows, problems)
    root = ElementTree.parse(path).getroot()
    check(root)
    with_problems = len({item.bag for item in problems})
    assert int(root.get("tests", "")) == len(rows) + with_problems


@given(ANY)
def test_text_that_xml_allows_stays_and_the_rest_is_replaced(tmp_path_factory, text) -> None:
    path = tmp_path_factory.mktemp("junit") / "junit.xml"
    row = graded("F", "r").model_copy(update={"evidence": (text,)})
    write_junit(path, [row])
    failure = ElementTree.parse(path).getroot().find(".//failure")
    assert failure is not None
    found = re.search(r"^evidence: (.*)\njudge:", failure.text or "", re.MULTILINE | re.DOTALL)
    assert found is not None
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    assert found[1] == "".join(
        char
        if char in "\t\n"
        or "\x20" <= char <= "\ud7ff"
        or "\ue000" <= char <= "\ufffd"
        or char >= "\U00010000"
        else "\ufffd"
        for char in lines
    )
