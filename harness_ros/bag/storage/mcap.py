# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""MCAP files: with an index, without, cut off, or damaged."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from itertools import accumulate
from operator import attrgetter
from pathlib import Path

from harness_ros.bag.storage import mcap_records as mcap
from harness_ros.bag.storage.mcap_blocks import Contents, McapBlock
from harness_ros.bag.storage.mcap_index import McapIndex, Summary
from harness_ros.bag.storage.mcap_records import Kind, McapBytes
from harness_ros.bag.storage.mcap_scan import INSIDE, Scan, look
from harness_ros.bag.storage.records import (
    BagReadError,
    DamageError,
    Problems,
    Progress,
    Source,
    Topic,
    said,
    seconds,
    topic,
)

AHEAD = 32 << 10
"""Bytes read at once where one record is looked at after the other."""


class McapFile:
    """One MCAP file.

    Args:
        contents: where chunks are held.
        plain: where it lies decompressed.

    Raises:
        BagReadError: nothing of it can be read.
        OSError: it cannot be opened.
    """

    def __init__(
        self,
        path: Path,
        problems: Problems,
        contents: Contents,
        progress: Progress | None = None,
        plain: Path | None = None,
    ) -> None:
        self.path, self.problems, self.contents = path, problems, contents
        self.name = str(plain or path)
        self.read_through = False
        with McapBytes(plain or path, AHEAD) as data:
            index = self._index(data, progress)
        self.about = index.count
        self._blocks = sorted(index.blocks, key=attrgetter("start_ns", "offset"))
        self._starts = [block.start_ns for block in self._blocks]
        # A block may reach beyond the begin of many that follow it.
        self._ends = list(accumulate((block.end_ns for block in self._blocks), max))
        self.start_ns = self._starts[0] if self._starts else None
        self._topics: dict[int, Topic] = {}
        for number, channel in sorted(index.channels.items()):
            schema = index.schemas.get(channel.schema)
            found = topic(
                path, problems, channel.topic, schema.name if schema else "", channel.encoding
            )
            if found is not None:
                if schema is not None and schema.text.strip():
                    found = found._replace(definition=schema.text, format=schema.encoding)
                self._topics[number] = found
        self.topics = list(dict.fromkeys(self._topics.values()))

    def count(self) -> int | None:
        """Messages in it, where it says so or was read through."""
        return self.about

    def close(self) -> None:
        """Nothing is held open: a bag may have more files than a process may open."""

    def sources(
        self, topics: Collection[str], start_ns: int | None, stop_ns: int | None
    ) -> list[Source]:
        """The blocks that may hold messages of topics from start on and before stop."""
        wanted = {number: item for number, item in self._topics.items() if item.name in topics}
        if not wanted:
            return []
        first = 0 if start_ns is None else bisect_left(self._ends, start_ns)
        last = len(self._starts) if stop_ns is None else bisect_left(self._starts, stop_ns)
        blocks = [
            block
            for block in self._blocks[first:last]
            if (start_ns is None or block.end_ns >= start_ns)
            and (block.channels is None or not block.channels.isdisjoint(wanted))
        ]
        blocks.sort(key=attrgetter("offset"))
        return [
            McapBlock(
                self.path,
                self.name,
                self.problems,
                self.contents,
                block,
                wanted,
                start_ns,
                stop_ns,
            )
            for block in blocks
        ]

    def _index(self, data: McapBytes, progress: Progress | None) -> McapIndex:
        begin = self._begin(data)
        try:
            summary = Summary(data, begin)
        except DamageError as error:
            self.problems.say(self.path, f"{said(error)}: the file was read through once instead")
            return self._read_through(data, begin, None, progress)
        if not summary.is_there:
            return self._read_through(data, begin, summary, progress)
        index = summary.index
        for start, end in summary.gaps(begin):
            scan = Scan(data, index, self.path, self.problems, progress)
            scan.run(start, end)
            if scan.stopped:
                self.problems.say(
                    self.path, f"bytes {scan.at} to {end} are damaged ({scan.stopped}): skipped"
                )
            if scan.chunks:
                self.problems.say(
                    self.path, f"its index lacks {scan.chunks} chunks: they were looked up"
                )
        self._learn_unknown(data, index)
        return index

    def _begin(self, data: McapBytes) -> int:
        """Where the records behind the header begin."""
        magic = len(mcap.MAGIC)
        try:
            kind, length = data.head(magic)
            if data.read(0, magic) != mcap.MAGIC or kind != Kind.HEADER:
                raise DamageError("it does not begin as MCAP does")
            after = magic + mcap.HEAD.size + length
            if after > data.size:
                raise DamageError(f"its header is said to have {length} bytes")
        except DamageError as error:
            if data.size < magic + mcap.HEAD.size:
                raise BagReadError(
                    f"{self.path}: cannot be read as a bag: it ends after {data.size} bytes"
                ) from None
            self.problems.say(self.path, f"{said(error)}: its index was looked for nevertheless")
            return magic
        return after

    def _read_through(
        self, data: McapBytes, begin: int, summary: Summary | None, progress: Progress | None
    ) -> McapIndex:
        index = McapIndex()
        self.read_through = True
        scan = Scan(data, index, self.path, self.problems, progress)
        scan.run(begin, data.size if summary is None else summary.data_end)
        index.count = scan.count
        if progress is not None:
            progress(data.size, data.size)
        if not index.channels and begin == len(mcap.MAGIC):
            raise BagReadError(
                f"{self.path}: cannot be read as a bag: no topic and no message was found up to "
                f"byte {scan.at} of {data.size}"
                + (f", where {scan.stopped}" if scan.stopped else "")
            )
        last_ns = index.last_ns()
        read = "no message was read"
        if last_ns is not None:
            read = f"messages up to stamp {seconds(last_ns)} were read"
        is_closed = scan.is_complete or (summary is not None and summary.is_closed)
        if scan.stopped == INSIDE or not (scan.stopped or is_closed):
            self.problems.say(self.path, f"cut off at byte {scan.at} of {data.size}: {read}")
        elif scan.stopped:
            self.problems.say(
                self.path, f"damaged at byte {scan.at} of {data.size} ({scan.stopped}): {read}"
            )
        elif summary is not None and not summary.is_closed:
            self.problems.say(
                self.path, "its index is cut off: the file was read through once, nothing is lost"
            )
        elif summary is not None:
            self.problems.say(self.path, "it has no index: the file was read through once")
        return index

    def _learn_unknown(self, data: McapBytes, index: McapIndex) -> None:
        """Topics that the summary leaves out are in the first chunk that has their messages."""
        missing: set[int] = set()
        for number, block in enumerate(index.blocks):
            unknown = (block.channels or frozenset()) - index.channels.keys() - missing
            if not unknown and (block.channels is not None or index.channels):
                continue
            try:
                found = look(data.content(block), index)
                if block.channels is None:
                    index.blocks[number] = block._replace(channels=frozenset(found.channels))
            except DamageError:
                # Told of when its messages are read.
                continue
            missing |= unknown - index.channels.keys()
        if missing:
            self.problems.say(
                self.path, f"channels {sorted(missing)} have no topic: their messages are left out"
            )
