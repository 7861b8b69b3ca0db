# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Opening an SQLite file that a recorder may have left behind half done, in any folder."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from harness_ros.bag.storage.records import BagReadError, Problems, said
from harness_ros.bag.storage.sqlite_salvage import SQLITE_ERRORS

MAGIC = b"SQLite format 3\0"


class Opened:
    """A connection that writes nothing that stays.

    Args:
        path: what the file is called in `problems`.
        plain: where it is.
        temporary: gives a folder for a copy.

    Raises:
        BagReadError: it cannot be opened.
    """

    def __init__(
        self, path: Path, plain: Path, problems: Problems, temporary: Callable[[], Path]
    ) -> None:
        self._path, self._plain, self._problems = path, plain, problems
        self._shared_memory: Path | None = None
        if self._beside("-journal").is_file():
            problems.say(
                path,
                "its recorder was killed while it wrote (there is a -journal file): read as it is",
            )
        log = self._beside("-wal")
        # Without a log nothing else is needed, so that a folder may be read-only.
        has_log = log.is_file() and log.stat().st_size > 0
        database = self._with_log(temporary) if has_log else None
        self.database = database or _connected(plain, "immutable=1")
        if database is None:
            self._check_length()

    def close(self) -> None:
        """Closes it."""
        self.database.close()
        if self._shared_memory is not None:
            # SQLite made it to read the log; it was not there before.
            with suppress(OSError):
                self._shared_memory.unlink()
            self._shared_memory = None

    def _beside(self, suffix: str) -> Path:
        return self._plain.with_name(f"{self._plain.name}{suffix}")

    def _with_log(self, temporary: Callable[[], Path]) -> sqlite3.Connection | None:
        said_so = "its recorder was killed or still runs: the messages in its -wal file were read"
        shared_memory = self._beside("-shm")
        was_there = shared_memory.exists()
        try:
            database = _read(self._plain, "mode=ro")
        except SQLITE_ERRORS:
            # SQLite needs a file beside it, and in a read-only folder none can be made.
            return self._copied(temporary, said_so)
        if not was_there:
            self._shared_memory = shared_memory
        self._problems.say(self._path, f"{said_so} too")
        return database

    def _copied(self, temporary: Callable[[], Path], said_so: str) -> sqlite3.Connection | None:
        folder = temporary()
        copy = folder / self._plain.name
        try:
            for suffix in ("", "-wal"):
                shutil.copyfile(self._beside(suffix), folder / f"{copy.name}{suffix}")
            database = _read(copy, "mode=rw")
        except (OSError, *SQLITE_ERRORS) as error:
            copy.unlink(missing_ok=True)
            self._problems.say(
                self._path, f"its -wal file cannot be read ({said(error)}): left out"
            )
            return None
        self._problems.say(self._path, f"{said_so} too, from a copy")
        return database

    def _check_length(self) -> None:
        there = self._plain.stat().st_size
        with self._plain.open("rb") as file:
            head = file.read(32)
        page = int.from_bytes(head[16:18], "big")
        size = int.from_bytes(head[28:32], "big") * (65536 if page == 1 else page)
        if there < size:
            self._problems.say(
                self._path, f"cut off at byte {there} of {size}: what is there was read"
            )
            # SQLite refuses such files but for this; nothing is written, the file is read-only.
            with suppress(*SQLITE_ERRORS):
                self.database.execute("PRAGMA writable_schema = ON")


def _read(path: Path, how: str) -> sqlite3.Connection:
    """A connection that has read something."""
    database = _connected(path, how)
    try:
        database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        database.close()
        raise
    return database


def _connected(path: Path, how: str) -> sqlite3.Connection:
    try:
        database = sqlite3.connect(
            f"file:{quote(str(path.absolute()))}?{how}", uri=True, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise BagReadError(f"{path}: cannot be opened: {said(error)}") from error
    database.text_factory = lambda text: text.decode("utf-8", "replace")
    database.isolation_level = None
    return database
