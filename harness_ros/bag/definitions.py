# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Message definitions for bags: the standard ones, and those of harness_ros from its .msg files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from harness_ros.capture.definitions import DefinitionError


def typestore() -> Typestore:
    """A type store with the messages of ROS 2 Jazzy and of harness_ros.

    Raises:
        DefinitionError: no folder with the .msg files is found.
    """
    store = get_typestore(Stores.ROS2_JAZZY)
    types = {}
    for path in sorted(_message_folder().glob("*.msg")):
        types.update(get_types_from_msg(path.read_text(), f"harness_ros/msg/{path.stem}"))
    store.register(types)
    return store


@cache
def standard_types() -> Mapping[str, Any]:
    """Parsed definitions by `package/msg/Type`, of ROS 2 Jazzy and of harness_ros."""
    return dict(typestore().fielddefs)


def definition(store: Typestore, message_type: str) -> str:
    """The text of a type and of all that it refers to, as a bag carries it.

    Raises:
        TypesysError: the type store does not know one of them.
    """
    text, _ = store.generate_msgdef(message_type, ros_version=2)
    return STRING_CONSTANT.sub(_quoted, text)


STRING_CONSTANT = re.compile(r"^(w?string(?:<=\d+)? \w+)=(.*)$", re.MULTILINE)


def _quoted(constant: re.Match[str]) -> str:
    # The type store leaves quotes out, and then no reader understands an empty value.
    quote = "'" if '"' in constant[2] else '"'
    return f"{constant[1]}={quote}{constant[2]}{quote}"


def _message_folder() -> Path:
    looked_at = list(_candidates())
    for folder in looked_at:
        if (folder / "ToolRun.msg").is_file():
            return folder
    raise DefinitionError(
        f"ToolRun.msg of harness_ros is in none of {[str(folder) for folder in looked_at]}"
    )


def _candidates() -> Iterator[Path]:
    yield Path(__file__).parents[1] / "interfaces"
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        if prefix:
            yield Path(prefix) / "share" / "harness_ros" / "msg"
    yield Path(__file__).resolve().parents[2] / "msg"
