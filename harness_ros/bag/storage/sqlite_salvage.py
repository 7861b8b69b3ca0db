# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What can still be found in a damaged SQLite file."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

SQLITE_ERRORS = (sqlite3.Error, UnicodeError, MemoryError)
"""What reading a damaged file raises: UnicodeError where SQLite quotes what is damaged."""
MOST_ROWS = 1 << 40
"""Nobody has numbers of messages beyond this."""
MOST_GAPS = 10_000
"""A file with more damaged places than this is given up there."""


class Row(NamedTuple):
    """Where a message is; rows are ordered as messages are."""

    log_time_ns: int
    number: int
    topic: int


def salvaged(database: sqlite3.Connection) -> list[Row]:
    """The messages that can be found, by the time of recording.

    The table is read in the order of its row numbers, past the places where SQLite gives up.
    """
    rows: list[Row] = []
    at = -1
    for _ in range(MOST_GAPS):
        try:
            # Not by the index of stamps: it may be what is damaged.
            for number, topic, log_time_ns in database.execute(
                "SELECT rowid, topic_id, timestamp FROM messages NOT INDEXED "
                "WHERE rowid > ? ORDER BY rowid",
                [at],
            ):
                if number <= at:
                    raise sqlite3.DatabaseError("its table is not in order")
                at = number
                if isinstance(topic, int) and isinstance(log_time_ns, int):
                    rows.append(Row(log_time_ns, number, topic))
            break
        except SQLITE_ERRORS:
            following = _following(database, at)
            if following is None:
                break
            at = following - 1
    return sorted(rows)


def _following(database: sqlite3.Connection, at: int) -> int | None:
    """The next row number after one from which on the table can be read again."""
    step = 1
    while not _readable(database, at + 1 + step):
        step *= 2
        if step > MOST_ROWS:
            return None
    low, high = at + 1 + step // 2, at + 1 + step
    while high - low > 1:
        middle = (low + high) // 2
        if _readable(database, middle):
            high = middle
        else:
            low = middle
    return high


def _readable(database: sqlite3.Connection, number: int) -> bool:
    try:
        found = database.execute(
            "SELECT topic_id, timestamp FROM messages NOT INDEXED WHERE rowid >= ? "
            "ORDER BY rowid LIMIT 1",
            [number],
        ).fetchone()
    except SQLITE_ERRORS:
        return False
    return found is not None
