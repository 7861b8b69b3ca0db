# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures that criteria name by `file:`: put into the configuration when it is loaded.

A criterion then says all that it means: judges need no files, and the hash of the criteria changes
when a picture does. Values of `objects` are looked at where a criterion asks for them by
`{argument.property}`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness_ros import placeholders
from harness_ros.config.evaluation import EvaluationConfig
from harness_ros.config.wording import short
from harness_ros.contract import HarnessError
from harness_ros.judges.checks.reference import Reference

PREFIX = "file:"
MAX_BYTES = 1_000_000
"""A criterion goes to the judge with every question."""


class PictureFileError(HarnessError):
    """A file that is no picture to compare with; the text says why."""


def with_pictures(config: EvaluationConfig, folder: Path) -> tuple[EvaluationConfig, list[str]]:
    """The configuration with every `file:` of a criterion replaced by a data URI (RFC 2397).

    Args:
        folder: what paths are relative to.

    Returns:
        The configuration, and what is wrong, one line each with key and value.
    """
    problems: list[str] = []

    def replaced(value: Any, where: str) -> Any:
        return _replaced(value, where, lambda text, key: _picture(text, key, folder, problems))

    tools = {
        name: tool.model_copy(
            update={"criterion": replaced(tool.criterion, f"tools.{name}.criterion")}
        )
        for name, tool in config.tools.items()
    }
    asked_for = {
        path.split(".")[0]
        for tool in config.tools.values()
        for _, path in placeholders.names(tool.criterion)
    }
    objects = {
        name: {
            key: replaced(value, f"objects.{name}.{key}") if key in asked_for else value
            for key, value in properties.items()
        }
        for name, properties in config.objects.items()
    }
    return config.model_copy(update={"tools": tools, "objects": objects}), problems


def _replaced(value: Any, where: str, picture: Callable[[str, str], str]) -> Any:
    """A nested value with each string that begins with `file:` replaced."""
    if isinstance(value, str):
        return picture(value, where) if value.startswith(PREFIX) else value
    if isinstance(value, dict):
        return {key: _replaced(item, f"{where}.{key}", picture) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replaced(item, f"{where}[{at}]", picture) for at, item in enumerate(value)]
    return value


def _picture(text: str, where: str, folder: Path, problems: list[str]) -> str:
    try:
        return read_picture(text, folder).uri
    except HarnessError as error:
        problems.append(f"{where}: {error} (value: {short(text)})")
        return text


def read_picture(text: str, folder: Path) -> Reference:
    """The picture that `file:` and a path name.

    Raises:
        PictureFileError: it cannot be read, is too large, or no picture of 8 bit.
    """
    if placeholders.PLACEHOLDER.search(text):
        raise PictureFileError(
            "a path cannot hold a placeholder; give each thing under `objects` a property with its "
            "own `file:`, and write {argument.property} here"
        )
    path = folder / text.removeprefix(PREFIX)
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise PictureFileError(
                f"{path} has {size} bytes, at most {MAX_BYTES} are allowed: cut it to the region "
                "that is compared"
            )
        return Reference(path.read_bytes())
    except OSError as error:
        raise PictureFileError(f"{path}: {error.strerror or error}") from None
    except PictureFileError:
        raise
    except HarnessError as error:
        raise PictureFileError(f"{path}: {error}") from None
