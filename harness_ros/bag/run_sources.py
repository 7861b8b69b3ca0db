# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs of bags that have no ToolRun messages: from the status of actions, or from a file."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from harness_ros.bag.reading import RecordedRun
from harness_ros.bag.storage import BagReadError, Recorded, Storage
from harness_ros.capture.decoding import DecodeError, Decoder
from harness_ros.capture.definitions import Definitions
from harness_ros.capture.sample import NANOSECONDS
from harness_ros.contract import HarnessError, Run
from harness_ros.messages import ConversionError, parse_arguments, to_ns

STATUS_ARRAY = "action_msgs/msg/GoalStatusArray"
STATUS_SUFFIX = "/_action/status"
ENDED = frozenset({4, 5, 6})
"""GoalStatus: succeeded, canceled, aborted."""
COLUMNS = ("run_id", "tool", "arguments", "started", "ended")


class RunFileError(HarnessError):
    """A file of runs, or a `--tool`, that cannot be used."""


@dataclass(frozen=True)
class ActionTool:
    """Which tool the goals of an action are runs of."""

    action: str
    tool: str
    arguments_json: str = "{}"

    @classmethod
    def parse(cls, text: str) -> ActionTool:
        """From `ACTION=TOOL`, or `ACTION=TOOL{"argument": "value"}`: a status names no arguments.

        Raises:
            RunFileError: it is written in another way.
        """
        action, equals, rest = text.partition("=")
        tool, brace, arguments = rest.partition("{")
        if not equals or not action.startswith("/") or not tool:
            raise RunFileError(
                f"--tool {text}: ACTION=TOOL is wanted, the action with its whole name: "
                '/arm/pick=pick or /arm/pick=pick{"target": "cup"}'
            )
        try:
            parse_arguments(brace + arguments)
        except ConversionError as error:
            raise RunFileError(f"--tool {text}: {error}") from None
        return cls(action, tool, brace + arguments or "{}")


def runs_of_actions(
    storage: Storage, tools: Iterable[ActionTool], namespace: str
) -> list[RecordedRun]:
    """The goals of actions as runs: the goal id is the run_id.

    A run began when its goal was accepted (GoalInfo.stamp) and ended as much later as the message
    that says so was recorded after the first one that names the goal, so that neither clock has to
    be that of the other.

    Raises:
        BagReadError: the bag has no status of an action.
    """
    found: dict[str, RecordedRun] = {}
    for tool in tools:
        topic = f"{tool.action}{STATUS_SUFFIX}"
        if topic not in storage.types:
            known = sorted(name for name in storage.types if name.endswith(STATUS_SUFFIX))
            raise BagReadError(
                f"{storage.path}: no topic {topic}; of actions it has {known or 'none'}"
            )
        decoder = Decoder(Definitions(storage.typestore([topic])))
        for message in storage.messages([topic]):
            for goal_id, status, accepted_ns in _goals(decoder, message):
                known_run = found.get(goal_id)
                if known_run is None:
                    found[goal_id] = _accepted(goal_id, tool, message, accepted_ns, namespace)
                if status in ENDED:
                    found[goal_id] = _ended(found[goal_id], message)
    return sorted(found.values(), key=lambda item: (item.armed_ns, item.run.run_id))


def _goals(decoder: Decoder, message: Recorded) -> Iterator[tuple[str, int, int]]:
    try:
        statuses = decoder.message(message.type, message.data, message.topic).status_list
    except DecodeError:
        return
    for status in statuses:
        info = status.goal_info
        yield bytes(info.goal_id.uuid).hex(), int(status.status), to_ns(info.stamp)


def _accepted(
    goal_id: str, tool: ActionTool, message: Recorded, accepted_ns: int, namespace: str
) -> RecordedRun:
    run = Run(
        run_id=goal_id,
        call_id=goal_id,
        segment=1,
        tool_name=tool.tool,
        arguments=parse_arguments(tool.arguments_json),
        started_at_ns=accepted_ns or message.log_time_ns,
    )
    return RecordedRun(run, _runs_topic(namespace), message.log_time_ns, said=False)


