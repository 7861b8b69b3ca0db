# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Graded runs as JUnit XML, which CI systems show as tests.

The elements and attributes are those that junit-10.xsd of Jenkins' xUnit plugin, GitLab and the
reporters of GitHub have in common.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness_ros.contract import ExitCode, HarnessError, Status
from harness_ros.grading.row import BagProblem, GradedRun
from harness_ros.grading.trials import shown_call, trials_of

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Everything but Char of XML 1.0, section 2.2."""


def write_junit(
    path: Path | str, rows: Iterable[GradedRun], problems: Iterable[BagProblem] = ()
) -> None:
    """Writes one testsuite a bag and one testcase a run, in the order in which runs began.

    A judged failure is a `failure`, what nobody judged or was cancelled is an `error`, and nothing
    is skipped. A run in `process` passes if a later segment of its call is there. Problems of a
    bag are together one more testcase, an `error`.

    Raises:
        HarnessError: the file cannot be written.
    """
    root = _document(list(rows), list(problems))
    ElementTree.indent(root)
    try:
        Path(path).write_bytes(ElementTree.tostring(root, "utf-8", xml_declaration=True) + b"\n")
    except OSError as error:
        raise HarnessError(f"{path}: {error.strerror or error}") from None


def _document(rows: Sequence[GradedRun], problems: Sequence[BagProblem]) -> ElementTree.Element:
    followed = {run.run_id for trial in trials_of(rows) for run in trial.runs[:-1]}
    runs_of: dict[str, list[GradedRun]] = defaultdict(list)
    problems_of: dict[str, list[BagProblem]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row.started_at_ns, row.run_id, row.line())):
        runs_of[row.bag].append(row)
    for item in sorted(problems, key=lambda item: (not item.fatal, item.problem)):
        problems_of[item.bag].append(item)
    root = ElementTree.Element("testsuites", name="harness_ros")
    for bag in sorted({*runs_of, *problems_of}):
        suite = ElementTree.SubElement(root, "testsuite", name=_allowed(bag))
        names: Counter[str] = Counter()
        for row in runs_of[bag]:
            _add_run(suite, row, row.run_id in followed, names)
        if bag in problems_of:
            _add_problems(suite, bag, problems_of[bag])
        _count(suite, sum(_duration_ns(row) for row in runs_of[bag]))
    _count(root, sum(_duration_ns(row) for row in rows))
    return root


def _add_run(
    suite: ElementTree.Element, row: GradedRun, followed: bool, names: Counter[str]
) -> None:
    name = f"{' '.join(shown_call(row).split())} [segment {row.segment}]"
    names[name] += 1
    # CI systems keep one of several tests with the same name.
    number = f" #{names[name]}" if names[name] > 1 else ""
    case = _case(suite, row.bag, row.tool_name, name + number, _duration_ns(row))
    passed = row.exit_code is ExitCode.SUCCESS or (row.status is Status.PROCESS and followed)
    if passed:
        ElementTree.SubElement(case, "system-out").text = _report(row)
        return
    failed = row.exit_code is ExitCode.FAILURE
    kind = row.kind.value or row.status.name.lower()
    reason = " ".join(row.failure_reason.split()) or kind
    element = ElementTree.SubElement(
        case,
        "failure" if failed else "error",
        type=kind,
        message=_allowed(reason if failed else f"{kind}: {reason}" if reason != kind else kind),
    )
    element.text = _report(row)


def _add_problems(suite: ElementTree.Element, bag: str, problems: Sequence[BagProblem]) -> None:
    case = _case(suite, bag, "bag", "the bag is graded in full", 0)
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    element = ElementTree.SubElement(
        case,
        "error",
        type="fatal" if problems[0].fatal else "problem",
        message=_allowed(" ".join(problems[0].problem.split()) + more),
    )
    element.text = _allowed("\n".join(item.problem for item in problems))


def _case(
    suite: ElementTree.Element, bag: str, of: str, name: str, duration_ns: int
) -> ElementTree.Element:
    # Jenkins takes what stands before the last dot as a package.
    classname = f"{bag.replace('.', '_')}.{of.replace('.', '_')}"
    return ElementTree.SubElement(
        suite,
        "testcase",
        name=_allowed(name),
        classname=_allowed(classname),
        time=_seconds(duration_ns),
    )


def _count(element: ElementTree.Element, duration_ns: int) -> None:
    for counted, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
        element.set(counted, str(sum(1 for _ in element.iter(tag))))
    element.set("time", _seconds(duration_ns))


def _report(row: GradedRun) -> str:
    lines = [
        f"verdict: {row.status.name.lower()}{f' ({row.kind.value})' if row.kind.value else ''}",
        f"reason: {row.failure_reason}" if row.failure_reason else "",
        f"post-condition: {row.post_condition}" if row.post_condition else "",
        *(f"evidence: {line}" for line in row.evidence),
        f"judge: {row.judge}" if row.judge else "",
        f"run: {row.run_id}",
    ]
    return "\n".join(_allowed(line) for line in lines if line)


def _duration_ns(row: GradedRun) -> int:
    # Simulated time may have jumped back.
    return 0 if row.ended_at_ns is None else max(0, row.ended_at_ns - row.started_at_ns)


def _seconds(duration_ns: int) -> str:
    milliseconds = (duration_ns + 500_000) // 1_000_000
    return f"{milliseconds // 1000}.{milliseconds % 1000:03d}"


def _allowed(text: str) -> str:
    """The text with U+FFFD for every character that XML 1.0 does not allow."""
    return _NOT_XML.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
