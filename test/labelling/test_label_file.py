# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The file of labels: what is on disk after each key press, and whose file it is."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness_ros.grading.labels import Label, read_labels
from harness_ros.labelling.label_file import LabelFile
from harness_ros.labelling.runs import LabellingError, RunToLabel

KNOWN = {name: RunToLabel(name, "pick", {}, 1, f"{name} is held.", None) for name in "abc"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "labels.jsonl"


def said_of(run_id: str, **label: bool | None) -> Label:
    return Label(run_id=run_id, post_condition=KNOWN[run_id].post_condition, **label)


def opened(path: Path, by: str | None = "Ann", known: dict[str, RunToLabel] = KNOWN) -> LabelFile:
    return LabelFile(path, by, "login", known)


def test_each_label_is_read_by_grade_before_the_file_is_closed(path: Path) -> None:
    with opened(path) as labels:
        for run_id, label in (("a", "success"), ("b", "failure"), ("c", "unknown")):
            labels.say(run_id, label)  # type: ignore[arg-type]
            assert run_id in read_labels(path)
        assert read_labels(path) == {
            "a": said_of("a", success=True),
            "b": said_of("b", success=False),
            "c": said_of("c", success=None, cannot_tell=True),
        }


def test_who_changes_their_mind_appends(path: Path) -> None:
    with opened(path) as labels:
        labels.say("a", "success", "glare\u2028on top")
        labels.say("a", "failure", "glare")
        before = path.read_bytes()
        labels.say("a", None)
        assert path.read_bytes().startswith(before)
        assert read_labels(path) == {"a": said_of("a", success=None)}
        labels.say("a", "unknown")
    assert read_labels(path) == {"a": said_of("a", success=None, cannot_tell=True)}
    with opened(path) as labels:
        assert labels.label("a") == "unknown"
        assert labels.label("b") is None
    assert path.read_text().count("\n") == 4


def test_half_a_line_is_cut_off_and_said(path: Path) -> None:
    with opened(path) as labels:
        labels.say("a", "success")
        assert not labels.cut_off
        labels.say("b", "success")
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with opened(path) as labels:
        assert labels.cut_off
        assert (labels.label("a"), labels.label("b")) == ("success", None)
        labels.say("b", "failure")
    assert read_labels(path)["b"].success is False


def test_a_last_line_without_its_end_is_kept(path: Path) -> None:
    with opened(path) as labels:
        labels.say("a", "success")
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    with opened(path) as labels:
        assert labels.label("a") == "success"
        labels.say("b", "failure")
    assert set(read_labels(path)) == {"a", "b"}


def test_a_label_of_another_post_condition_is_asked_for_again(path: Path) -> None:
    with opened(path) as labels:
        labels.say("a", "success")
    changed = {**KNOWN, "a": RunToLabel("a", "pick", {}, 1, "a is lifted.", None)}
    with opened(path, known=changed) as labels:
        assert labels.outdated() == ["a"]
        assert labels.label("a") is None
        labels.say("a", "failure")
        assert labels.outdated() == []
    assert read_labels(path)["a"].success is False


def test_a_file_of_other_runs_is_an_error_that_says_so(path: Path) -> None:
    with opened(path) as labels:
        labels.say("a", "success")
        labels.say("b", "success")
    with pytest.raises(
        LabellingError, match=r"1 of its 2 runs are not among the 2 .* as a\).*--labels"
    ):
        opened(path, known={name: KNOWN[name] for name in "bc"})


def test_labels_of_two_people_do_not_mix(path: Path) -> None:
    with opened(path) as labels:
        labels.say("a", "success")
    with pytest.raises(LabellingError, match=r"'Ben'.*labels by Ann.*two files"):
        opened(path, "Ben")
    with opened(path, None) as labels:
        assert labels.by == "Ann"


def test_a_new_file_is_by_the_login_where_nobody_is_named(path: Path) -> None:
    with opened(path, None) as labels:
        assert labels.by == "login"


def test_two_commands_do_not_write_one_file(path: Path) -> None:
    with opened(path), pytest.raises(LabellingError, match=r"another .* is writing it"):
        opened(path)
    opened(path).close()


@pytest.mark.parametrize(
    "text",
    [
        "run_id,label\na,success\n",
        '{"run_id": "a", "label": "success"}\n',
        '{"run_id":"a","label":"maybe","by":"Ann","at":"","tool":"","post_condition":""}\n',
    ],
)
def test_a_file_of_another_hand_is_not_gone_on_with(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(LabellingError, match=r"labels\.jsonl, line 1: .*--labels"):
        opened(path)
    assert path.read_text() == text


@contextmanager
def nearly_full(path: Path) -> Iterator[None]:
    """A disk that takes ten bytes more of the file, and of all others no more than that."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 10, before[1]))
    try:
        yield
    finally:
        # What pytest writes goes to files too.
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_label_that_has_no_place_is_an_error_and_leaves_no_half(path: Path) -> None:
    with opened(path) as labels:
        labels.say("a", "success")
        before = path.read_bytes()
        with (
            nearly_full(path),
            pytest.raises(LabellingError, match="no space for the whole line; not labelled"),
        ):
            labels.say("b", "success")
        assert labels.label("b") is None
    assert path.read_bytes() == before
