# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which files a bag has, and what they are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from harness_ros.bag.storage import mcap_records, metadata, sqlite_opening
from harness_ros.bag.storage.compression import ZSTD_MAGIC
from harness_ros.bag.storage.records import BagReadError, Problems, said

SUFFIXES = (".mcap", ".db3")
PACKED = ".zstd"
NAMES = (*SUFFIXES, *(suffix + PACKED for suffix in SUFFIXES))
ROS_1 = b"#ROSBAG V"


class Format(NamedTuple):
    """What a file is."""

    is_mcap: bool
    """Else it is SQLite."""
    is_packed: bool
    """Whether it is compressed as a whole: compression mode FILE."""


def files(path: Path, problems: Problems) -> list[Path]:
    """The files of a bag, in the order of their numbers.

    Raises:
        BagReadError: there are none.
    """
    try:
        if not path.exists():
            raise BagReadError(f"{path}: no such file or folder")
        if path.is_file():
            return [path]
        names = sorted((item.name for item in path.iterdir()), key=_by_number)
        found = [name for name in names if name.endswith(NAMES)]
        twice = {name for name in found if name.removesuffix(PACKED) != name}
        twice &= {name + PACKED for name in found}
        if twice:
            problems.say(
                path,
                f"{', '.join(sorted(twice))} is there uncompressed as well, which was read",
            )
        if found:
            return [path / name for name in found if name not in twice]
        raise BagReadError(_no_bag(path, names))
    except OSError as error:
        raise BagReadError(f"{path}: cannot be read: {said(error)}") from error


def format_of(path: Path) -> Format:
    """What a file is: by its first bytes, or by its name where these say nothing.

    Raises:
        BagReadError: it is empty, or neither says that it belongs to a bag.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(16)
    plain = path.name.removesuffix(PACKED)
    if head.startswith(ROS_1) or (not head and path.suffix == ".bag"):
        raise BagReadError(_ros_1(path))
    if head.startswith(mcap_records.MAGIC):
        return Format(is_mcap=True, is_packed=False)
    if head.startswith(sqlite_opening.MAGIC):
        return Format(is_mcap=False, is_packed=False)
    if not plain.endswith(SUFFIXES):
        raise BagReadError(f"{path}: no bag; a rosbag2 folder, .mcap or .db3 is wanted")
    if not head:
        raise BagReadError(f"{path}: cannot be read as a bag: it is empty (0 bytes)")
    is_packed = plain != path.name or head.startswith(ZSTD_MAGIC)
    return Format(plain.endswith(SUFFIXES[0]), is_packed)


def _by_number(name: str) -> list[tuple[int, str]]:
    """Key that puts bag_2 before bag_10."""
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    return [(int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in parts]


def _no_bag(folder: Path, names: list[str]) -> str:
    if old := [name for name in names if name.endswith(".bag")]:
        return _ros_1(folder / old[0])
    text = f"{folder}: no bag; it holds neither .mcap nor .db3"
    if metadata.NAME in names:
        text += f", the {metadata.NAME} alone"
    below = [
        name
        for name in names
        if (folder / name).is_dir()
        and any(item.name.endswith(NAMES) for item in (folder / name).iterdir())
    ]
    return f"{text}; bags are in its folders {', '.join(below)}" if below else text


def _ros_1(path: Path) -> str:
    target = path.with_suffix("") if path.suffix else path.with_name(f"{path.name}_ros2")
    return (
        f"{path}: a bag of ROS 1, which is not read; this makes one of ROS 2 from it: "
        f"rosbags-convert --src {path} --dst {target}"
    )
