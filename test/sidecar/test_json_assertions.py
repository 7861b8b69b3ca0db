# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Assertions on the end state."""

import pytest

from harness_ros.sidecar import load_verifier
from harness_ros.sidecar.verifier import verify_now
from harness_ros.sidecar.verifiers import json_assertions

STATE = {
    "tests": {"ran": 12, "failed": 0, "ok": True, "rate": 1.0},
    "files": [{"name": "a.py", "lines": 10}, {"name": "b.py"}],
    "branch": "main",
    "a.b": {"c d": 1},
    "nothing": None,
    "empty": "",
}


def holds(assertion):
    return json_assertions("session-1", STATE, assertions=[assertion]) == 1.0


@pytest.mark.parametrize(
    ("path", "op", "value", "expected"),
    [
        ("tests.ran", "equals", 12, True),
        ("tests.ran", "equals", 12.0, True),
        ("tests.ran", "equals", "12", False),
        ("tests.ok", "equals", True, True),
        ("tests.ok", "equals", 1, False),
        ("tests.rate", "equals", True, False),
        ("nothing", "equals", None, True),
        ("absent", "equals", None, False),
        ("files[0].name", "equals", "a.py", True),
        ("files[-1].name", "equals", "b.py", True),
        ("files[2].name", "equals", "b.py", False),
        ('["a.b"]["c d"]', "equals", 1, True),
        ("a.b", "equals", 1, False),
        ("files", "equals", [{"name": "a.py", "lines": 10.0}, {"name": "b.py"}], True),
        ("tests.ran", "less", 12, False),
        ("tests.ran", "at_most", 12, True),
        ("tests.ran", "greater", 11.5, True),
        ("tests.ran", "at_least", 13, False),
        ("tests.ok", "at_least", 0, False),
        ("branch", "at_least", 0, False),
        ("branch", "contains", "ai", True),
        ("files", "contains", {"name": "b.py"}, True),
        ("tests", "contains", "ran", True),
        ("tests.ran", "contains", 1, False),
        ("branch", "one_of", ["main", "release"], True),
        ("branch", "one_of", [], False),
        ("files", "length", 2, True),
        ("empty", "length", 0, True),
        ("tests.ran", "length", 2, False),
        ("tests.ok", "type", "boolean", True),
        ("tests.ok", "type", "number", False),
        ("nothing", "type", "null", True),
        ("files", "type", "list", True),
        ("", "type", "object", True),
        ("files[0].name", "like", "*.py", True),
        ("files[0].name", "like", "?.txt", False),
        ("tests.ran", "like", "*", False),
    ],
)
def test_an_assertion_holds_or_not(path, op, value, expected):
    assert holds({"path": path, "op": op, "value": value}) is expected


def test_what_is_turned_round_holds_where_it_otherwise_would_not():
    assert holds({"path": "branch", "value": "release", "not": True})
    assert not holds({"path": "branch", "value": "main", "not": True})
    assert not holds({"path": "absent", "value": "main", "not": True})


def test_a_path_can_be_asked_whether_it_is_there():
    assert holds({"path": "nothing", "op": "exists"})
    assert not holds({"path": "absent", "op": "exists"})
    assert holds({"path": "absent", "op": "exists", "not": True})


def test_the_score_is_the_share_that_holds_and_the_reason_names_the_rest():
    options = {
        "assertions": [
            {"path": "tests.failed", "value": 0},
            {"path": "tests.ran", "op": "at_least", "value": 20},
        ]
    }
    verifier = load_verifier("harness_ros.sidecar.verifiers:json_assertions", options)
    found = verify_now(verifier, "session-1", STATE, 20.0)
    assert found.score == 0.5
    assert found.reason == "1 of 2 assertions hold; not: tests.ran at_least 20"


def test_the_end_state_may_bring_assertions_where_no_options_do():
    brought = {"done": True, "assertions": [{"path": "done", "value": True}]}
    assert json_assertions("session-1", brought) == 1.0
    own = [{"path": "done", "value": False}]
    assert json_assertions("session-1", brought, assertions=own) == 0.0


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        (None, "no assertions"),
        ([], "no assertions"),
        ("tests.ran > 3", "assertions"),
        ([{"path": "a", "op": "eval", "value": "1"}], "assertions.0.op"),
        ([{"path": "a[", "value": 1}], "cannot be read"),
        ([{"path": "a..b", "value": 1}], "cannot be read"),
        ([{"path": "a"}], "`equals` wants a `value`"),
        ([{"path": "a", "op": "exists", "value": 1}], "`exists` has no `value`"),
        ([{"path": "a", "op": "less", "value": "3"}], "wants a number"),
        ([{"path": "a", "op": "less", "value": True}], "wants a number"),
        ([{"path": "a", "op": "length", "value": 1.5}], "wants a whole number"),
        ([{"path": "a", "op": "one_of", "value": "abc"}], "wants a list"),
        ([{"path": "a", "op": "type", "value": "int"}], "wants one of"),
        ([{"path": "a", "op": "like", "value": 3}], "wants text"),
        ([{"path": "a", "value": 1, "speed": 3}], "assertions.0.speed"),
    ],
)
def test_what_is_no_assertion_is_no_verdict_with_a_reason(listed, said):
    found = verify_now(json_assertions, "session-1", {"assertions": listed}, 20.0)
    assert found.score is None
    assert said in found.reason
