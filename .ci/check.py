# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Looks at what ran: at least `.ci/least_tests` tests, skips only for `.ci/allowed_skips`."""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).parent


def main(report: str) -> int:
    """Reads a JUnit report of pytest; returns the exit code."""
    try:
        cases = list(ElementTree.parse(report).iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        print(f"{report}: no test report: {error}")
        return 1
    least = int((HERE / "least_tests").read_text())
    allowed = [
        line
        for line in (HERE / "allowed_skips").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    failed = [case for case in cases if case.find("failure") is not None]
    failed += [case for case in cases if case.find("error") is not None]
    skipped = [case for case in cases if case.find("skipped") is not None]
    ran = len(cases) - len(skipped)
    problems = []
    if ran < least:
        problems.append(f"{ran} tests ran; .ci/least_tests wants {least}")
    for case in skipped:
        reason = (case.find("skipped").get("message") or "").removeprefix("Skipped: ")
        if reason not in allowed:
            where = f"{case.get('classname')}::{case.get('name')}"
            problems.append(f"{where} was skipped for a reason that is not allowed: {reason!r}")
    for problem in problems:
        print(f"check: {problem}")
    print(f"tests that ran: {ran}, at least {least} wanted")
    print(f"{ran - len(failed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    return int(bool(problems or failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
