# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`{argument}` and `{argument.property}` in post-conditions, criteria and effects.

A value of a run's argument is put in only when it matches the rule that the configuration gives
for that argument, so that no text of the agent's choosing reaches a judge. `{argument.property}`
reads a property of the object that the argument names (its tag, its colour range); a property may
be nested. A string that is one placeholder and nothing else keeps the property's type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from harness_ros.contract import HarnessError

PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)((?:\.\w+)*)\}")


class PlaceholderError(HarnessError):
    """A placeholder that cannot be filled."""


def names(template: Any) -> Iterator[tuple[str, str]]:
    """Each placeholder in a nested template as (argument, dotted property or empty)."""
    if isinstance(template, str):
        for match in PLACEHOLDER.finditer(template):
            yield match[1], match[2][1:]
    elif isinstance(template, Mapping):
        for value in template.values():
            yield from names(value)
    elif isinstance(template, (list, tuple)):
        for value in template:
            yield from names(value)


def fill(
    template: Any, arguments: Mapping[str, str], objects: Mapping[str, Mapping[str, JsonValue]]
) -> Any:
    """The template with every placeholder replaced.

    Args:
        template: a string, or nested lists and mappings of them; other values stay as they are.
        arguments: argument name to its checked value.
        objects: object name to its properties.

    Raises:
        PlaceholderError: an argument, object or property is missing.
    """
    if isinstance(template, str):
        whole = PLACEHOLDER.fullmatch(template)
        if whole:
            return _value(whole[1], whole[2][1:], arguments, objects)
        return PLACEHOLDER.sub(lambda m: str(_value(m[1], m[2][1:], arguments, objects)), template)
    if isinstance(template, Mapping):
        return {key: fill(value, arguments, objects) for key, value in template.items()}
    if isinstance(template, (list, tuple)):
        return [fill(value, arguments, objects) for value in template]
    return template


def _value(
    argument: str,
    path: str,
    arguments: Mapping[str, str],
    objects: Mapping[str, Mapping[str, JsonValue]],
) -> JsonValue:
    if argument not in arguments:
        raise PlaceholderError(
            f"{{{argument}}} has no value; the arguments are {sorted(arguments)}"
        )
    name = arguments[argument]
    if not path:
        return name
    if name not in objects:
        raise PlaceholderError(
            f"{{{argument}.{path}}}: '{name}' is not under `objects`, which has {sorted(objects)}"
        )
    value: JsonValue = dict(objects[name])
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            known = sorted(value) if isinstance(value, Mapping) else "none"
            raise PlaceholderError(
                f"{{{argument}.{path}}}: objects.{name} has no property '{key}'; it has {known}"
            )
        value = value[key]
    return value
