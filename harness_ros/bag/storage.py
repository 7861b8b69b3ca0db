# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Serialized messages out of a bag, in the order in which they were recorded."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from rosbags.interfaces import Connection, MessageDefinitionFormat
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from harness_ros.bag.definitions import typestore
from harness_ros.capture.definitions import message_type_of
from harness_ros.contract import HarnessError

FILES = (".mcap", ".db3")


class BagReadError(HarnessError):
    """A bag that cannot be read; the text names it."""


class Recorded(NamedTuple):
    """One serialized message."""

    topic: str
    type: str
    """`package/msg/Type`."""
    log_time_ns: int
    """When it was recorded, on the clock of the recorder."""
    data: bytes
    """CDR with its four-byte encapsulation header."""


class Storage:
    """A rosbag2 folder, or one of its files; also a context manager that closes itself.

    Messages are read as they are asked for. A folder whose metadata.yaml is missing is read file by
    file.

    Args:
        path: the folder, or an .mcap or .db3 file.

    Raises:
        BagReadError: it cannot be opened.
    """

    def __init__(self, path: Path, definitions: Sequence[Path] = ()) -> None:
        self.path = path
        self.problems: list[str] = []
        """What is wrong in the files and was lived with."""
        self._stack = ExitStack()
        try:
            self._readers = [self._opened(part) for part in _parts(path)]
        except BaseException:
            self._stack.close()
            raise
        self.types = {
            connection.topic: connection.msgtype
            for reader in self._readers
            for connection in reader.connections
        }
        """Message type of each topic."""

    def close(self) -> None:
        """Closes the files."""
        self._stack.close()

    def __enter__(self) -> Storage:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def topics_of(self, message_type: str) -> list[str]:
        """Topics with messages of a type."""
        return sorted(topic for topic, found in self.types.items() if found == message_type)

    def messages(
        self, topics: Collection[str], start_ns: int | None = None, stop_ns: int | None = None
    ) -> Iterator[Recorded]:
        """The messages of topics by the time of recording; from start, before stop.

        Raises:
            BagReadError: the files are damaged.
        """
        parts = [
            self._messages_of(reader, topics, start_ns, stop_ns)
            for reader in self._readers
            if any(connection.topic in topics for connection in reader.connections)
        ]
        return heapq.merge(*parts, key=lambda message: message.log_time_ns)

    def typestore(self, topics: Collection[str]) -> Typestore:
        """Definitions of the types of topics, as the bag has them; else those of this version."""
        types, wanted = dict(_standard_types()), set()
        for reader in self._readers:
            for connection in reader.connections:
                if connection.topic in topics:
                    types.update(_definitions(connection))
                    wanted.add(connection.msgtype)
        store = get_typestore(Stores.EMPTY)
        # No more than is needed: code is made of each.
        store.register({name: types[name] for name in _with_parts(types, wanted)})
        return store

    def _opened(self, path: Path) -> Reader:
        try:
            reader = Reader(path)
            reader.open()
        except Exception as error:
            # Readers raise what parsing of damaged files brings about.
            raise BagReadError(f"{self.path}: cannot be read as a bag: {_said(error)}") from error
        self._stack.callback(reader.close)
        return reader

    def _messages_of(
        self, reader: Reader, topics: Collection[str], start_ns: int | None, stop_ns: int | None
    ) -> Iterator[Recorded]:
        wanted = [item for item in reader.connections if item.topic in topics]
        try:
            for connection, log_time_ns, data in reader.messages(wanted, start_ns, stop_ns):
                yield Recorded(connection.topic, connection.msgtype, log_time_ns, bytes(data))
        except Exception as error:
            raise BagReadError(f"{self.path}: damaged: {_said(error)}") from error


def _parts(path: Path) -> list[Path]:
    """What is opened: the folder with its metadata, or each file."""
    if not path.exists():
        raise BagReadError(f"{path}: no such file or folder")
    if path.is_file():
        if path.suffix not in FILES:
            raise BagReadError(f"{path}: no bag; a rosbag2 folder, .mcap or .db3 is wanted")
        return [path]
    if (path / "metadata.yaml").is_file():
        return [path]
    files = sorted(item for item in path.iterdir() if item.suffix in FILES)
    if not files:
        raise BagReadError(f"{path}: no bag; it holds neither metadata.yaml nor .mcap nor .db3")
    return files


@cache
def _standard_types() -> dict[str, Any]:
    return dict(typestore().fielddefs)


def _with_parts(types: Mapping[str, Any], wanted: Iterable[str]) -> set[str]:
    """The types, and all that their fields refer to, as far as they are known."""
    found: set[str] = set()
    open_ = [name for name in wanted if name in types]
    while open_:
        name = open_.pop()
        if name not in found:
            found.add(name)
            parts = {message_type_of(field) for _, field in types[name][1]}
            open_ += [part for part in parts if part is not None and part in types]
    return found


def _definitions(connection: Connection) -> dict[str, Any]:
    text = connection.msgdef
    if text.format != MessageDefinitionFormat.MSG or not text.data.strip():
        return {}
    try:
        return dict(get_types_from_msg(text.data, connection.msgtype))
    except Exception:
        # The grammar raises what it likes on a damaged definition; the standard one is used then.
        return {}


def _said(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
