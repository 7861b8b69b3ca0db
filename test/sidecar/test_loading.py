# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Verifiers of one's own: what is wrong with them is said when they are loaded."""

import itertools
import sys
import textwrap

import pytest

from harness_ros.sidecar import VerifierError, load_verifier
from harness_ros.sidecar.verifier import verify_now

numbers = itertools.count()


@pytest.fixture
def written(tmp_path, monkeypatch):
    """written(text of a module) -> its name."""
    monkeypatch.syspath_prepend(tmp_path)
    names = []

    def write(text):
        name = f"own_verifier_{next(numbers)}"
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        names.append(name)
        return name

    yield write
    for name in names:
        sys.modules.pop(name, None)


def score(verifier):
    return verify_now(verifier, "session-1", {}, 20.0).score


def test_a_function_is_found_by_module_and_name(written):
    name = written("def half(session_id, end_state): return 0.5")
    assert score(load_verifier(f"{name}:half")) == 0.5


def test_an_async_function_may_have_options(written):
    name = written("async def given(session_id, end_state, *, score): return score")
    assert score(load_verifier(f"{name}:given", {"score": 0.25})) == 0.25


def test_a_method_of_an_object_is_found(written):
    name = written(
        """
        class Grader:
            def grade(self, session_id, end_state): return 0.75
        grader = Grader()
        """
    )
    assert score(load_verifier(f"{name}:grader.grade")) == 0.75


def test_what_is_offered_goes_to_those_that_ask_for_it(written):
    name = written(
        """
        def asking(session_id, end_state, *, share): return share
        def other(session_id, end_state, **more): return len(more) / 10
        """
    )
    offered = {"share": 0.5, "ledger": "l"}
    assert score(load_verifier(f"{name}:asking", offered=offered)) == 0.5
    assert score(load_verifier(f"{name}:asking", {"share": 0.25}, offered)) == 0.25
    assert score(load_verifier(f"{name}:other", offered=offered)) == 0.0


@pytest.mark.parametrize(
    ("text", "attribute", "said"),
    [
        ("import no_such_module_here", "v", "cannot be imported: ModuleNotFoundError"),
        ("raise SystemExit(3)", "v", "cannot be imported: SystemExit: 3"),
        ("def v(", "v", "cannot be imported: SyntaxError"),
        ("", "v", "has no 'v'"),
        ("v = 5", "v", "is 5; a function"),
        ("class v: pass", "v", "is a class"),
        ("def v(session_id): pass", "v", r"takes \(session_id\): too many positional arguments"),
        ("def v(a, b, c): pass", "v", r"takes \(a, b, c\): missing a required argument: 'c'"),
        ("def v(a, b, *, d): pass", "v", "missing a required"),
    ],
)
def test_what_cannot_be_used_is_said_with_module_and_cause(written, text, attribute, said):
    name = written(text)
    with pytest.raises(VerifierError, match=said) as error:
        load_verifier(f"{name}:{attribute}")
    assert f"{name}:{attribute}" in str(error.value)


@pytest.mark.parametrize("name", ["", "module", ":function", "module:"])
def test_a_name_without_module_and_function_is_refused(name):
    with pytest.raises(VerifierError, match="`module:function` is wanted"):
        load_verifier(name)


def test_options_that_a_verifier_does_not_have_are_named(written):
    name = written("def v(session_id, end_state): return 1")
    with pytest.raises(VerifierError, match=r"options \{'speed': 3\}.*'speed'"):
        load_verifier(f"{name}:v", {"speed": 3})
