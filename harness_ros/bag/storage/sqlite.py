# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""SQLite files of rosbag2, of every schema since ROS 2 Dashing, whole or damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from harness_ros.bag.storage.records import (
    BagReadError,
    Problems,
    Recorded,
    Source,
    Topic,
    said,
    topic,
)
from harness_ros.bag.storage.sqlite_opening import Opened
from harness_ros.bag.storage.sqlite_salvage import SQLITE_ERRORS, Row, salvaged

BEGIN_NS, END_NS = -(1 << 63), (1 << 63) - 1
"""Numbers that SQLite can hold."""
STEPS_PER_LOOK = 100_000
"""Of SQLite, some ten for a message; a message has more than ten bytes."""
INDEX = "timestamp_idx"
"""Of the stamps, as rosbag2 calls it."""
FINDING = (
    "SELECT timestamp, rowid, topic_id FROM messages WHERE topic_id IN ({}) "
    "AND timestamp >= ? AND timestamp < ? "
    "ORDER BY timestamp, rowid"
)


class SqliteFile:
    """One SQLite file.

    Args:
        temporary: gives a folder for files that are needed while it is open.
        plain: where it lies decompressed.

    Raises:
        BagReadError: nothing of it can be read.
    """

    def __init__(
        self,
        path: Path,
        problems: Problems,
        temporary: Callable[[], Path],
        plain: Path | None = None,
    ) -> None:
        self.path, self.problems = path, problems
        plain = plain or path
        self._rows: list[Row] | None = None
        self._is_damaged = False
        self._opened = Opened(path, plain, problems, temporary)
        self._database = self._opened.database
        self._work, self._most_work = 0, plain.stat().st_size // STEPS_PER_LOOK + 20
        self._database.set_progress_handler(self._is_too_long, STEPS_PER_LOOK)
        try:
            self._topics = self._topics_by_number()
            self.topics = list(dict.fromkeys(self._topics.values()))
            self.start_ns, self.about = self._extent()
            self.read_through = self._is_damaged
        except SQLITE_ERRORS as error:
            self.close()
            raise BagReadError(f"{path}: cannot be read as a bag: {said(error)}") from error
        except BaseException:
            self.close()
            raise

    def count(self) -> int | None:
        """Messages in it, or those that can be found where it is damaged."""
        if self._is_damaged:
            return len(self._salvaged())
        try:
            self._work = 0
            (count,) = self._database.execute("SELECT count(*) FROM messages").fetchone()
        except SQLITE_ERRORS as error:
            self._damaged(error)
            return len(self._salvaged())
        return int(count)

    def close(self) -> None:
        """Closes it."""
        self._opened.close()

    def sources(
        self, topics: Collection[str], start_ns: int | None, stop_ns: int | None
    ) -> list[Source]:
        """The whole file, where it may hold messages of topics from start on and before stop."""
        wanted = {number: item for number, item in self._topics.items() if item.name in topics}
        if not wanted or self.start_ns is None:
            return []
        if stop_ns is not None and stop_ns <= self.start_ns:
            return []
        first = BEGIN_NS if start_ns is None else min(max(start_ns, BEGIN_NS), END_NS)
        last = END_NS if stop_ns is None else min(max(stop_ns, BEGIN_NS), END_NS)
        return [SqliteRows(self, wanted, first, last)]

    def found(self, wanted: Collection[int], first_ns: int, last_ns: int) -> Iterator[Row]:
        """Where the messages of topics are, by the time of recording."""
        after = Row(BEGIN_NS, -1, 0)
        if not self._is_damaged:
            query = FINDING.format(",".join(str(number) for number in wanted))
            self._work = 0
            try:
                for values in self._database.execute(query, (first_ns, last_ns)):
                    row = Row(*values)
                    if not isinstance(row.log_time_ns, int):
                        self.problems.say(self.path, "messages without a stamp were left out")
                        continue
                    # In a damaged index the search may run in a circle.
                    if row <= after:
                        raise sqlite3.DatabaseError("its index is not in order")
                    after = row
                    yield row
                return
            except SQLITE_ERRORS as error:
                self._damaged(error)
        for row in self._salvaged():
            if row > after and first_ns <= row.log_time_ns < last_ns and row.topic in wanted:
                yield row

    def data(self, row: Row) -> bytes | None:
        """A message; None, and said, where it cannot be read."""
        try:
            found = self._database.execute(
                "SELECT data, timestamp FROM messages WHERE rowid = ?", [row.number]
            )
            values = found.fetchone()
            if values is not None and values[1] != row.log_time_ns:
                raise sqlite3.DatabaseError("its index has other stamps than its messages")
        except SQLITE_ERRORS as error:
            self.problems.say(
                self.path,
                f"damaged: messages of topic {self._topics[row.topic].name} that cannot be read "
                f"({said(error)}) were left out",
            )
            return None
        if values is None or not isinstance(values[0], bytes):
            name = self._topics[row.topic].name
            self.problems.say(
                self.path,
                f"messages of topic {name} that have no bytes were left out",
            )
            return None
        return values[0]

    def _is_too_long(self) -> bool:
        """Stops a search that goes on for longer than the file can have it: it is in a circle."""
        self._work += 1
        return self._work > self._most_work

    def _columns(self, table: str) -> set[str]:
        return {str(row[1]) for row in self._database.execute(f"PRAGMA table_info({table})")}

    def _topics_by_number(self) -> dict[int, Topic]:
        tables = {
            str(row[0])
            for row in self._database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        missing = {"topics", "messages"} - tables
        if missing:
            raise BagReadError(
                f"{self.path}: cannot be read as a bag: an SQLite file without the tables "
                f"{', '.join(sorted(missing))} of rosbag2"
            )
        definitions = self._definitions() if "message_definitions" in tables else {}
        columns = self._columns("topics")
        encoding = "serialization_format" if "serialization_format" in columns else "'cdr'"
        found = {}
        try:
            for number, name, message_type, encoded in self._database.execute(
                f"SELECT id, name, type, {encoding} FROM topics ORDER BY id"
            ):
                item = topic(self.path, self.problems, str(name), str(message_type), str(encoded))
                if item is not None and isinstance(number, int):
                    text, kind = definitions.get(str(message_type), ("", ""))
                    found[number] = item._replace(definition=text, format=kind)
        except SQLITE_ERRORS as error:
            self.problems.say(
                self.path,
                f"its topics are damaged ({said(error)}): {len(found)} of them could be read",
            )
        return found

    def _definitions(self) -> dict[str, tuple[str, str]]:
        try:
            return {
                str(name): (str(text), str(encoding))
                for name, text, encoding in self._database.execute(
                    "SELECT topic_type, encoded_message_definition, encoding "
                    "FROM message_definitions ORDER BY id DESC"
                )
                if text and str(text).strip()
            }
        except SQLITE_ERRORS as error:
            self.problems.say(
                self.path, f"its message definitions cannot be read ({said(error)}): left out"
            )
            return {}

    def _extent(self) -> tuple[int | None, int | None]:
        """Time of recording of the first message, and how many there are."""
        try:
            first, last = self._database.execute(
                "SELECT (SELECT min(rowid) FROM messages), (SELECT max(rowid) FROM messages)"
            ).fetchone()
            if first is not None:
                self._check_index(last - first + 1)
            (first_ns,) = self._database.execute("SELECT min(timestamp) FROM messages").fetchone()
        except SQLITE_ERRORS as error:
            self._damaged(error)
            rows = self._salvaged()
            return (rows[0].log_time_ns if rows else None), len(rows)
        if first is None or not isinstance(first_ns, int):
            return None, 0
        # A recorder numbers its messages one after the other.
        return first_ns, last - first + 1

    def _check_index(self, about: int) -> None:
        """What an index lacks nobody would miss: raises where it has not all messages."""
        is_there = self._database.execute(
            "SELECT 1 FROM sqlite_master "
            "WHERE type = 'index' AND name = ? AND tbl_name = 'messages'",
            [INDEX],
        ).fetchone()
        if is_there is None:
            return
        counting = "SELECT count(*) FROM messages "
        (indexed,) = self._database.execute(f"{counting} INDEXED BY {INDEX}").fetchone()
        # Where messages were deleted the table has to be counted, which takes longer.
        if indexed != about:
            (count,) = self._database.execute(f"{counting} NOT INDEXED").fetchone()
            if indexed != count:
                raise sqlite3.DatabaseError(f"its index has {indexed} of {count} messages")

    def _damaged(self, error: Exception) -> None:
        self._is_damaged = True
        rows = self._salvaged()
        last = max((row.number for row in rows), default=0)
        self.problems.say(
            self.path,
            f"damaged ({said(error)}): {len(rows)} of at least {last} messages were found",
        )

    def _salvaged(self) -> list[Row]:
        if self._rows is None:
            self._work = 0
            self._rows = salvaged(self._database)
        return self._rows


class SqliteRows:
    """The messages of some topics in one file."""

    def __init__(
        self, file: SqliteFile, wanted: dict[int, Topic], first_ns: int, last_ns: int
    ) -> None:
        self._file, self._wanted, self._last_ns = file, wanted, last_ns
        # What a damaged file has before this would come too late to be in order.
        self.start_ns = max(first_ns, BEGIN_NS if file.start_ns is None else file.start_ns)

    def messages(self) -> Iterator[Recorded]:
        """Its messages by the time of recording."""
        for row in self._file.found(self._wanted, self.start_ns, self._last_ns):
            data = self._file.data(row)
            if data is not None:
                item = self._wanted[row.topic]
                yield Recorded(item.name, item.type, row.log_time_ns, data)
