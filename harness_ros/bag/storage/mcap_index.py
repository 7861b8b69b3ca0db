# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What an MCAP file holds and where, from the summary at its end."""

from __future__ import annotations

from binascii import crc32
from collections.abc import Iterator
from struct import Struct

from harness_ros.bag.storage import mcap_records as mcap
from harness_ros.bag.storage.mcap_records import Block, Channel, Kind, McapBytes, Schema
from harness_ros.bag.storage.records import DamageError

FOOTER = Struct("<QQI")
"""Begin of the summary, begin of the offsets in it, checksum of the summary."""
TAIL = mcap.HEAD.size + FOOTER.size + len(mcap.MAGIC)
MOST_BYTES = 256 << 20
"""Of a summary: that of some terabytes."""


class McapIndex:
    """Message types, topics and the blocks with their messages."""

    def __init__(self) -> None:
        self.schemas: dict[int, Schema] = {}
        self.channels: dict[int, Channel] = {}
        self.blocks: list[Block] = []
        self.count: int | None = None
        """Messages, where the file says so."""
        self._channel_sets: dict[frozenset[int], frozenset[int]] = {}

    def learn(self, kind: int, record: bytes | memoryview) -> None:
        """Takes up a Schema or Channel record; what a number meant first, it means.

        Raises:
            DamageError: it is damaged.
        """
        if kind == Kind.SCHEMA:
            schema = mcap.schema(record)
            self.schemas.setdefault(schema.number, schema)
        elif kind == Kind.CHANNEL:
            channel = mcap.channel(record)
            self.channels.setdefault(channel.number, channel)

    def add(self, block: Block) -> None:
        """Takes up a block."""
        channels = block.channels
        if channels is not None:
            # Most blocks have the same channels; one set of them is enough.
            channels = self._channel_sets.setdefault(channels, channels)
        self.blocks.append(block._replace(channels=channels))

    def last_ns(self) -> int | None:
        """Time of recording of the last message."""
        return max((block.end_ns for block in self.blocks), default=None)


class Summary:
    """The summary section of a file.

    Args:
        begin: where the records of the file begin.

    Raises:
        DamageError: the file has one, and it is damaged.
    """

    def __init__(self, data: McapBytes, begin: int) -> None:
        self.index = McapIndex()
        self.data_end = data.size
        """Where the data ends."""
        self.is_there = False
        """Whether the file has a summary."""
        self.is_closed = False
        """Whether the file has its end."""
        self._covered: list[tuple[int, int]] = []
        if data.size < begin + TAIL:
            return
        tail = data.read(data.size - TAIL, TAIL)
        if not tail.endswith(mcap.MAGIC):
            return
        self.data_end = footer_at = data.size - TAIL
        if mcap.HEAD.unpack_from(tail) != (Kind.FOOTER, FOOTER.size):
            raise DamageError("its footer is damaged")
        self.is_closed = True
        start, _, crc = FOOTER.unpack_from(tail, mcap.HEAD.size)
        if start == 0:
            return
        if not begin <= start <= footer_at or footer_at - start > MOST_BYTES:
            raise DamageError(f"its footer says that its index begins at byte {start}")
        content = data.read(start, footer_at - start)
        if crc and crc32(tail[: TAIL - 12], crc32(content)) != crc:
            raise DamageError("the checksum of its index is wrong")
        self._read(content)
        self._check(data, begin, start)
        self.data_end, self.is_there = start, True

    def gaps(self, begin: int) -> Iterator[tuple[int, int]]:
        """What no chunk of the index covers: begin and end of each part."""
        at = begin
        for start, end in sorted(self._covered):
            if start > at:
                yield at, start
            at = max(at, end)
        if at < self.data_end:
            yield at, self.data_end

    def _read(self, content: bytes) -> None:
        view = memoryview(content)
        for kind, start, end in mcap.records(content):
            record = view[start:end]
            if kind == Kind.CHUNK_INDEX:
                block, indexes = mcap.chunk_index(record)
                self._covered.append((block.offset, block.offset + block.length + indexes))
                self.index.add(block)
            elif kind == Kind.STATISTICS:
                self.index.count = mcap.Fields(record).number(8)
            else:
                self.index.learn(kind, record)

    def _check(self, data: McapBytes, begin: int, end: int) -> None:
        blocks = self.index.blocks
        if len({block.offset for block in blocks}) != len(blocks):
            raise DamageError("its index has a chunk twice")
        for block in blocks:
            if block.offset < begin or block.offset + block.length > end:
                raise DamageError(f"its index has a chunk at byte {block.offset}, outside the data")
        # Of an index that belongs to other data, as after a copy that broke off, this shows it.
        for block in blocks[:1] + blocks[-1:]:
            if data.head(block.offset) != (Kind.CHUNK, block.length - mcap.HEAD.size):
                raise DamageError(f"its index has a chunk at byte {block.offset}, where none is")
