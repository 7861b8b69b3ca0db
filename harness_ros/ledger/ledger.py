# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Ledger: the runs, observations, verdicts and scene events that are kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import lz4.frame
from pydantic import ValidationError

from harness_ros.contract import Kind, Observation, Record, Run, Status, Verdict
from harness_ros.ledger.database import Database, LedgerError
from harness_ros.scene.change import SceneChange

AnyRecord = TypeVar("AnyRecord", bound=Record)

_PAGE = 256
"""Verdicts read at a time."""


class Ledger:
    """One ledger file; usable from several threads, and from several processes at the same time.

    Args:
        path: the file; it and its folder are made where they are missing.

    Raises:
        LedgerError: the file cannot be opened, is no ledger, or is one of another schema. Every
            method raises it when the file cannot be read or written any more.
    """

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self._db = Database(self.path)

    def close(self) -> None:
        """Closes the file; nothing else may be called afterwards."""
        self._db.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def record_run(self, run: Run) -> Run:
        """Records that a run started or ended.

        A known run keeps every field; only a missing `ended_at_ns` is completed.

        Returns:
            The run as the ledger has it now: another one than `run` when a run_id is used again.
        """
        with self._db.transaction() as db:
            db.execute(
                "INSERT INTO run (run_id, ended_at_ns, open, record) VALUES (?1, ?2,"
                " NOT EXISTS (SELECT 1 FROM verdict WHERE run_id = ?1), ?3)"
                " ON CONFLICT (run_id) DO UPDATE"
                " SET ended_at_ns = coalesce(ended_at_ns, excluded.ended_at_ns)",
                (run.run_id, run.ended_at_ns, _dump(run, exclude={"ended_at_ns"})),
            )
            return self._runs("run_id = ?", run.run_id)[0]

    def run(self, run_id: str) -> Run | None:
        """The run, or None."""
        return next(iter(self._runs("run_id = ?", run_id)), None)

    def open_runs(self) -> list[Run]:
        """Runs without a verdict, finished or not, in the order in which they were recorded."""
        return self._runs("open = 1")

    def record_observation(self, observation: Observation, views_kept: int) -> bool:
        """Records what was seen after a run; once the run has a verdict too, both stay as they are.

        The images of an Observation take longer to write than a judge to answer, so the verdict may
        come first.

        Args:
            observation: its numbers are kept for ever.
            views_kept: the newest this many observations keep the images of their views.

        Returns:
            False, and nothing changed, when the run has an Observation and a verdict already.
        """
        blobs = [lz4.frame.compress(view.data) for view in observation.views]
        run_id = observation.run_id
        record = _dump(observation, exclude={"views": {"__all__": {"data"}}})
        with self._db.transaction() as db:
            if db.execute(
                "SELECT 1 FROM verdict JOIN observation USING (run_id) WHERE run_id = ?", (run_id,)
            ).fetchone():
                return False
            db.execute(
                "DELETE FROM view WHERE observation ="
                " (SELECT number FROM observation WHERE run_id = ?)",
                (run_id,),
            )
            db.execute("DELETE FROM observation WHERE run_id = ?", (run_id,))
            number = db.execute(
                "INSERT INTO observation (run_id, record) VALUES (?, ?)", (run_id, record)
            ).lastrowid
            db.executemany(
                "INSERT INTO view VALUES (?, ?, ?)",
                [(number, item, blob) for item, blob in enumerate(blobs)],
            )
            db.execute(
                "DELETE FROM view WHERE observation <="
                " (SELECT number FROM observation ORDER BY number DESC LIMIT 1 OFFSET ?)",
                (views_kept,),
            )
        return True

    def observation(self, run_id: str, with_views: bool = True) -> Observation | None:
        """What was seen after a run, or None.

        Views whose images are not kept any more, or not asked for, are left out;
        `provenance["views_left_out"]` then lists their names.
        """
        with self._db.lock:
            rows = self._db.rows("SELECT number, record FROM observation WHERE run_id = ?", run_id)
            if not rows:
                return None
            number, record = rows[0]
            images = dict(
                self._db.rows("SELECT item, data FROM view WHERE observation = ?", number)
                if with_views
                else []
            )
        fields = json.loads(record)
        left_out = [v["name"] for item, v in enumerate(fields["views"]) if item not in images]
        fields["views"] = [
            {**view, "data": lz4.frame.decompress(images[item])}
            for item, view in enumerate(fields["views"])
            if item in images
        ]
        if left_out:
            fields["provenance"] = {**fields["provenance"], "views_left_out": left_out}
        return self._load(Observation, fields)

    def record_verdict(self, verdict: Verdict) -> bool:
        """Records the one verdict of a run.

        Returns:
            False, and nothing changed, when the run has one already.
        """
        if not verdict.run_id:
            raise LedgerError(f"{self.path}: a verdict of '{verdict.tool_name}' without run_id")
        with self._db.transaction() as db:
            new = db.execute(
                "INSERT INTO verdict (run_id, status, kind, record) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (run_id) DO NOTHING",
                (verdict.run_id, verdict.status.value, verdict.kind.value, _dump(verdict)),
            ).rowcount
            db.execute("UPDATE run SET open = 0 WHERE run_id = ?", (verdict.run_id,))
        return new == 1

    def verdict(self, run_id: str) -> Verdict | None:
        """The verdict of the run, or None as long as there is none."""
        rows = self._db.rows("SELECT record FROM verdict WHERE run_id = ?", run_id)
        return self._load(Verdict, json.loads(rows[0][0])) if rows else None

    def verdicts_of(self, run_ids: Iterable[str]) -> list[Verdict]:
        """The verdicts of these runs in the order in which they were given."""
        found: list[tuple[int, str]] = []
        for run_id in dict.fromkeys(run_ids):
            found += self._db.rows("SELECT position, record FROM verdict WHERE run_id = ?", run_id)
        return [self._load(Verdict, json.loads(record)) for _, record in sorted(found)]

    def run_ids_of_call(self, call_id: str) -> list[str]:
        """The runs of a call, its segments, in the order in which they were recorded.

        Nothing indexes calls: the time grows with the ledger, about a second for a million runs.
        """
        # Not json_extract: arguments may hold an infinity, which older SQLite does not read.
        written = f'"call_id": {json.dumps(call_id)}'
        found = [
            json.loads(record)
            for table in ("run", "verdict")
            for (record,) in self._db.rows(
                f"SELECT record FROM {table} WHERE instr(record, ?) ORDER BY rowid", written
            )
        ]
        # An argument may be written alike.
        of_call = [fields["run_id"] for fields in found if fields["call_id"] == call_id]
        return list(dict.fromkeys(of_call))

    def verdicts_after(self, position: int) -> Iterator[tuple[int, Verdict]]:
        """Verdicts with their positions in the order in which they were given.

        Positions grow; the first verdict's is greater than 0.
        """
        while True:
            rows = self._db.rows(
                "SELECT position, record FROM verdict WHERE position > ?"
                f" ORDER BY position LIMIT {_PAGE}",
                position,
            )
            for position, record in rows:
                yield position, self._load(Verdict, json.loads(record))
            if len(rows) < _PAGE:
                return

    def record_scene_event(self, change: SceneChange) -> bool:
        """Appends an event of the scene graph, and with it the position that the graph is at.

        Returns:
            False, and nothing changed, when another writer has taken the event's number.
        """
        with self._db.transaction() as db:
            (last,) = db.execute("SELECT coalesce(max(number), 0) FROM scene_event").fetchone()
            if change.number != last + 1:
                return False
            db.execute(
                "INSERT INTO scene_event VALUES (?, ?, ?)",
                (change.number, change.run_id, _dump(change)),
            )
        return True

    def scene_events(self, after: int = 0) -> Iterator[SceneChange]:
        """Every event of the scene graph with a greater number, in order."""
        for (record,) in self._db.rows(
            "SELECT record FROM scene_event WHERE number > ? ORDER BY number", after
        ):
            yield self._load(SceneChange, json.loads(record))

    def scene_position(self) -> int:
        """Position of the verdict that the last scene event came from; 0 before the first."""
        rows = self._db.rows("SELECT record FROM scene_event ORDER BY number DESC LIMIT 1")
        return self._load(SceneChange, json.loads(rows[0][0])).position if rows else 0

    def counts(self) -> dict[str, int]:
        """How many of what, for diagnostics.

        Keys: `runs`, `open_runs`, `verdicts`, `verdicts.<status>` for each status, and
        `kind.<kind>` for each kind of unjudged verdict that occurred.
        """
        counts = {"verdicts": 0} | {f"verdicts.{status.name.lower()}": 0 for status in Status}
        with self._db.lock:
            counts["runs"] = self._db.rows("SELECT count(*) FROM run")[0][0]
            counts["open_runs"] = self._db.rows("SELECT count(*) FROM run WHERE open = 1")[0][0]
            rows = self._db.rows("SELECT status, kind, count(*) FROM verdict GROUP BY status, kind")
        for status, kind, number in rows:
            counts["verdicts"] += number
            counts[f"verdicts.{Status(status).name.lower()}"] += number
            if kind != Kind.JUDGED.value:
                counts[f"kind.{kind}"] = counts.get(f"kind.{kind}", 0) + number
        return counts

    def _runs(self, where: str, *values: str) -> list[Run]:
        rows = self._db.rows(
            f"SELECT record, ended_at_ns FROM run WHERE {where} ORDER BY number", *values
        )
        return [
            self._load(Run, {**json.loads(record), "ended_at_ns": ended_at_ns})
            for record, ended_at_ns in rows
        ]

    def _load(self, model: type[AnyRecord], fields: Any) -> AnyRecord:
        try:
            return model.model_validate(fields)
        except ValidationError as error:
            raise LedgerError(
                f"{self.path}: holds a {model.__name__} that cannot be read: {error}"
            ) from None


def _dump(record: Record, exclude: Any = None) -> str:
    # Not model_dump_json: it writes the infinite distance of free space as null.
    return json.dumps(record.model_dump(exclude=exclude))
