# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Reading an MCAP file from record to record, where no index says what is where."""

from __future__ import annotations

from pathlib import Path

from harness_ros.bag.storage import mcap_records as mcap
from harness_ros.bag.storage.mcap_index import McapIndex
from harness_ros.bag.storage.mcap_records import Block, Kind, McapBytes
from harness_ros.bag.storage.records import DamageError, Problems, Progress, said

RUN_BYTES = 1 << 20
"""Messages outside of chunks are put together to blocks of about this size."""
LONGEST_RECORD = 16 << 20
"""Of a message type or a topic."""
PROGRESS_BYTES = 16 << 20
INDEX_HEAD = 6
"""Channel, and bytes of what follows, at the head of a Message Index record."""
INDEX_ENTRY = 16
LONGEST_CUT = 64 << 20
"""A chunk that is said to begin here and is cut only after more than this is none."""
INSIDE = "inside a record"
"""Where a file that is cut off ends."""


class Extent:
    """Times and channels of the messages of a block, as they are found."""

    def __init__(self) -> None:
        self.start_ns, self.end_ns, self.count = 1 << 64, -1, 0
        self.channels: set[int] = set()

    def add(self, channel: int, log_time_ns: int) -> None:
        """Takes up a message."""
        self.start_ns = min(self.start_ns, log_time_ns)
        self.end_ns = max(self.end_ns, log_time_ns)
        self.channels.add(channel)
        self.count += 1

    def block(self, offset: int, length: int, *, is_chunk: bool, is_whole: bool = True) -> Block:
        """The block at this place."""
        channels = frozenset(self.channels)
        return Block(self.start_ns, self.end_ns, offset, length, channels, is_chunk, is_whole)


