# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the formats have in common: topics, recorded messages, and what was wrong with a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from harness_ros.contract import HarnessError

NANOSECONDS = 1_000_000_000
MOST_PROBLEMS = 500
"""A bag may be broken in more places than anybody reads."""
TYPE_NAME = re.compile(r"([A-Za-z]\w*)(?:/(msg|srv|action))?/([A-Za-z]\w*)", re.ASCII)

Progress = Callable[[int, int], None]
"""`progress(done_bytes, total_bytes)`, called now and then while a file is read through."""


class BagReadError(HarnessError):
    """A bag that cannot be read; the text names it."""


class DamageError(Exception):
    """Bytes that are not what their format says. Never leaves this package."""


class Recorded(NamedTuple):
    """One serialized message."""

    topic: str
    type: str
    """`package/msg/Type`."""
    log_time_ns: int
    """When it was recorded, on the clock of the recorder."""
    data: bytes
    """CDR with its four-byte encapsulation header."""


class Topic(NamedTuple):
    """A topic as one file has it."""

    name: str
    type: str
    """`package/msg/Type`."""
    definition: str = ""
    format: str = ""
    """Of the definition: `ros2msg`, `ros2idl`, or empty where there is none."""


class Source(Protocol):
    """Part of a file that is read in one go, such as a chunk."""

    @property
    def start_ns(self) -> int:
        """No message of it was recorded before."""

    def messages(self) -> Iterator[Recorded]:
        """Its messages by the time of recording, those of one time in the order of the file."""


class BagFile(Protocol):
    """One open file of a bag."""

    path: Path
    topics: list[Topic]
    start_ns: int | None
    """Time of recording of the first message; None where there is none."""
    about: int | None
    """Messages in it, as far as that is known at once; None where it is not."""
    read_through: bool
    """Whether it was read from its begin to its end to be opened."""

    def sources(
        self, topics: Collection[str], start_ns: int | None, stop_ns: int | None
    ) -> list[Source]:
        """The parts that may hold messages of topics from start on and before stop."""

    def count(self) -> int | None:
        """Messages in it, counted where this takes no reading of them; None where it does."""

    def close(self) -> None:
        """Closes it."""


class Problems:
    """What was wrong and lived with; each text is there once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._known: set[str] = set()

    def say(self, path: Path, text: str) -> None:
        """Adds what is wrong with a file and what was done about it."""
        full = f"{path}: {text}"
        if full in self._known or len(self.texts) > MOST_PROBLEMS:
            return
        if len(self.texts) == MOST_PROBLEMS:
            full = f"{path}: and more; no more than {MOST_PROBLEMS} problems are listed"
        self._known.add(full)
        self.texts.append(full)


def type_name(name: str) -> str | None:
    """`package/msg/Type` of a name with or without `/msg/`; None where it is no name of a type."""
    found = TYPE_NAME.fullmatch(name)
    return f"{found[1]}/{found[2] or 'msg'}/{found[3]}" if found else None


def topic(
    path: Path, problems: Problems, name: str, message_type: str, encoding: str
) -> Topic | None:
    """A topic whose messages can be decoded; None, and said, where they cannot."""
    known = type_name(message_type)
    if encoding not in ("cdr", ""):
        problems.say(path, f"topic {name} is encoded as '{encoding}', not as cdr: left out")
    elif known is None:
        problems.say(path, f"topic {name} has '{message_type}' for its type: left out")
    else:
        return Topic(name, known)
    return None


def said(error: Exception) -> str:
    """The text of an error on one line."""
    return " ".join(str(error).split()) or type(error).__name__


def seconds(stamp_ns: int) -> str:
    """A stamp as people read it in the output of ROS tools."""
    return f"{stamp_ns // NANOSECONDS}.{stamp_ns % NANOSECONDS:09d} s"
