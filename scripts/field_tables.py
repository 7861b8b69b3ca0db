# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pydantic models as tables in Markdown: types in words, ranges, defaults, what each field says.

Types, ranges and choices are those of the JSON schema that pydantic makes of a model; what a field
says is the string under it.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from harness_ros.config import base

Schema = Mapping[str, Any]

NAMED_PATTERNS = {
    base.NAME_PATTERN: "name",
    get_args(base.Topic)[1].metadata[0].pattern: "topic",
    get_args(base.MessageType)[1].metadata[0].pattern: "message type, `package/msg/Type`",
}
"""What texts of these patterns are called."""
SIMPLE = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
}
WRITTEN_OUT = 4
"""Lists of a fixed length are written out up to this."""


class Row(NamedTuple):
    """One field of a model, or of a model inside of it."""

    key: str
    value: str
    """What may stand there, in words."""
    default: str
    text: str
    """What is written under the field; empty where nothing is."""


def rows(model: type[BaseModel], prefix: str = "") -> Iterator[Row]:
    """The fields of a model in the order in which they are written.

    Those of nested models come after the field that holds them; a model that was told of already is
    referred to.
    """
    schema = model.model_json_schema()
    yield from _Walk(schema.get("$defs", {}), _models(model)).rows(model, schema, prefix)


def table(found: Iterator[Row] | list[Row]) -> str:
    """Rows as a table in Markdown."""
    lines = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for row in found:
        cells = (f"`{row.key}`", row.value, row.default, row.text)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


@cache
def field_texts(model: type) -> dict[str, str]:
    """What is written under the fields of a model, or of an Enum, its bases included."""
    texts: dict[str, str] = {}
    for parent in reversed(model.__mro__):
        if not parent.__module__.startswith("harness_ros"):
            continue
        tree = ast.parse(inspect.getsource(sys.modules[parent.__module__]))
        (body,) = (
            item.body
            for item in tree.body
            if isinstance(item, ast.ClassDef) and item.name == parent.__name__
        )
        for field, below in pairwise(body):
            if not (isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)):
                continue
            if isinstance(field, (ast.Assign, ast.AnnAssign)):
                target = field.targets[0] if isinstance(field, ast.Assign) else field.target
                texts[ast.unparse(target)] = " ".join(str(below.value.value).split())
    return texts


