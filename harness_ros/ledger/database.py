# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An SQLite file that keeps what may not be forgotten: opening it, its schema, transactions."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness_ros.contract import HarnessError

SCHEMA_VERSION = 2
BUSY_TIMEOUT_S = 10.0

_SCHEMA = """
CREATE TABLE run (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL UNIQUE,
  ended_at_ns INTEGER,
  open INTEGER NOT NULL,          -- 1 until the run has a verdict
  record TEXT NOT NULL            -- JSON without ended_at_ns
);
CREATE INDEX run_open ON run (number) WHERE open = 1;
CREATE TABLE observation (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL UNIQUE,
  record TEXT NOT NULL            -- JSON without the data of the views
);
CREATE TABLE view (
  observation INTEGER NOT NULL,   -- its number
  item INTEGER NOT NULL,          -- index in the views of the observation
  data BLOB NOT NULL,             -- LZ4 frame
  PRIMARY KEY (observation, item)
);
CREATE TABLE verdict (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL UNIQUE,
  status INTEGER NOT NULL,
  kind TEXT NOT NULL,
  record TEXT NOT NULL
);
CREATE INDEX verdict_outcome ON verdict (status, kind);
CREATE TABLE scene_event (
  number INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL,
  record TEXT NOT NULL
);
CREATE UNIQUE INDEX scene_event_run ON scene_event (run_id) WHERE run_id != '';
"""


class LedgerError(HarnessError):
    """The ledger cannot be opened, read or written; the text names its file."""


@dataclass(frozen=True)
class Schema:
    """What a file holds, and how its errors call it."""

    name: str
    """In errors: `no ledger of harness_ros`."""
    version: int
    statements: tuple[str, ...]
    """They make the tables, indexes and triggers of a new file."""
    error: type[HarnessError]
    """What is raised when the file cannot be opened, read or written."""
    application_id: int = 0
    """SQLite keeps it in the file's head: a file of another kind is told by it."""


LEDGER = Schema("ledger", SCHEMA_VERSION, tuple(_SCHEMA.split(";")), LedgerError)


class Database:
    """One connection to the file, which the threads of a process take turns to use.

    Args:
        path: the file; it and its folder are made where they are missing.
        schema: what it holds.

    Raises:
        HarnessError: the error of the schema: the file cannot be opened, is none of its kind, or is
            one of another version.
    """

    def __init__(self, path: Path, schema: Schema = LEDGER):
        self.path = path
        self._schema = schema
        self.lock = threading.RLock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise schema.error(f"{path}: {error.strerror or error}") from None
        with self._naming_the_file():
            self._connection = sqlite3.connect(
                path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
        try:
            with self._naming_the_file():
                self._connection.execute("PRAGMA synchronous = FULL")
                self._create_or_check()
                self._use_write_ahead_log()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Closes the connection."""
        with self.lock:
            self._connection.close()

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows that a query gives.

        Raises:
            HarnessError: the file cannot be read.
        """
        with self.lock, self._naming_the_file():
            return self._connection.execute(sql, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Everything that is done inside is kept, or after an exception nothing.

        Raises:
            HarnessError: the file cannot be written.
        """
        with self.lock, self._naming_the_file():
            # IMMEDIATE: a transaction that reads first and writes later would fail, not wait.
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    @contextmanager
    def _naming_the_file(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._schema.error(f"{self.path}: {error}") from error

    def _create_or_check(self) -> None:
        schema = self._schema
        with self.transaction() as db:
            (version,) = db.execute("PRAGMA user_version").fetchone()
            (application_id,) = db.execute("PRAGMA application_id").fetchone()
            (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if version == 0 and tables == 0:
                for statement in schema.statements:
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {schema.version}")
                db.execute(f"PRAGMA application_id = {schema.application_id}")
            elif version == 0 or application_id != schema.application_id:
                raise schema.error(
                    f"{self.path}: an SQLite file, but no {schema.name} of harness_ros"
                )
            elif version != schema.version:
                raise schema.error(
                    f"{self.path}: a {schema.name} of schema {version}; this version of "
                    f"harness_ros reads schema {schema.version}: move the file away, or use the "
                    "version that wrote it"
                )

    def _use_write_ahead_log(self) -> None:
        # Of two connections that switch a new file over together, SQLite fails one at once,
        # whatever its busy timeout: they would wait for each other.
        deadline = time.monotonic() + BUSY_TIMEOUT_S
        while not self._switched_to_write_ahead_log():
            if time.monotonic() > deadline:
                raise self._schema.error(f"{self.path}: locked by another process")
            time.sleep(0.01)

    def _switched_to_write_ahead_log(self) -> bool:
        try:
            self._connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            return False
        return True
