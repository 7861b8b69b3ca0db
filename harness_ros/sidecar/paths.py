# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Paths into JSON: `tests.failed`, `files[0].name`, `files[-1]`, `notes["a.b"]`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

STEP = re.compile(r"""(?:^|\.)([^.\[\]"']+)|\[(-?\d{1,9})\]|\["([^"]*)"\]""")
"""A key at the beginning or after a dot, an index, or a key in quotes."""


class Absent:
    """The type of `ABSENT`."""


ABSENT = Absent()
"""What is at a path that leads nowhere."""


def is_path(text: str) -> bool:
    """Whether a text can be read as a path; the empty one is all."""
    return sum(len(step[0]) for step in _steps(text)) == len(text)


def value_at(value: Any, path: str) -> Any:
    """What is at a path, or `ABSENT`."""
    for step in _steps(path):
        key = step[3] if step[3] is not None else step[1]
        if key is not None:
            value = value.get(key, ABSENT) if isinstance(value, Mapping) else ABSENT
        else:
            at = int(step[2])
            inside = isinstance(value, list) and -len(value) <= at < len(value)
            value = value[at] if inside else ABSENT
    return value


def _steps(path: str) -> list[re.Match[str]]:
    found: list[re.Match[str]] = []
    while match := STEP.match(path, found[-1].end() if found else 0):
        found.append(match)
    return found