def _models(model: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """A model and all models inside of it, by the names that JSON schemas give them."""
    found: dict[str, type[BaseModel]] = {}
    wanted: list[Any] = [model]
    while wanted:
        item = wanted.pop()
        # In Python 3.10 `tuple[int]` is a type too.
        if isinstance(item, type) and not get_args(item) and issubclass(item, BaseModel):
            if item.__name__ not in found:
                found[item.__name__] = item
                wanted += [field.annotation for field in item.model_fields.values()]
        else:
            wanted += get_args(item)
    return found


class _Walk:
    def __init__(self, schemas: Schema, models: Mapping[str, type[BaseModel]]) -> None:
        self._schemas = schemas
        self._models = models
        self._told: dict[str, str] = {}
        """The key under which the fields of a model were told, by the name of the model."""

    def rows(self, model: type[BaseModel], schema: Schema, prefix: str) -> Iterator[Row]:
        texts = field_texts(model)
        for name, field in model.model_fields.items():
            key = f"{prefix}{field.alias or name}"
            value = schema["properties"][field.alias or name]
            inside = list(_inside(value))
            text = texts.get(name, "")
            again = [self._told[part] for _, part in inside if part in self._told]
            if again:
                text = f"{text} Keys as under `{again[0]}`."
            yield Row(key, self.words(value), _default(field, bool(inside)), text)
            found = {}
            for step, part in inside:
                if part in self._told:
                    continue
                self._told[part] = key
                variant = _variant(self._schemas[part]) if len(inside) > 1 else ""
                found[variant] = list(
                    self.rows(self._models[part], self._schemas[part], f"{key}{step}.")
                )
            yield from _of_variants(found)

    def words(self, value: Schema) -> str:
        """What may stand there."""
        choices = value.get("enum", [value["const"]] if "const" in value else [])
        if choices:
            return _or([f"`{choice}`" for choice in choices])
        parts = [item for item in _alternatives(value) if item.get("type") != "null"]
        if parts:
            return _or(list(dict.fromkeys(self.words(item) for item in parts)))
        if "$ref" in value:
            return "anything" if value["$ref"].endswith("/JsonValue") else "section"
        kind = value.get("type")
        if kind == "array":
            return self._list(value)
        if kind == "object":
            return self._mapping(value)
        if kind is None:
            return "anything"
        named = NAMED_PATTERNS.get(value.get("pattern", ""), SIMPLE[kind])
        return ", ".join([named, *_bounds(value)])

    def _list(self, value: Schema) -> str:
        fixed = [self.words(item) for item in value.get("prefixItems", [])]
        if not fixed:
            return f"list of {self.words(value.get('items', {}))}"
        if len(fixed) > WRITTEN_OUT and len(set(fixed)) == 1:
            return f"list of {len(fixed)}: {fixed[0]}"
        return f"[{', '.join(fixed)}]"

    def _mapping(self, value: Schema) -> str:
        patterns = value.get("patternProperties", {})
        inner = value.get("additionalProperties") or next(iter(patterns.values()), {})
        pattern = next(iter(patterns), "")
        keys = NAMED_PATTERNS.get(pattern, "text")
        if "propertyNames" in value:
            keys = self.words(value["propertyNames"])
        return f"mapping of {keys} to {self.words({} if inner is True else inner)}"


def _or(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _alternatives(value: Schema) -> list[Any]:
    return [*value.get("anyOf", []), *value.get("oneOf", [])]


def _inside(value: Schema, step: str = "") -> Iterator[tuple[str, str]]:
    """The names of the models inside of a value, each with the step that leads to it."""
    if "$ref" in value:
        name = value["$ref"].rsplit("/", 1)[1]
        if name != "JsonValue":
            yield step, name
    for item in _alternatives(value):
        yield from _inside(item, step)
    if isinstance(value.get("items"), dict):
        yield from _inside(value["items"], f"{step}[]")
    for item in (value.get("additionalProperties"), *value.get("patternProperties", {}).values()):
        if isinstance(item, dict):
            yield from _inside(item, f"{step}.<name>")


def _variant(schema: Schema) -> str:
    """What tells a model from the others that may stand in its place."""
    fixed = [
        f"`{name}: {value['const']}`"
        for name, value in schema["properties"].items()
        if "const" in value
    ]
    return f"with {' and '.join(fixed)}" if fixed else ""


def _of_variants(found: Mapping[str, list[Row]]) -> Iterator[Row]:
    """The rows of models that may stand in each other's place, by what tells each from the others.

    What all of them have is told once, before what each has alone.
    """
    if not found:
        return
    first = next(iter(found.values()))
    keys = [{row.key for row in rows} for rows in found.values()]
    shared = [row.key for row in first if all(row.key in of_one for of_one in keys)]
    # What is inside of a section was told of with the first alone.
    below = tuple(f"{key}{step}" for key in shared for step in (".", "[]."))
    told = {row.key for row in first if row.key in shared or row.key.startswith(below)}
    for row in first:
        if row.key in told:
            same = {name: _row_of(row.key, rows) for name, rows in found.items()}
            yield _merged(row, {name: other for name, other in same.items() if other is not None})
    for variant, rows_of_one in found.items():
        for row in rows_of_one:
            if row.key not in told:
                yield row._replace(value=f"{row.value} ({variant})" if variant else row.value)


def _row_of(key: str, rows_of_one: list[Row]) -> Row | None:
    return next((row for row in rows_of_one if row.key == key), None)


def _merged(row: Row, others: Mapping[str, Row]) -> Row:
    """A row that all variants have, with the values and defaults that differ."""
    values = list(dict.fromkeys(other.value for other in others.values()))
    if len(values) > 1:
        return row._replace(value=_or(values))
    differing = [
        f"{other.default} {variant}"
        for variant, other in others.items()
        if other.default != row.default
    ]
    return row._replace(default="; ".join([row.default, *differing]))


def _bounds(value: Schema) -> Iterator[str]:
    if "minimum" in value and "maximum" in value:
        yield f"{value['minimum']:g} to {value['maximum']:g}"
        return
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    for name, sign in signs.items():
        if name in value:
            yield f"{sign} {value[name]:g}"
    least, most = value.get("minLength", 0), value.get("maxLength")
    if most is not None:
        yield f"{least} to {most} characters"
    elif least:
        yield "not empty"


def _default(field: FieldInfo, nested: bool) -> str:
    if field.is_required():
        return "**needed**"
    value = field.get_default(call_default_factory=True)
    if value is None or nested or value == "":
        return ""
    if isinstance(value, (tuple, list, dict, set, frozenset)):
        return "`{}`" if isinstance(value, dict) else f"`{list(value)}`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"
