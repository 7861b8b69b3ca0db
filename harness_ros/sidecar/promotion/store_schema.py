# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables of a rule store, and the triggers that hold them to appending.

The triggers are in the file, so they hold for every program that writes it. What a rule is and
may become is checked there too: a second decision on the same rule, made by another process in the
same moment, is refused and not written over the first.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness_ros.contract import HarnessError
from harness_ros.ledger.database import Schema


class StoreError(HarnessError):
    """The rule store cannot be opened, read or written, or refuses; the text names its file."""


_TABLES = {
    "rule": """CREATE TABLE rule (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  rule_id TEXT NOT NULL UNIQUE,
  record TEXT NOT NULL
)""",
    "state": """CREATE TABLE state (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  rule_id TEXT NOT NULL REFERENCES rule (rule_id),
  state TEXT NOT NULL CHECK (state IN ('candidate', 'active', 'retired')),
  reason TEXT NOT NULL CHECK (reason != ''),
  validator TEXT NOT NULL,
  evidence TEXT NOT NULL CHECK (json_valid(evidence)),
  at TEXT NOT NULL                -- UTC
)""",
    "session": """CREATE TABLE session (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL UNIQUE,
  protected INTEGER NOT NULL,
  record TEXT NOT NULL
)""",
    "session_signature": """CREATE TABLE session_signature (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  signature TEXT NOT NULL,
  session INTEGER NOT NULL REFERENCES session (number)
)""",
    "round": """CREATE TABLE round (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  rule_id TEXT NOT NULL REFERENCES rule (rule_id),
  outcome TEXT NOT NULL CHECK (outcome IN ('promote', 'retire', 'pending')),
  counted INTEGER NOT NULL,       -- 0: it came too late in its round to have its turn
  record TEXT NOT NULL
)""",
    "trial": """CREATE TABLE trial (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  rule_id TEXT NOT NULL UNIQUE REFERENCES rule (rule_id),
  session INTEGER NOT NULL,       -- sessions with a greater number are on trial
  at TEXT NOT NULL                -- UTC
)""",
}
_INDEXES = (
    "CREATE INDEX state_rule ON state (rule_id, number)",
    "CREATE INDEX round_rule ON round (rule_id, number)",
    "CREATE INDEX session_protected ON session (number) WHERE protected = 1",
    "CREATE UNIQUE INDEX signature_session ON session_signature (signature, session)",
)
_KEYS = {
    "rule": "rule_id = NEW.rule_id",
    "session": "session_id = NEW.session_id",
    "session_signature": "signature = NEW.signature AND session = NEW.session",
    "trial": "rule_id = NEW.rule_id",
}
_STATES = """CREATE TRIGGER state_order BEFORE INSERT ON state
WHEN NOT EXISTS (
  SELECT 1 FROM (VALUES ('', 'candidate'), ('candidate', 'active'), ('candidate', 'retired'),
                        ('active', 'retired')) AS allowed
  WHERE allowed.column2 = NEW.state AND allowed.column1 = coalesce(
    (SELECT state FROM state WHERE rule_id = NEW.rule_id ORDER BY number DESC LIMIT 1), '')
)
BEGIN
  SELECT RAISE(ABORT, 'a candidate becomes active or retired, an active rule retired, no other');
END"""


def _append_only() -> Iterator[str]:
    for table in _TABLES:
        for change in ("UPDATE", "DELETE"):
            yield (
                f"CREATE TRIGGER {table}_no_{change.lower()} BEFORE {change} ON {table}"
                f" BEGIN SELECT RAISE(ABORT, 'table {table} is append-only'); END"
            )
        # INSERT OR REPLACE deletes without asking a trigger of DELETE.
        same = " OR ".join(filter(None, ["number = NEW.number", _KEYS.get(table, "")]))
        yield (
            f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table}"
            f" WHEN EXISTS (SELECT 1 FROM {table} WHERE {same})"
            f" BEGIN SELECT RAISE(ABORT, 'table {table} is append-only'); END"
        )


SCHEMA = Schema(
    name="rule store",
    version=1,
    statements=(*_TABLES.values(), *_INDEXES, *_append_only(), _STATES),
    error=StoreError,
    application_id=0x48525255,
)
TABLES = tuple(_TABLES)
