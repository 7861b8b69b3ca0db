# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs of bags that have no ToolRun messages: from the status of actions, or from a file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from harness_ros.bag.definitions import standard_types
from harness_ros.bag.recorded_runs import RecordedRun
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
LAST_NS = (1 << 63) - 1
"""The last stamp that fits into int64, in 2262."""
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
) -> tuple[list[RecordedRun], list[str]]:
    """The goals of actions as runs, and what is wrong in their messages: the goal id is the run_id.

    A run began when its goal was accepted (GoalInfo.stamp) and ended as much later as the message
    that says so was recorded after the first one that names the goal, so that neither clock has to
    be that of the other.

    Raises:
        BagReadError: the bag has no status of an action.
    """
    found: dict[str, RecordedRun] = {}
    problems: list[str] = []
    for tool in tools:
        topic = f"{tool.action}{STATUS_SUFFIX}"
        if topic not in storage.types:
            known = sorted(name for name in storage.types if name.endswith(STATUS_SUFFIX))
            wrong = "".join(f"; {problem}" for problem in storage.problems)
            raise BagReadError(
                f"{storage.path}: no topic {topic}; of actions it has {known or 'none'}{wrong}"
            )
        if storage.types[topic] != STATUS_ARRAY:
            raise BagReadError(
                f"{storage.path}: topic {topic} is {storage.types[topic]}; {STATUS_ARRAY} is wanted"
            )
        decoder = Decoder(Definitions(storage.typestore([topic])), standard_types())
        for message in storage.messages([topic]):
            try:
                content = decoder.message(message.type, message.data, message.topic)
            except DecodeError as error:
                problems.append(str(error))
                continue
            for goal_id, status, accepted_ns in _goals(content):
                known_run = found.get(goal_id)
                if known_run is None:
                    found[goal_id] = _accepted(goal_id, tool, message, accepted_ns, namespace)
                if status in ENDED:
                    found[goal_id] = _ended(found[goal_id], message)
    return sorted(found.values(), key=lambda item: (item.armed_ns, item.run.run_id)), problems


def _goals(content: Any) -> Iterator[tuple[str, int, int]]:
    for status in content.status_list:
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
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        names = list(reader.fieldnames or ())
        missing = {"run_id", "tool", "started", "ended"} - set(names)
        if missing:
            raise RunFileError(
                f"{path}:1: column {sorted(missing)} is missing; wanted are {list(COLUMNS)}"
            )
        twice = sorted(name for name in COLUMNS if names.count(name) > 1)
        if twice:
            raise RunFileError(f"{path}:1: column {twice} is there twice")
        for row in reader:
            where = f"{path}:{reader.line_num}"
            if None in row:
                raise RunFileError(
                    f"{where}: more values than the {len(names)} columns; put a value that holds a "
                    "comma into quotation marks"
                )
            yield reader.line_num, row
    except csv.Error as error:
        raise RunFileError(f"{path}:{reader.line_num}: no CSV: {error}") from None


def _json_lines(path: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    # Not splitlines: text in JSON may hold line ends of Unicode.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            # Unlike json.loads it takes no half of a surrogate pair, and never overflows.
            row = from_json(line, allow_inf_nan=False)
        except ValueError as error:
            raise RunFileError(f"{path}:{number}: no JSON: {error}") from None
        if not isinstance(row, dict):
            raise RunFileError(f"{path}:{number}: a JSON object with {list(COLUMNS)} is wanted")
        yield number, row


def _run_of_row(where: str, row: Mapping[str, Any], namespace: str) -> RecordedRun:
    for name in ("run_id", "tool"):
        if not isinstance(row.get(name), str) or not row[name]:
            raise RunFileError(f"{where}: {name} is {row.get(name)!r:.80}; text is wanted")
    started_ns = _stamp_ns(where, "started", row.get("started"))
    ended_ns = _stamp_ns(where, "ended", row.get("ended"))
    if ended_ns < started_ns:
        raise RunFileError(f"{where}: ended {row['ended']} is before started {row['started']}")
    arguments = row.get("arguments")
    arguments = {} if arguments in (None, "") else arguments
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
    shown = f"{value!r:.80}"
    problem = RunFileError(
        f"{where}: {column} is {shown}; seconds, nanoseconds or ISO 8601 are wanted, from 1970 to "
        "2262"
    )
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise problem
    stamp_ns = _number_ns(value)
    if stamp_ns is None and isinstance(value, str):
        stamp_ns = _iso_ns(value.strip(), problem)
    if stamp_ns is None or not 0 <= stamp_ns <= LAST_NS:
        raise problem
    return stamp_ns


def _number_ns(value: str | int | float) -> int | None:
    """Seconds, or nanoseconds above 1e15, as nanoseconds; None where it is no such number."""
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    if not abs(number) < 1e20:
        return None
    if number > 1e15:
        # A float would lose the last digits.
        text = str(value).strip()
        return int(text) if text.isascii() and text.isdigit() else None
    return round(number * NANOSECONDS)


def _iso_ns(text: str, problem: RunFileError) -> int:
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise problem from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    elapsed = moment - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return (elapsed.days * 86_400 + elapsed.seconds) * NANOSECONDS + elapsed.microseconds * 1000
