# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What metadata.yaml says of a bag. Nothing is read by it: it is compared with what is there."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import yaml

from harness_ros.bag.storage.records import Problems, said

NAME = "metadata.yaml"
KEY = "rosbag2_bagfile_information"
MOST_BYTES = 64 << 20


class Metadata(NamedTuple):
    """The part of it that can be compared."""

    files: tuple[str, ...]
    """Names of files in the folder, in the order of recording."""
    messages: int | None
    """How many are in all of them."""


def read(folder: Path, problems: Problems) -> Metadata | None:
    """metadata.yaml of a folder; None where there is none that says something."""
    path = folder / NAME
    if not path.is_file():
        problems.say(folder, f"no {NAME} (was the recorder killed?): the files were read without")
        return None
    try:
        size = path.stat().st_size
        if size == 0:
            raise ValueError("it is empty")
        if size > MOST_BYTES:
            raise ValueError(f"it has {size} bytes")
        text = path.read_text(encoding="utf-8", errors="replace")
        content = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return _metadata(content)
    except (OSError, ValueError, TypeError, RecursionError, yaml.YAMLError) as error:
        problems.say(path, f"not used ({said(error)}): the files were read without")
        return None


def _metadata(content: Any) -> Metadata:
    if not isinstance(content, dict) or not isinstance(content.get(KEY), dict):
        raise ValueError(f"it has no key {KEY}")
    information = content[KEY]
    names = information.get("relative_file_paths")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("relative_file_paths is no list of names")
    count = information.get("message_count")
    # Before version 4 the names were relative to the folder above.
    files = tuple(PurePosixPath(name).name for name in names)
    return Metadata(files, count if isinstance(count, int) else None)


def compare(
    folder: Path, metadata: Metadata, there: list[str], count: int | None, problems: Problems
) -> None:
    """Says where metadata.yaml and the files differ.

    Args:
        there: names of the files.
        count: messages in them; None where that is not known.
    """
    path = folder / NAME
    missing = [name for name in metadata.files if name not in there]
    if missing:
        problems.say(path, f"names files that are not there: {', '.join(missing)}")
    unnamed = [name for name in there if name not in metadata.files]
    if unnamed:
        problems.say(path, f"does not name {', '.join(unnamed)}: read as well")
    if count is not None and metadata.messages is not None and count != metadata.messages:
        problems.say(path, f"counts {metadata.messages} messages, the files have {count}")
