# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Paths into messages: `position[0]`, `wrench.force.z`, `position[finger_joint]`.

An index that is no number is looked up in the field `name` or `joint_names` of the same message, or
of the nearest one around it, as sensor_msgs/JointState and trajectory_msgs/JointTrajectory pair
names with values: joints keep their names when a driver changes their order.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from harness_ros.capture.definitions import (
    Definitions,
    FieldDescription,
    base_type_of,
    is_array,
    message_type_of,
    most_elements,
)
from harness_ros.contract import HarnessError

NAMES = ("name", "joint_names")
"""Fields that name the elements of their neighbours, and of what is inside those."""

_STEP = re.compile(r"([A-Za-z_]\w*)(?:\[([\w/-]+)\])?")
_NUMBERS = re.compile(r"bool|byte|char|octet|u?int(8|16|32|64)|float(32|64)")


class FieldError(HarnessError):
    """A path that leads to no number, in a type or in one message."""


def check(definitions: Definitions, message_type: str, path: str) -> None:
    """Follows a path through the definition of a type.

    Raises:
        FieldError: it does not lead to a number; the text says what is there.
        DefinitionError: a type on the way is not installed.
    """
    at: str | None = message_type
    walked = message_type
    named = False
    for name, index in _steps(path):
        if at is None:
            raise FieldError(f"{path}: {walked} is no message, it has no field '{name}'")
        fields = definitions.fields(at)
        if name not in fields:
            raise FieldError(f"{path}: {at} has no field '{name}'; it has {list(fields)}")
        field = fields[name]
        if is_array(field) and not index:
            raise FieldError(f"{path}: '{name}' of {at} is an array: give an index, '{name}[0]'")
        if not is_array(field) and index:
            raise FieldError(f"{path}: '{name}' of {at} is no array, it has no [{index}]")
        named = named or _has_names(fields)
        if index and not index.isdigit() and not named:
            raise FieldError(
                f"{path}: {at} has no list of names {' or '.join(NAMES)} to look up '{index}' in; "
                f"it has {list(fields)}"
            )
        size = most_elements(field)
        if index.isdigit() and size is not None and int(index) >= size:
            raise FieldError(
                f"{path}: '{name}' of {at} has at most {size} elements, 0 to {size - 1}"
            )
        at, walked = message_type_of(field), f"'{name}' of {at}"
        if at is None and not _NUMBERS.fullmatch(base_type_of(field)):
            raise FieldError(f"{path}: {walked} is {base_type_of(field)}; a number is wanted")
    if at is not None:
        raise FieldError(
            f"{path}: {walked} is the message {at}; a number in it is wanted: "
            f"{list(definitions.fields(at))}"
        )


def read(message: Any, path: str) -> float:
    """The number that a path leads to in one message.

    Raises:
        FieldError: the message has no such element.
    """
    value = message
    holders: list[Any] = []
    for name, index in _steps(path):
        holders.append(value)
        try:
            value = getattr(value, _attribute(name))
        except AttributeError:
            raise FieldError(f"{path}: no field '{name}'") from None
        if index:
            if not hasattr(value, "__len__"):
                raise FieldError(f"{path}: '{name}' is no array, it has no [{index}]")
            position = int(index) if index.isdigit() else _place(holders, index, path)
            if position >= len(value):
                raise FieldError(f"{path}: '{name}' has {len(value)} elements, [{index}] is none")
            value = value[position]
    if not isinstance(value, (bool, int, float, np.generic)):
        raise FieldError(f"{path} is {value!r}, which is no number")
    return float(value)


def _steps(path: str) -> Iterator[tuple[str, str]]:
    for match in _STEP.finditer(path):
        yield match[1], match[2] or ""


def _attribute(name: str) -> str:
    """What the reader of messages calls a field whose name Python has taken."""
    return f"{name}_" if keyword.iskeyword(name) else name


def _has_names(fields: Mapping[str, FieldDescription]) -> bool:
    found = [fields[known] for known in NAMES if known in fields]
    return any(is_array(field) and base_type_of(field) == "string" for field in found)


def _place(holders: Sequence[Any], wanted: str, path: str) -> int:
    for holder in reversed(holders):
        for known in NAMES:
            names = getattr(holder, known, None)
            if isinstance(names, list):
                if wanted not in names:
                    raise FieldError(f"{path}: no '{wanted}' in this message; it has {names}")
                return names.index(wanted)
    raise FieldError(f"{path}: no list of names {' or '.join(NAMES)} in this message")
