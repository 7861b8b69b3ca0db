# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A summary of any shape as tables that people can read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from harness_ros.grading.report.figures import interval
from harness_ros.grading.report.wording import percent, visible
from harness_ros.statistics import Rate

ELSEWHERE = frozenset({"disagreements", "mistakes", "problems"})
"""Keys of lists that the page shows in other places."""
_MOST_COLUMNS = 5


@dataclass(frozen=True)
class Table:
    """A table of texts."""

    title: str
    head: tuple[str, ...]
    """Empty where the rows are names and values."""
    rows: tuple[tuple[str, ...], ...]


def tables(summary: Mapping[str, Any], title: str = "") -> Iterator[Table]:
    """The summary in tables: first the plain values, then a table for each mapping in it.

    A mapping of mappings of the same keys is one table.
    """
    shown = {key: value for key, value in summary.items() if key not in ELSEWHERE}
    values = {key: value for key, value in shown.items() if _is_plain(value)}
    if values:
        rows = tuple((_name(key), _text(value)) for key, value in values.items())
        yield Table(title or "All", (), rows)
    for key, value in shown.items():
        if key in values:
            continue
        name = f"{title}, {_name(key)}" if title else _name(key).capitalize()
        if all(isinstance(item, Mapping) and not _is_rate(item) for item in value.values()):
            yield _crossed(name, value)
        else:
            yield from tables(value, name)


def _is_plain(value: object) -> bool:
    """Whether a value is told in a cell: no mapping, a rate, or a few counts."""
    if not isinstance(value, Mapping) or _is_rate(value):
        return True
    return all(isinstance(item, (int, float, str, type(None))) for item in value.values()) and (
        len(value) <= _MOST_COLUMNS
    )


def _is_rate(value: Mapping[str, Any]) -> bool:
    return value.keys() == Rate.model_fields.keys()


def _crossed(title: str, mapping: Mapping[str, Mapping[str, Any]]) -> Table:
    """Inner keys down the side, unless there are too many outer ones for a line."""
    inner = list(dict.fromkeys(key for item in mapping.values() for key in item))
    cells = {
        (outer, key): _text(item[key]) if key in item else ""
        for outer, item in mapping.items()
        for key in inner
    }
    if len(mapping) <= _MOST_COLUMNS:
        rows = tuple((_name(key), *(cells[outer, key] for outer in mapping)) for key in inner)
        return Table(title, ("", *map(visible, mapping)), rows)
    rows = tuple((visible(outer), *(cells[outer, key] for key in inner)) for outer in mapping)
    return Table(title, ("", *map(_name, inner)), rows)


def _name(key: object) -> str:
    return visible(str(key)).replace("_", " ")


def _text(value: object) -> str:
    if value is None or value in ([], (), {}):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        return _rate(value) or ", ".join(
            f"{_name(key)}: {_text(item)}" for key, item in value.items() if item is not None
        )
    if isinstance(value, (list, tuple)):
        separator = "; " if any(isinstance(item, Mapping) for item in value) else ", "
        return separator.join(map(_text, value))
    return visible(str(value))


def _rate(value: Mapping[str, Any]) -> str:
    if not _is_rate(value):
        return ""
    try:
        rate = Rate.model_validate(value)
    except ValidationError:
        return ""
    if rate.rate is None:
        return f"{rate.count} of {rate.of}"
    return f"{rate.count} of {rate.of}: {percent(rate.rate)} ({interval(rate)})"
