# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Message definitions: the standard ones, and those of installed packages from their .msg files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from harness_ros.contract import HarnessError

FieldDescription = tuple[Any, Any]
"""Node type and detail of a field, as rosbags parses it."""

NOT_SUPPORTED = ("wstring", "wchar")
"""Types of fields that the grammar of the reader takes for names of messages."""


class DefinitionError(HarnessError):
    """A message type whose definition is not found, or cannot be read."""


class Definitions:
    """Finds definitions as they are needed.

    Args:
        typestore: where they are kept; the standard ones of ROS 2 Jazzy by default.
    """

    def __init__(self, typestore: Typestore | None = None) -> None:
        self.typestore = typestore or get_typestore(Stores.ROS2_JAZZY)

    def find(self, message_type: str) -> None:
        """Makes sure that a type and all that it refers to are known.

        Raises:
            DefinitionError: one of them is neither standard nor installed, or cannot be read.
        """
        found: dict[str, Any] = {}
        wanted = [(message_type, "")]
        while wanted:
            name, needed_by = wanted.pop()
            if name in self.typestore.fielddefs or name in found:
                continue
            types = _installed(name, needed_by)
            found.update(types)
            wanted += [(part, name) for part in _parts(types)]
        if not found:
            return
        try:
            self.typestore.register(found)
        except Exception as error:
            # It runs code that it writes from the definitions, and raises what that raises.
            raise DefinitionError(f"definitions of {', '.join(found)}: {error}") from error

    def fields(self, message_type: str) -> dict[str, FieldDescription]:
        """Fields of a type by name, in the order of the definition.

        Raises:
            DefinitionError: see `find`.
        """
        self.find(message_type)
        return dict(self.typestore.fielddefs[message_type][1])


LATER_FIELDS = {"harness_ros/msg/Verdict": ("confidence", "usage", "error_card")}
"""Fields that a type has not had from its beginning; recordings of before lack them."""


def difference(
    message_type: str,
    found: Iterable[tuple[str, FieldDescription]],
    expected: Iterable[tuple[str, FieldDescription]],
) -> str:
    """Where a definition lacks the fields of another in their order; empty where it has them.

    Further fields are no difference: later versions of a type may have them.
    """
    have, wanted = dict(found), dict(expected)
    for name in LATER_FIELDS.get(message_type, ()):
        if name not in have:
            wanted.pop(name, None)
    for name, field in wanted.items():
        if name not in have:
            return f"it has no field '{name}'"
        if have[name] != field:
            return f"its field '{name}' is of another type"
    if [name for name in have if name in wanted] != list(wanted):
        return f"its fields are in another order than {', '.join(wanted)}"
    return ""


def is_array(field: FieldDescription) -> bool:
    """Whether a field is an array or a sequence."""
    return field[0] in (Nodetype.ARRAY, Nodetype.SEQUENCE)


def most_elements(field: FieldDescription) -> int | None:
    """How many elements an array or a bounded sequence may have; None where there is no limit."""
    return int(field[1][1]) or None if is_array(field) else None


def message_type_of(field: FieldDescription) -> str | None:
    """The message type that a field or its elements hold; None for numbers and text."""
    node, detail = field
    if is_array(field):
        return message_type_of(detail[0])
    return str(detail) if node == Nodetype.NAME else None


def base_type_of(field: FieldDescription) -> str:
    """What a field or its elements are, where that is no message: `float64`, `string`."""
    _, detail = field
    return base_type_of(detail[0]) if is_array(field) else str(detail[0])


def _installed(message_type: str, needed_by: str) -> dict[str, Any]:
    package, kind, name = [*message_type.split("/"), "", ""][:3]
    if not name:
        raise DefinitionError(f"'{message_type}' is no message type; package/msg/Name is wanted")
    if name in NOT_SUPPORTED:
        raise DefinitionError(f"{needed_by} has a field of type {name}, which is not supported")
    looked_at = []
    for prefix in _prefixes():
        path = prefix / "share" / package / kind / f"{name}.msg"
        looked_at.append(str(path))
        if path.is_file():
            try:
                return dict(get_types_from_msg(path.read_text(encoding="utf-8"), message_type))
            except Exception as error:
                # The grammar of the reader raises what it likes on a damaged file.
                raise DefinitionError(f"{path}: no message definition{_from(error)}") from error
    reason = f" (needed by {needed_by})" if needed_by else ""
    places = ", ".join(looked_at) or "no prefix, AMENT_PREFIX_PATH is empty"
    raise DefinitionError(
        f"message type {message_type}{reason} is not installed; looked at {places}"
    )


def _from(error: Exception) -> str:
    """Where the reader gave up, as far as it says so: the fourth line of its text is that line."""
    lines = str(error).splitlines()
    return f" from '{lines[3].strip()}' on" if len(lines) > 3 else f": {' '.join(lines)}"


def _prefixes() -> Iterator[Path]:
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        if prefix:
            yield Path(prefix)


def _parts(types: dict[str, Any]) -> set[str]:
    """Message types that the fields of these types refer to."""
    fields = [field for _, fields in types.values() for _, field in fields]
    return {part for field in fields if (part := message_type_of(field)) is not None}
