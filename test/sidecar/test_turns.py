# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Turns: threshold, integrity, and scores that tell nothing apart."""

import asyncio
import os
import shutil
import time
from pathlib import Path

import pytest

from harness_ros.config.sidecar import IntegrityConfig, SidecarConfig
from harness_ros.sidecar.integrity import Integrity, IntegrityError
from harness_ros.sidecar.turns import TurnVerifier, turn_verifier


def given(session_id, end_state):
    return end_state.get("score")


def in_a_loop(turns, end_state):
    return asyncio.run(turns.verify("session-1", 3, end_state))


def in_a_thread(turns, end_state):
    return turns.verify_now("session-1", 3, end_state)


WAYS = pytest.mark.parametrize("ask", [in_a_loop, in_a_thread])


@WAYS
@pytest.mark.parametrize(
    ("score", "breached"), [(1.0, False), (0.9, False), (0.89, True), (0.0, True)]
)
def test_a_score_below_the_threshold_is_a_breach(ask, score, breached):
    result = ask(TurnVerifier(given, threshold=0.9), {"score": score})
    assert (result.has_score, result.score, result.breached) == (True, score, breached)
    assert (result.metric, result.tier) == ("outcome_correct", 0)
    assert (result.session_id, result.turn_index) == ("session-1", 3)
    assert 0 < result.latency_s < 60


@WAYS
def test_no_score_is_no_breach(ask):
    result = ask(TurnVerifier(given), {})
    assert (result.has_score, result.score, result.breached) == (False, 0.0, False)
    assert "cannot be judged yet" in result.reason


@WAYS
def test_the_end_state_may_come_as_json(ask):
    assert ask(TurnVerifier(given), '{"score": 0.5}').score == 0.5


@WAYS
@pytest.mark.parametrize(
    ("end_state", "said"),
    [
        ("", "no JSON"),
        ("[1]", "an object is wanted"),
        ('{"score": NaN}', "NaN is no number of JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": "' + "x" * 1_000_001 + '"}', "at most 1000000"),
        (5, "an object is wanted"),
    ],
    ids=["empty", "list", "nan", "deep", "long", "number"],
)
def test_an_end_state_that_is_none_is_no_score(ask, end_state, said):
    result = ask(TurnVerifier(given), end_state)
    assert not result.has_score
    assert said in result.reason


@pytest.mark.parametrize("same", [0.0, 0.5, 1.0])
def test_scores_that_are_nearly_all_the_same_are_warned_of_once(same, caplog):
    turns = TurnVerifier(given, window=40)
    for number in range(60):
        assert bool(turns.warning) == (number >= 40)
        in_a_thread(turns, {"score": 0.25 if number == 20 else same})
    assert turns.warning.startswith(f"39 of the last 40 scores are {same:g}")
    assert caplog.text.count("they tell nothing apart") == 1


def test_scores_that_differ_are_not_warned_of():
    turns = TurnVerifier(given, window=40)
    for number in range(80):
        in_a_thread(turns, {"score": (number % 5) / 4})
        in_a_thread(turns, {})  # no verdict, and no score of the window
    assert turns.warning == ""


def test_the_warning_ends_when_scores_differ_again():
    turns = TurnVerifier(given, window=10)
    for _ in range(10):
        in_a_thread(turns, {"score": 0})
    assert turns.warning
    for number in range(5):
        in_a_thread(turns, {"score": number / 5})
    assert turns.warning == ""


# Integrity


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tests" / "unit").mkdir(parents=True)
    (tmp_path / "tests" / "test_a.py").write_text("assert True\n")
    (tmp_path / "tests" / "unit" / "test_b.py").write_text("assert 1\n")
    (tmp_path / "notes.txt").write_text("whatever")
    return tmp_path


def guarded(folder, **more):
    return Integrity(
        IntegrityConfig(folder=folder, files={"tests": {"files": "tests/**/*.py", **more}})
    )


def changed(folder):
    (folder / "tests" / "test_a.py").write_text("assert True or False\n")


def changed_to_the_same_size_and_time(folder):
    path = folder / "tests" / "test_a.py"
    before = path.stat()
    path.write_text("assert 1234\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def removed(folder):
    (folder / "tests" / "unit" / "test_b.py").unlink()


def added(folder):
    (folder / "tests" / "conftest.py").write_text("")


def all_removed(folder):
    shutil.rmtree(folder / "tests")


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (changed, "changed tests/test_a.py"),
        (changed_to_the_same_size_and_time, "changed tests/test_a.py"),
        (removed, "removed tests/unit/test_b.py"),
        (added, "added tests/conftest.py"),
        (all_removed, "removed tests/test_a.py, tests/unit/test_b.py"),
    ],
)
@WAYS
def test_a_moved_file_is_reported_and_the_score_withheld(ask, folder, tamper, said):
    turns = TurnVerifier(given, integrity=guarded(folder))
    assert ask(turns, {"score": 1.0}).score == 1.0
    tamper(folder)
    result = ask(turns, {"score": 1.0})
    assert (result.has_score, result.score, result.breached) == (False, 0.0, False)
    assert result.violations == (f"files 'tests': {said}",)
    assert result.reason == f"score withheld: files 'tests': {said}"


