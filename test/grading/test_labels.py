# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of labels: what is read, and what is said of those that cannot be."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_ros.grading.labels import Label, LabelError, read_labels


@pytest.fixture
def labels_of(tmp_path: Path):
    def read(text: str | bytes, name: str = "labels.csv") -> dict[str, Label]:
        data = text.encode() if isinstance(text, str) else text
        (tmp_path / name).write_bytes(data)
        return read_labels(tmp_path / name)

    return read


def said(labels: dict[str, Label]) -> dict[str, bool | None]:
    return {run_id: label.success for run_id, label in labels.items()}


WORDS = [
    *[(word, True) for word in ("success", "Success", " SUCCESS ", "1", "true", "TRUE")],
    *[(word, False) for word in ("failure", "Failure", "0", "false", "False")],
    *[("", None), ("  ", None)],
]


@pytest.mark.parametrize(("word", "success"), WORDS)
def test_each_word_for_a_label_is_read_in_csv(labels_of, word, success) -> None:
    assert said(labels_of(f"run_id,label\na,{word}\n")) == {"a": success}


@pytest.mark.parametrize(
    ("value", "success"),
    [*WORDS, (1, True), (0, False), (True, True), (False, False), (None, None)],
)
def test_each_form_of_a_label_is_read_in_json_lines(labels_of, value, success) -> None:
    line = json.dumps({"run_id": "a", "label": value})
    assert said(labels_of(f"{line}\n\n")) == {"a": success}


@pytest.mark.parametrize(
    "text",
    [
        "run_id,label,task\na,success,t1\nb,failure,t2\n",
        "\ufeffrun_id;label;task\r\na;success;t1\r\nb;failure;t2\r\n",
        "run_id\tlabel\ttask\na\tsuccess\tt1\nb\tfailure\tt2",
        "\n\nTask , Run_ID, LABEL\nt1,a,success\n\n,,\nt2,b,failure\n",
        'note,run_id,label,task\n"wet,\nand dark",a,1,t1\n,b,0,t2\n',
        '{"run_id":"a","label":"success","task":"t1"}\n{"run_id":"b","label":0,"task":"t2","by":"me"}',
    ],
    ids=["commas", "spreadsheet", "tabs", "any order", "quoted", "json"],
)
def test_files_of_each_form_are_read(labels_of, text) -> None:
    assert labels_of(text) == {
        "a": Label(run_id="a", success=True, task="t1"),
        "b": Label(run_id="b", success=False, task="t2"),
    }


def test_a_short_line_is_one_without_the_rest(labels_of) -> None:
    assert labels_of("run_id,label,task\na\n") == {"a": Label(run_id="a", success=None)}


def test_who_could_not_tell_is_kept_and_says_neither(labels_of) -> None:
    kept = {"a": Label(run_id="a", success=None, cannot_tell=True)}
    assert labels_of("run_id,label\na,Unknown\na,\n") == kept
    assert labels_of('{"run_id": "a", "label": "unknown"}\n') == kept


def test_a_line_of_json_may_replace_those_above(labels_of) -> None:
    lines = [
        {"run_id": "a", "label": "success", "task": "t"},
        {"run_id": "b", "label": "failure"},
        {"run_id": "a", "label": "failure", "replaces": True},
        {"run_id": "b", "label": None, "replaces": True},
        {"run_id": "a", "label": "failure", "replaces": False},
    ]
    found = labels_of("\n".join(map(json.dumps, lines)))
    assert found == {
        "a": Label(run_id="a", success=False),
        "b": Label(run_id="b", success=None),
    }


def test_in_csv_a_column_of_that_name_is_for_people(labels_of) -> None:
    with pytest.raises(LabelError, match="keep one"):
        labels_of("run_id,label,replaces\na,success,\na,failure,true\n")


def test_a_run_may_stand_twice_where_both_say_the_same(labels_of) -> None:
    found = labels_of("run_id,label,task\na,,t1\na,success,\na,1,t1\n")
    assert found == {"a": Label(run_id="a", success=True, task="t1")}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("run_id,label\na,success\nb,maybe\n", ["line 3", "'maybe'", "success or failure"]),
        ("run_id,label\n,success\n", ["line 2", "run_id is ''"]),
        ("run,label\na,success\n", ["line 1", "no 'run_id', but run, label"]),
        ("run_id,labels\na,success\n", ["line 1", "'labels'", "is 'label' meant"]),
        ("run_id,label,tasks\na,success,t\n", ["line 1", "is 'task' meant"]),
        ("a,success\n", ["line 1", "no 'run_id', but a, success"]),
        ("", ["empty", "run_id,label"]),
        ("run_id,label\na,success,t1\n", ["line 2", "3 values, but the header has 2"]),
        ("run_id,label\na,1\nb,0\na,0\n", ["line 4", "run a", "failure", "success", "line 2"]),
        ("run_id,label,task\na,1,t\na,1,u\n", ["line 3", "task 'u'", "'t'", "line 2"]),
        ('run_id,label,note\na,1,"x\ny"\nb,2,\n', ["line 4", "'2'"]),
        ('run_id,label\n"a,1\n', ["line 2"]),
        ('{"run_id": "a", "label": 2}', ["line 1", "label is 2", "success or failure"]),
        ('{"run_id": "a", "label": 1.0}', ["line 1", "label is 1.0"]),
        ('{"run_id": "a", "label": ["success"]}', ["line 1", "['success']"]),
        ('{"run_id": 7, "label": 1}', ["line 1", "run_id is 7"]),
        ('{"run_id": "a", "label": 1, "task": 3}', ["line 1", "task is 3"]),
        ('{"run_id": "a", "label": 1, "replaces": 1}', ["line 1", "replaces is 1"]),
        ("run_id,label\na,unknown\na,0\n", ["line 3", "failure", "unknown above", "line 2"]),
        ('{"run_id": "a"}', ["line 1", "no 'label', but run_id"]),
        ('{"run_id": "a", "label": 1}\n[1]\n', ["line 2", "[1]"]),
        ('{"run_id": "a", "label": 1}\n{"run\n', ["line 2", "no JSON"]),
        (b"run_id,label\n\xff,1\n", ["no UTF-8", "byte 13"]),
    ],
)
def test_what_is_wrong_is_said_with_file_line_and_value(labels_of, text, parts) -> None:
    with pytest.raises(LabelError) as error:
        labels_of(text)
    for part in ["labels.csv", *parts]:
        assert part in str(error.value)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(LabelError, match=r"none\.csv: No such file"):
        read_labels(tmp_path / "none.csv")


@given(
    st.dictionaries(
        st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1).filter(str.strip),
        st.tuples(st.sampled_from([True, False, None]), st.text("abc, ;\"'\t\n\u2028", max_size=8)),
        min_size=1,
    )
)
def test_what_is_written_is_read(tmp_path_factory, runs) -> None:
    expected = {}
    for run_id, (success, task) in runs.items():
        stripped = run_id.strip()
        if stripped in expected:
            return
        expected[stripped] = Label(run_id=stripped, success=success, task=task.strip())
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["run_id", "label", "task"])
    lines = []
    for run_id, (success, task) in runs.items():
        writer.writerow([run_id, "" if success is None else int(success), task])
        fields = {"run_id": run_id, "label": success, "task": task}
        lines.append(json.dumps(fields, ensure_ascii=False))
    folder = tmp_path_factory.mktemp("labels")
    for name, written in (("l.csv", text.getvalue()), ("l.jsonl", "\n".join(lines))):
        (folder / name).write_bytes(written.encode())
        assert read_labels(folder / name) == expected
