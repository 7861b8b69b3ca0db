# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What people say of runs: the file of labels.

CSV with a header, or JSON lines, with `run_id`, `label` and, if wanted, `task`; other columns are
for people. Spreadsheets' semicolons, tabs and byte order marks are taken as they come. In JSON
lines `"replaces": true` says that what stands above of the run holds no more; so
`harness-ros label` can append when somebody changes their mind.
"""

from __future__ import annotations

import csv
import difflib
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from harness_ros.contract import HarnessError, Record

CANNOT_TELL = "unknown"
_LABELS = {
    **{"success": True, "true": True, "1": True},
    **{"failure": False, "false": False, "0": False},
    CANNOT_TELL: None,
}
ALLOWED = (
    "success or failure (also 1 or 0, true or false), unknown where nobody could tell; empty for a "
    "run without a label"
)
COLUMNS = ("run_id", "label", "task")
REPLACES = "replaces"


class LabelError(HarnessError):
    """A file of labels that cannot be read; the text names file, line and value."""


class Label(Record):
    """What a person says of one run."""

    run_id: str
    success: bool | None
    """Whether the post-condition held; None where nobody has said it yet, or nobody could."""
    cannot_tell: bool = False
    """Somebody looked and could not tell: neither a success nor a failure, and in no rate."""
    task: str = ""
    """Runs of one task are trials of the same thing; empty where the file does not say."""
    post_condition: str = ""
    """The sentence that it is about; empty where the file does not say."""


def read_labels(path: Path | str) -> dict[str, Label]:
    """The labels of a file, by run_id.

    Raises:
        LabelError: it cannot be read, a line has no run_id or another label than are allowed, or
            two lines say different things of one run.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise LabelError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise LabelError(f"{path}: no UTF-8 text ({error.reason} at byte {error.start})") from None
    read = _json_lines if text.lstrip().startswith("{") else _csv
    found: dict[str, Label] = {}
    first: dict[str, int] = {}
    for number, fields in read(path, text):
        label = _label(f"{path}, line {number}", fields)
        if fields.get(REPLACES) is True:
            found.pop(label.run_id, None)
            first.pop(label.run_id, None)
        before = found.get(label.run_id)
        if before is not None:
            label = _merged(f"{path}, line {number}", label, before, first[label.run_id])
        found[label.run_id] = label
        first.setdefault(label.run_id, number)
    return found


def _label(where: str, fields: Mapping[str, Any]) -> Label:
    run_id, said, task = (fields.get(name) for name in COLUMNS)
    if not isinstance(run_id, str) or not run_id.strip():
        raise LabelError(f"{where}: run_id is {run_id!r:.80}; it must be the text of a run_id")
    if task is not None and not isinstance(task, str):
        raise LabelError(f"{where}: task is {task!r:.80}; it must be text")
    sentence = fields.get("post_condition")
    # JSON has numbers and truth values beside words; 1.0 is neither.
    word = "" if said is None else str(said).strip().lower()
    if not isinstance(said, (str, int, type(None))) or (word and word not in _LABELS):
        raise LabelError(f"{where}: label is {said!r:.80}; allowed are {ALLOWED}")
    return Label(
        run_id=run_id.strip(),
        success=_LABELS[word] if word else None,
        cannot_tell=word == CANNOT_TELL,
        task=(task or "").strip(),
        post_condition=sentence if isinstance(sentence, str) else "",
    )


def _merged(where: str, label: Label, before: Label, line: int) -> Label:
    if _word(label) and _word(before) not in ("", _word(label)):
        raise LabelError(
            f"{where}: run {label.run_id} is labelled {_word(label)}, but "
            f"{_word(before)} above (it first stands in line {line}); keep one"
        )
    if label.task and before.task not in ("", label.task):
        raise LabelError(
            f"{where}: run {label.run_id} is of task {label.task!r}, but of {before.task!r} above "
            f"(it first stands in line {line}); keep one"
        )
    return Label(
        run_id=label.run_id,
        success=before.success if label.success is None else label.success,
        cannot_tell=before.cannot_tell or label.cannot_tell,
        task=label.task or before.task,
        post_condition=label.post_condition or before.post_condition,
    )


def _word(label: Label) -> str:
    """What is said; empty where nothing is."""
    if label.success is None:
        return CANNOT_TELL if label.cannot_tell else ""
    return "success" if label.success else "failure"


def _check_columns(where: str, names: list[str]) -> None:
    for name in names:
        near = difflib.get_close_matches(name, COLUMNS, n=1, cutoff=0.75)
        if near and name not in COLUMNS:
            raise LabelError(f"{where}: there is '{name}'; is '{near[0]}' meant?")
    for name in ("run_id", "label"):
        if name not in names:
            has = ", ".join(names) or "nothing"
            raise LabelError(f"{where}: no '{name}', but {has}; needed are run_id and label")


def _csv(path: Path, text: str) -> Iterator[tuple[int, dict[str, str]]]:
    head, _, _ = text.lstrip("\r\n").partition("\n")
    delimiter = next((mark for mark in ",;\t" if mark in head), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names: list[str] = []
    line = 1
    try:
        for cells in reader:
            where = f"{path}, line {line}"
            if not any(cell.strip() for cell in cells):
                pass
            elif not names:
                names = [cell.strip().lower() for cell in cells]
                _check_columns(where, [name for name in names if name])
            elif len(cells) > len(names):
                raise LabelError(
                    f"{where}: {len(cells)} values, but the header has {len(names)} columns; put "
                    "a value that holds the separator into quotation marks"
                )
            else:
                yield line, dict(zip(names, cells, strict=False))
            line = reader.line_num + 1
    except csv.Error as error:
        raise LabelError(f"{path}, line {line}: {error}") from None
    if not names:
        raise LabelError(f"{path}: empty; the first line must be run_id,label")


def _json_lines(path: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    # Not splitlines: text in JSON may hold line ends of Unicode.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            # Unlike json.loads it takes no half of a surrogate pair, which no file can hold.
            fields = from_json(line, allow_inf_nan=False)
        except ValueError as error:
            raise LabelError(f"{where}: no JSON: {error}") from None
        if not isinstance(fields, dict):
            raise LabelError(f'{where}: {line.strip()[:60]}; a line is {{"run_id": …, "label": …}}')
        _check_columns(where, list(fields))
        if not isinstance(fields.get(REPLACES, False), bool):
            raise LabelError(
                f"{where}: {REPLACES} is {fields[REPLACES]!r}; it must be true or false"
            )
        yield number, fields