def _ended(known: RecordedRun, message: Recorded) -> RecordedRun:
    if known.finished_ns is not None:
        return known
    lasted_ns = message.log_time_ns - known.armed_ns
    ended = known.run.model_copy(update={"ended_at_ns": known.run.started_at_ns + lasted_ns})
    return RecordedRun(
        ended, known.topic, known.armed_ns, message.log_time_ns, known.verdict, said=False
    )


def _runs_topic(namespace: str) -> str:
    return f"{namespace.rstrip('/')}/runs"


def runs_of_file(path: Path, namespace: str) -> list[RecordedRun]:
    """Runs from a CSV or JSONL file with the columns run_id, tool, arguments, started, ended.

    Stamps are seconds (a number), nanoseconds (a whole number above 1e15) or ISO 8601; the stamps
    of the messages and the time of recording are taken to be on the same clock.

    Raises:
        RunFileError: with the line, the column and what is allowed.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise RunFileError(f"{path}: {error}") from None
    rows = _json_lines(path, text) if path.suffix in (".jsonl", ".json") else _csv_lines(path, text)
    found: dict[str, RecordedRun] = {}
    for number, row in rows:
        recorded = _run_of_row(f"{path}:{number}", row, namespace)
        if recorded.run.run_id in found:
            raise RunFileError(f"{path}:{number}: run_id '{recorded.run.run_id}' is there twice")
        found[recorded.run.run_id] = recorded
    return sorted(found.values(), key=lambda item: (item.armed_ns, item.run.run_id))


def _csv_lines(path: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.DictReader(text.splitlines())
    missing = {"run_id", "tool", "started", "ended"} - set(reader.fieldnames or ())
    if missing:
        raise RunFileError(
            f"{path}:1: column {sorted(missing)} is missing; wanted are {list(COLUMNS)}"
        )
    for row in reader:
        yield reader.line_num, row


def _json_lines(path: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise RunFileError(f"{path}:{number}: no JSON: {error}") from None
        if not isinstance(row, dict):
            raise RunFileError(f"{path}:{number}: a JSON object with {list(COLUMNS)} is wanted")
        yield number, row


def _run_of_row(where: str, row: Mapping[str, Any], namespace: str) -> RecordedRun:
    for name in ("run_id", "tool"):
        if not isinstance(row.get(name), str) or not row[name]:
            raise RunFileError(f"{where}: {name} is {row.get(name)!r}; text is wanted")
    started_ns = _stamp_ns(where, "started", row.get("started"))
    ended_ns = _stamp_ns(where, "ended", row.get("ended"))
    if ended_ns < started_ns:
        raise RunFileError(f"{where}: ended {row['ended']} is before started {row['started']}")
    arguments = row.get("arguments") or {}
    try:
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        parsed = parse_arguments(text)
    except ConversionError as error:
        raise RunFileError(f"{where}: {error}") from None
    run = Run(
        run_id=row["run_id"],
        call_id=row["run_id"],
        segment=1,
        tool_name=row["tool"],
        arguments=parsed,
        started_at_ns=started_ns,
        ended_at_ns=ended_ns,
    )
    return RecordedRun(run, _runs_topic(namespace), started_ns, ended_ns, said=False)


def _stamp_ns(where: str, column: str, value: Any) -> int:
    problem = RunFileError(
        f"{where}: {column} is {value!r}; seconds, nanoseconds or ISO 8601 are wanted"
    )
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise problem
    if isinstance(value, str):
        value = value.strip()
        if value.isdigit():
            value = int(value)
        else:
            try:
                value = float(value)
            except ValueError:
                return _iso_ns(value, problem)
    if isinstance(value, int) and value > 10**15:
        return int(value)
    seconds = float(value)
    if not 0 <= seconds < 1e12:
        raise problem
    return round(seconds * NANOSECONDS)


def _iso_ns(text: str, problem: RunFileError) -> int:
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise problem from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    elapsed = moment - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return (elapsed.days * 86_400 + elapsed.seconds) * NANOSECONDS + elapsed.microseconds * 1000