def test_the_verifier_is_not_asked_when_something_has_been_moved(folder):
    asked = []
    turns = TurnVerifier(lambda s, e: asked.append(s), integrity=guarded(folder))
    changed(folder)
    in_a_thread(turns, {})
    assert asked == []


def test_a_file_that_looks_as_before_is_read_again_when_the_system_has_changed_it(
    folder, monkeypatch
):
    monkeypatch.setattr("harness_ros.sidecar.integrity.SETTLED_S", -1.0)
    integrity = guarded(folder)
    path = folder / "tests" / "test_a.py"
    before = path.stat().st_ctime_ns
    deadline = time.monotonic() + 20
    while path.stat().st_ctime_ns == before and time.monotonic() < deadline:
        changed_to_the_same_size_and_time(folder)
    assert integrity.violations({}) == ("files 'tests': changed tests/test_a.py",)


@pytest.mark.parametrize(("age_s", "reads"), [(0, 2), (3600, 0)])
def test_files_that_have_not_changed_for_a_while_are_read_once(folder, monkeypatch, age_s, reads):
    now_ns = time.time_ns() + round(age_s * 1e9)
    monkeypatch.setattr("harness_ros.sidecar.integrity.time.time_ns", lambda: now_ns)
    integrity = guarded(folder)
    read = []
    read_bytes = Path.read_bytes

    def noting(path):
        read.append(path)
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", noting)
    assert integrity.violations({}) == ()
    assert len(read) == reads


def test_other_files_may_change(folder):
    integrity = guarded(folder)
    (folder / "notes.txt").write_text("more")
    (folder / "tests" / "result.log").write_text("3 passed")
    assert integrity.violations({}) == ()


def test_files_that_are_put_back_are_no_violation(folder):
    integrity = guarded(folder)
    text = (folder / "tests" / "test_a.py").read_text()
    changed(folder)
    assert integrity.violations({})
    (folder / "tests" / "test_a.py").write_text(text)
    assert integrity.violations({}) == ()


def test_a_hash_that_is_given_holds_from_the_start(folder):
    with pytest.raises(IntegrityError, match=r"sidecar\.integrity\.files\.tests\.sha256") as error:
        guarded(folder, sha256="0" * 64)
    real = str(error.value).split(" have ")[1].split(",")[0]
    assert guarded(folder, sha256=real).violations({}) == ()


def test_a_pattern_that_matches_nothing_is_said_at_the_start(folder):
    with pytest.raises(IntegrityError, match=r"no file of .* matches 'test/\*'"):
        Integrity(IntegrityConfig(folder=folder, files={"tests": {"files": "test/*"}}))


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ({"ran": 12, "skipped": 0}, []),
        ({"ran": 40, "skipped": 1}, []),
        ({"ran": 11, "skipped": 0}, ["count 'ran': end_state.tests.ran is 11; at least 12"]),
        ({"ran": 12, "skipped": 2}, ["count 'skipped': end_state.tests.skipped is 2; at most 1"]),
        ({"ran": 12}, ["end_state.tests.skipped is missing"]),
        ({"ran": "12", "skipped": 0}, ["a number is wanted"]),
        ({"ran": True, "skipped": 0}, ["a number is wanted"]),
        ({"ran": float("nan"), "skipped": 9}, ["a number is wanted", "at most 1"]),
    ],
)
def test_counts_must_stay_within_their_bounds(tests, said):
    counts = {
        "ran": {"at": "tests.ran", "min": 12},
        "skipped": {"at": "tests.skipped", "max": 1},
    }
    turns = TurnVerifier(given, integrity=Integrity(IntegrityConfig(counts=counts)))
    result = in_a_thread(turns, {"tests": tests, "score": 1.0})
    assert result.has_score is not bool(said)
    assert len(result.violations) == len(said)
    assert all(part in line for part, line in zip(said, result.violations, strict=True))


@pytest.mark.parametrize("at", ["tests..ran", "tests[", "tests.ran > 3[]"])
def test_a_path_of_a_count_that_cannot_be_read_is_said_at_the_start(at):
    with pytest.raises(IntegrityError, match=r"counts\.ran\.at: .* cannot be read"):
        Integrity(IntegrityConfig(counts={"ran": {"at": at, "min": 1}}))


# The configuration


def test_a_section_of_the_configuration_makes_the_verifier(folder):
    config = SidecarConfig(
        verifier="harness_ros.sidecar.verifiers:json_assertions",
        options={"assertions": [{"path": "done", "value": True}, {"path": "clean", "value": True}]},
        outcome_threshold=0.6,
        integrity={"folder": folder, "files": {"tests": {"files": "tests/*.py"}}},
    )
    turns = turn_verifier(config, {"ledger": "not wanted"})
    result = in_a_thread(turns, {"done": True, "clean": False})
    assert (result.score, result.breached) == (0.5, True)
    changed(folder)
    assert in_a_thread(turns, {"done": True}).violations
