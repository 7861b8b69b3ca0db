# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The messages in one block of an MCAP file."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

from harness_ros.bag.storage import mcap_records as mcap
from harness_ros.bag.storage.mcap_records import Block, Kind, McapBytes
from harness_ros.bag.storage.records import DamageError, Problems, Recorded, Topic, said, seconds

CACHE_BYTES = 64 << 20
"""Of chunks that are held; more are read and decompressed again."""


class Contents:
    """The chunks that were read last."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._bytes = 0

    def content(self, path: str, block: Block) -> bytes:
        """The records of a block.

        Raises:
            DamageError, OSError: they cannot be read.
        """
        key = (path, block.offset)
        content = self._held.get(key)
        if content is not None:
            self._held.move_to_end(key)
            return content
        with McapBytes(Path(path)) as data:
            content = data.content(block)
        self._held[key] = content
        self._bytes += len(content)
        while self._bytes > CACHE_BYTES and len(self._held) > 1:
            _, dropped = self._held.popitem(last=False)
            self._bytes -= len(dropped)
        return content


class McapBlock:
    """The messages of some topics in one block.

    Args:
        path: what the file is called in `problems`.
        name: where it is.
        wanted: the topics, by their channels.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        problems: Problems,
        contents: Contents,
        block: Block,
        wanted: dict[int, Topic],
        start_ns: int | None,
        stop_ns: int | None,
    ) -> None:
        self._path, self._name, self._problems, self._contents = path, name, problems, contents
        self._block, self._wanted = block, wanted
        self.start_ns = block.start_ns
        self._from_ns = 0 if start_ns is None else start_ns
        self._to_ns = 1 << 64 if stop_ns is None else stop_ns

    def messages(self) -> Iterator[Recorded]:
        """Its messages by the time of recording."""
        block = self._block
        try:
            found = self._found(self._contents.content(self._name, block))
            found.sort(key=itemgetter(0))
            for log_time_ns, start, end, item in found:
                # Asked for each time: of many that overlap, not all can be held.
                data = self._contents.content(self._name, block)[start:end]
                yield Recorded(item.name, item.type, log_time_ns, data)
        except (DamageError, OSError) as error:
            self._say(f"is damaged ({said(error)}): skipped")

    def _found(self, content: bytes) -> list[tuple[int, int, int, Topic]]:
        block, found, seen, outside = self._block, [], False, 0
        first_ns, last_ns = block.start_ns, block.end_ns
        unpack, head = mcap.MESSAGE_HEAD.unpack_from, mcap.MESSAGE_HEAD.size
        try:
            for kind, start, end in mcap.records(content):
                if kind != Kind.MESSAGE or end - start < head:
                    continue
                channel, _, log_time_ns, _ = unpack(content, start)
                item = self._wanted.get(channel)
                if item is None:
                    continue
                seen = True
                if not first_ns <= log_time_ns <= last_ns:
                    outside += 1
                elif self._from_ns <= log_time_ns < self._to_ns:
                    found.append((log_time_ns, start + head, end, item))
        except DamageError as error:
            if block.is_whole:
                self._say(f"is damaged ({said(error)}): what is before was read")
        if not seen and block.channels is not None:
            self._say("has none of the messages that it should have")
        if outside:
            self._say(
                f"has messages outside of its time, {seconds(first_ns)} to {seconds(last_ns)}: "
                "left out"
            )
        return found

    def _say(self, text: str) -> None:
        kind = "chunk" if self._block.is_chunk else "block of messages"
        self._problems.say(self._path, f"{kind} at byte {self._block.offset} {text}")
