# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`json_assertions`: which share of a list of assertions holds of the end state.

An assertion is an object: `path` says where to look, `op` what to ask, `value` what for, `not`
turns the answer round. Nothing of it is ever run as code.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

from pydantic import ConfigDict, Field, JsonValue, TypeAdapter, ValidationError, model_validator

from harness_ros.contract import Record
from harness_ros.sidecar.paths import ABSENT, is_path, value_at
from harness_ros.sidecar.verifier import give_reason

Op = Literal[
    "exists",
    "equals",
    "less",
    "at_most",
    "greater",
    "at_least",
    "contains",
    "one_of",
    "length",
    "type",
    "like",
]
TYPES: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "number": (int, float),
    "text": (str,),
    "list": (list,),
    "object": (dict,),
}


class Assertion(Record):
    """One thing that should hold of the end state."""

    model_config = ConfigDict(populate_by_name=True)

    path: str
    """Where to look: `tests.failed`, `files[0].name`, `files[-1]`, `notes["a.b"]`; empty is all."""
    op: Op = "equals"
    """`exists`; `equals`; `less`, `at_most`, `greater`, `at_least` for numbers; `contains` an item,
    a key or a part of a text; `one_of` a list; `length`; `type` (`null`, `boolean`, `number`,
    `text`, `list`, `object`); `like`, a text with `*` and `?`."""
    value: JsonValue = None
    """What it is compared with; not for `exists`."""
    negated: bool = Field(default=False, alias="not")
    """Holds where it otherwise would not; a path that is not there still fails it, but for
    `exists`."""

    @model_validator(mode="after")
    def _fits(self) -> Assertion:
        problem = self._problem()
        if problem:
            raise ValueError(problem)
        return self

    def _problem(self) -> str:
        if not is_path(self.path):
            return f'path {self.path!r} cannot be read: `a.b[0]` or `a["b"]` is wanted'
        given = "value" in self.model_fields_set
        if self.op == "exists":
            return "`exists` has no `value`" if given else ""
        if not given:
            return f"`{self.op}` wants a `value`"
        if self.op in ("less", "at_most", "greater", "at_least") and not _is_number(self.value):
            return f"`{self.op}` wants a number as `value`"
        if self.op == "length" and type(self.value) is not int:
            return "`length` wants a whole number as `value`"
        if self.op == "one_of" and not isinstance(self.value, list):
            return "`one_of` wants a list as `value`"
        if self.op == "type" and self.value not in TYPES:
            return f"`type` wants one of {list(TYPES)} as `value`"
        if self.op == "like" and not isinstance(self.value, str):
            return "`like` wants text as `value`"
        return ""

    def holds(self, end_state: Any) -> bool:
        """Whether it holds; a path that is not there, or another type than is asked for, fails."""
        found = value_at(end_state, self.path)
        if self.op == "exists":
            return (found is not ABSENT) is not self.negated
        if found is ABSENT:
            return False
        return _OPS[self.op](found, self.value) is not self.negated

    def __str__(self) -> str:
        value = "" if self.op == "exists" else f" {self.value!r}"
        return f"{self.path or '(all)'} {'not ' if self.negated else ''}{self.op}{value}"


_LIST: TypeAdapter[tuple[Assertion, ...]] = TypeAdapter(tuple[Assertion, ...])


def json_assertions(
    session_id: str, end_state: dict[str, Any], *, assertions: Sequence[Any] | None = None
) -> float | None:
    """The share of the assertions that hold of `end_state`.

    Args:
        assertions: those to look at; without any, those that `end_state["assertions"]` lists. Where
            both are there, these alone count.
    """
    listed = end_state.get("assertions") if assertions is None else assertions
    if not listed:
        give_reason("there are no assertions: neither as option nor in end_state.assertions")
        return None
    try:
        read = _LIST.validate_python(listed)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        give_reason(f"assertions.{where}: {first['msg']} (value: {str(first['input'])[:120]})")
        return None
    missed = [str(assertion) for assertion in read if not assertion.holds(end_state)]
    held = len(read) - len(missed)
    give_reason(
        "; ".join([f"{held} of {len(read)} assertions hold", *(f"not: {m}" for m in missed)])
    )
    return held / len(read)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _same(found: Any, wanted: Any) -> bool:
    """As JSON compares: 1 is 1.0, but true is not 1."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(_same, found, wanted))
    if isinstance(found, dict) and isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(_same(found[k], wanted[k]) for k in found)
    return bool(found == wanted)


def _contains(found: Any, wanted: Any) -> bool:
    if isinstance(found, str):
        return isinstance(wanted, str) and wanted in found
    if isinstance(found, dict):
        return isinstance(wanted, str) and wanted in found
    return isinstance(found, list) and any(_same(item, wanted) for item in found)


def _type(found: Any, wanted: Any) -> bool:
    if isinstance(found, bool):
        return bool(wanted == "boolean")
    return isinstance(found, TYPES[wanted])


_OPS: dict[str, Callable[[Any, Any], bool]] = {
    "equals": _same,
    "less": lambda found, wanted: _is_number(found) and found < wanted,
    "at_most": lambda found, wanted: _is_number(found) and found <= wanted,
    "greater": lambda found, wanted: _is_number(found) and found > wanted,
    "at_least": lambda found, wanted: _is_number(found) and found >= wanted,
    "contains": _contains,
    "one_of": lambda found, wanted: any(_same(found, item) for item in wanted),
    "length": lambda found, wanted: isinstance(found, (str, list, dict)) and len(found) == wanted,
    "type": _type,
    "like": lambda found, wanted: isinstance(found, str) and fnmatch.fnmatchcase(found, wanted),
}