class Scan:
    """Adds to an index what is found between two places of a file.

    Content of chunks is read only where the message indexes behind a chunk do not say enough.

    Attributes:
        at: where it stopped.
        stopped: why it stopped before its end; empty where it did not.
        is_complete: whether it came to the record that ends the data.
        chunks: how many it found.
        count: how many messages.
    """

    def __init__(
        self,
        data: McapBytes,
        index: McapIndex,
        path: Path,
        problems: Problems,
        progress: Progress | None,
    ) -> None:
        self.at, self.stopped, self.is_complete, self.chunks, self.count = 0, "", False, 0, 0
        self._data, self._index, self._path, self._problems = data, index, path, problems
        self._progress = progress
        self._chunk: Block | None = None
        self._channels: set[int] = set()
        self._indexed = 0
        self._run = Extent()
        self._run_at = 0

    def run(self, begin: int, end: int) -> None:
        """Reads from begin to end, or to where the records end."""
        self.at = self._run_at = begin
        told = begin
        while self.at < end and not self.is_complete:
            try:
                kind, length = self._data.head(self.at)
            except DamageError:
                self.stopped = INSIDE
                break
            after = self.at + mcap.HEAD.size + length
            if kind == 0 or mcap.LAST_KIND < kind < mcap.FIRST_PRIVATE_KIND:
                self.stopped = f"no record is of kind {kind}"
                break
            if after > end:
                self.stopped = INSIDE
                self._cut(kind, end)
                break
            self._record(kind, length)
            self.at = after
            if self._progress is not None and self.at - told >= PROGRESS_BYTES:
                told = self.at
                self._progress(self.at, self._data.size)
        self._end_run(self.at)
        # The message indexes of the last chunk may be cut off as well.
        self._end_chunk(believe=self.is_complete)

    def _record(self, kind: int, length: int) -> None:
        body = self.at + mcap.HEAD.size
        if kind == Kind.MESSAGE:
            if length < mcap.MESSAGE_HEAD.size:
                self._problems.say(self._path, f"message at byte {self.at} is too short: skipped")
                return
            head = self._data.read(body, mcap.MESSAGE_HEAD.size)
            channel, _, log_time_ns, _ = mcap.MESSAGE_HEAD.unpack(head)
            if self.at - self._run_at >= RUN_BYTES:
                self._end_run(self.at)
            self._run.add(channel, log_time_ns)
        elif kind in (Kind.SCHEMA, Kind.CHANNEL):
            self._learn(kind, body, length)
        else:
            self._end_run(self.at)
            self._run_at = body + length
            if kind == Kind.CHUNK:
                self._begin_chunk(body, length)
            elif kind == Kind.MESSAGE_INDEX and length >= INDEX_HEAD:
                head = self._data.read(body, INDEX_HEAD)
                entries = int.from_bytes(head[2:], "little") // INDEX_ENTRY
                if entries:
                    self._channels.add(int.from_bytes(head[:2], "little"))
                    self._indexed += entries
            elif kind in (Kind.DATA_END, Kind.FOOTER):
                self.is_complete = True

    def _learn(self, kind: int, body: int, length: int) -> None:
        try:
            if length > LONGEST_RECORD:
                raise DamageError(f"{length} bytes")
            self._index.learn(kind, self._data.read(body, length))
        except DamageError as error:
            what = "message type" if kind == Kind.SCHEMA else "topic"
            self._problems.say(
                self._path, f"{what} at byte {self.at} is damaged ({said(error)}): left out"
            )

    def _begin_chunk(self, body: int, length: int) -> None:
        self._end_chunk(believe=True)
        if length < mcap.CHUNK_HEAD.size:
            self._problems.say(self._path, f"chunk at byte {self.at} is too short: skipped")
            return
        start_ns, end_ns, *_ = mcap.CHUNK_HEAD.unpack(self._data.read(body, mcap.CHUNK_HEAD.size))
        self._chunk = Block(start_ns, end_ns, self.at, mcap.HEAD.size + length, None, True)
        self.chunks += 1

    def _end_chunk(self, *, believe: bool) -> None:
        """Takes up the chunk whose message indexes were read; they are believed to be all."""
        chunk, channels, count = self._chunk, frozenset(self._channels), self._indexed
        self._chunk, self._indexed = None, 0
        self._channels.clear()
        if chunk is None:
            return
        known = channels and channels <= self._index.channels.keys()
        if known and believe and chunk.start_ns <= chunk.end_ns:
            self._index.add(chunk._replace(channels=channels))
            self.count += count
        else:
            self._look_into(chunk)

    def _end_run(self, end: int) -> None:
        if self._run.count:
            self._index.add(self._run.block(self._run_at, end - self._run_at, is_chunk=False))
            self.count += self._run.count
            self._run = Extent()
        self._run_at = end

    def _cut(self, kind: int, end: int) -> None:
        """Takes up what is there of a chunk that the end of the file cuts."""
        self._end_run(self.at)
        self._run_at = end
        if kind == Kind.CHUNK and end - self.at <= LONGEST_CUT:
            self._end_chunk(believe=True)
            self._look_into(Block(0, 0, self.at, end - self.at, None, True, is_whole=False))

    def _look_into(self, chunk: Block) -> None:
        try:
            content = self._data.content(chunk)
        except DamageError as error:
            if chunk.is_whole:
                self._problems.say(
                    self._path, f"chunk at byte {chunk.offset} is damaged ({said(error)}): skipped"
                )
            return
        found = look(content, self._index)
        if found.count:
            place = chunk.offset, chunk.length
            self._index.add(found.block(*place, is_chunk=True, is_whole=chunk.is_whole))
            self.count += found.count


def look(content: bytes, index: McapIndex) -> Extent:
    """Looks through the records of a chunk: types and topics go to the index."""
    found = Extent()
    view = memoryview(content)
    try:
        for kind, start, end in mcap.records(content):
            if kind == Kind.MESSAGE and end - start >= mcap.MESSAGE_HEAD.size:
                channel, _, log_time_ns, _ = mcap.MESSAGE_HEAD.unpack_from(content, start)
                found.add(channel, log_time_ns)
            elif kind in (Kind.SCHEMA, Kind.CHANNEL):
                index.learn(kind, view[start:end])
    except DamageError:
        # Told of when messages are read.
        pass
    return found
