# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Records of MCAP (https://mcap.dev/spec). No length is believed before it is checked."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from io import RawIOBase
from pathlib import Path
from struct import Struct
from types import TracebackType
from typing import NamedTuple

from harness_ros.bag.storage import compression
from harness_ros.bag.storage.records import DamageError

MAGIC = b"\x89MCAP0\r\n"
HEAD = Struct("<BQ")
"""Kind and length in front of each record."""
MESSAGE_HEAD = Struct("<HIQQ")
"""Channel, sequence number, time of recording, time of publication."""
CHUNK_HEAD = Struct("<QQQII")
"""First and last time of recording, size, checksum, length of the name of the compression."""
INDEX_HEAD = Struct("<QQQQI")
"""First and last time of recording of a chunk, its offset and length, length of what follows."""
INDEX_OFFSET = Struct("<HQ")
"""Channel, offset of the index of its messages."""
LONGEST_TEXT = 8 << 20
"""Bytes of a definition or a name; longer ones are taken for damaged."""


class Kind(IntEnum):
    """First byte of a record."""

    HEADER = 0x01
    FOOTER = 0x02
    SCHEMA = 0x03
    CHANNEL = 0x04
    MESSAGE = 0x05
    CHUNK = 0x06
    MESSAGE_INDEX = 0x07
    CHUNK_INDEX = 0x08
    STATISTICS = 0x0B
    DATA_END = 0x0F


LAST_KIND = Kind.DATA_END
FIRST_PRIVATE_KIND = 0x80
"""Records of applications; those between are not defined."""


class Schema(NamedTuple):
    """A message type."""

    number: int
    name: str
    encoding: str
    text: str


class Channel(NamedTuple):
    """A topic."""

    number: int
    schema: int
    topic: str
    encoding: str


class Block(NamedTuple):
    """A chunk, or a run of messages outside of chunks: what is read in one go."""

    start_ns: int
    end_ns: int
    """Of the last message, not after it."""
    offset: int
    length: int
    channels: frozenset[int] | None
    """Those with messages in it; None where that is not known."""
    is_chunk: bool
    is_whole: bool = True
    """False where the end of the file cuts it."""


class Fields:
    """Reads the fields of a record one after the other."""

    def __init__(self, data: bytes | memoryview) -> None:
        self._data = memoryview(data)
        self._at = 0

    def raw(self, length: int) -> memoryview:
        """So many bytes."""
        end = self._at + length
        if end > len(self._data):
            raise DamageError(f"a field of {length} bytes, where {len(self._data) - self._at} are")
        found = self._data[self._at : end]
        self._at = end
        return found

    def rest(self) -> memoryview:
        """All bytes that are left."""
        return self.raw(len(self._data) - self._at)

    def number(self, size: int) -> int:
        """An unsigned number of so many bytes."""
        return int.from_bytes(self.raw(size), "little")

    def text(self) -> str:
        """A text behind its length."""
        length = self.number(4)
        if length > LONGEST_TEXT:
            raise DamageError(f"a text of {length} bytes")
        return str(self.raw(length), "utf-8", "replace")


def schema(record: bytes | memoryview) -> Schema:
    """A Schema record."""
    fields = Fields(record)
    return Schema(fields.number(2), fields.text(), fields.text(), fields.text())


def channel(record: bytes | memoryview) -> Channel:
    """A Channel record."""
    fields = Fields(record)
    return Channel(fields.number(2), fields.number(2), fields.text(), fields.text())


def chunk_index(record: bytes | memoryview) -> tuple[Block, int]:
    """The block of a Chunk Index record, and the bytes of the message indexes behind it."""
    fields = Fields(record)
    start_ns, end_ns, offset, length, size = INDEX_HEAD.unpack(fields.raw(INDEX_HEAD.size))
    if size % INDEX_OFFSET.size:
        raise DamageError(f"an index of channels of {size} bytes")
    channels = frozenset(number for number, _ in INDEX_OFFSET.iter_unpack(fields.raw(size)))
    return Block(start_ns, end_ns, offset, length, channels or None, True), fields.number(8)


def records(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Kind, begin and end of each record in the content of a chunk.

    Raises:
        DamageError: what follows is no whole record.
    """
    at, size, unpack = 0, len(data), HEAD.unpack_from
    while at < size:
        if size - at < HEAD.size:
            raise DamageError(f"it ends inside a record, {size - at} bytes before its end")
        kind, length = unpack(data, at)
        at += HEAD.size
        if length > size - at:
            raise DamageError(f"a record of {length} bytes, where {size - at} are left")
        yield kind, at, at + length
        at += length


class McapBytes:
    """Random access to a file; also a context manager that closes it.

    Args:
        ahead: bytes that are read at least, for many small reads one after the other.
    """

    def __init__(self, path: Path, ahead: int = 0) -> None:
        self._file: RawIOBase = path.open("rb", buffering=0)
        self.size = self._file.seek(0, 2)
        self._ahead = ahead
        self._begin, self._buffer = 0, b""

    def __enter__(self) -> McapBytes:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def read(self, offset: int, length: int) -> bytes:
        """These bytes.

        Raises:
            DamageError: the file does not have them.
        """
        at = offset - self._begin
        if not 0 <= at <= len(self._buffer) - length:
            if offset + length > self.size:
                raise DamageError(f"{length} bytes at {offset} of a file of {self.size}")
            if length >= self._ahead:
                return self._filled(offset, length)
            self._buffer = self._filled(offset, min(self._ahead, self.size - offset))
            self._begin, at = offset, 0
        return self._buffer[at : at + length]

    def head(self, offset: int) -> tuple[int, int]:
        """Kind and length of the record at an offset."""
        kind, length = HEAD.unpack(self.read(offset, HEAD.size))
        return kind, length

    def content(self, block: Block) -> bytes:
        """The records of a block.

        Raises:
            DamageError: the bytes there are not the block, or damaged.
        """
        if block.length > compression.MOST_BYTES:
            raise DamageError(f"{block.length} bytes, more than any chunk")
        data = self.read(block.offset, block.length)
        if not block.is_chunk:
            return data
        fields = Fields(data)
        kind, length = fields.number(1), fields.number(8)
        if kind != Kind.CHUNK or (length != len(data) - HEAD.size and block.is_whole):
            raise DamageError("no chunk of that length is there")
        _, _, size, crc, name = CHUNK_HEAD.unpack(fields.raw(CHUNK_HEAD.size))
        method = str(fields.raw(name), "ascii", "replace")
        packed = fields.number(8)
        if block.is_whole:
            return compression.chunk(fields.raw(packed), method, size, crc)
        return compression.start_of_chunk(fields.rest(), method, size)

    def _filled(self, offset: int, length: int) -> bytes:
        self._file.seek(offset)
        parts = []
        while length:
            part = self._file.read(length)
            if not part:
                raise DamageError(f"the file ends at {offset}")
            parts.append(part)
            offset += len(part)
            length -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)
