# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A bag: a rosbag2 folder or one of its files, in MCAP or SQLite."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from rosbags.typesys.store import Typestore

from harness_ros.bag.storage import compression, metadata, opening
from harness_ros.bag.storage.definitions import BagDefinitions
from harness_ros.bag.storage.mcap import McapFile
from harness_ros.bag.storage.mcap_blocks import Contents
from harness_ros.bag.storage.merging import merged
from harness_ros.bag.storage.records import (
    BagFile,
    BagReadError,
    DamageError,
    Problems,
    Progress,
    Recorded,
    said,
    seconds,
)
from harness_ros.bag.storage.sqlite import SqliteFile


class Storage:
    """A rosbag2 folder, or one of its files; also a context manager that closes itself.

    Messages are read as they are asked for. What is damaged is left out and told in `problems`;
    metadata.yaml is compared with the files and never believed.

    Args:
        path: the folder, or one file: .mcap, .db3, each also with .zstd behind it.
        definitions: folders with .msg files (share/<package>/msg/X.msg, <package>/msg/X.msg or
            X.msg) for types that the bag does not define.
        progress: called with bytes done and bytes in all, while a file without an index is read
            through or a compressed file is decompressed.

    Raises:
        BagReadError: nothing of it can be read, or a folder of definitions is none.
    """

    def __init__(
        self,
        path: Path,
        definitions: Sequence[Path] = (),
        progress: Progress | None = None,
    ) -> None:
        self.path = path
        self._problems = Problems()
        self.problems: list[str] = self._problems.texts
        """What was wrong and lived with: each names a file and says what was done. It grows while
        messages are read."""
        self._progress = progress
        self._contents = Contents()
        self._decompressed = False
        self._stack = ExitStack()
        self._temporary: Path | None = None
        try:
            self._files = self._opened()
            self._definitions = BagDefinitions(
                path,
                [(file.path, topic) for file in self._files for topic in file.topics],
                definitions,
                self._problems,
            )
        except BaseException:
            self._stack.close()
            raise
        self.types: dict[str, str] = {}
        """Message type of each topic."""
        for file in self._files:
            for topic in file.topics:
                first = self.types.setdefault(topic.name, topic.type)
                if first != topic.type:
                    self._problems.say(
                        file.path,
                        f"topic {topic.name} is {topic.type} here, {first} before: left out",
                    )

    @property
    def read_through(self) -> bool:
        """Whether opening it takes as long as reading it: it has no index, or is compressed."""
        return self._decompressed or any(file.read_through for file in self._files)

    def close(self) -> None:
        """Closes the files and removes what was decompressed."""
        self._stack.close()
        self._files = []

    def __enter__(self) -> Storage:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def topics_of(self, message_type: str) -> list[str]:
        """Topics with messages of a type."""
        return sorted(topic for topic, found in self.types.items() if found == message_type)

    def messages(
        self, topics: Collection[str], start_ns: int | None = None, stop_ns: int | None = None
    ) -> Iterator[Recorded]:
        """The messages of topics by the time of recording; from start, before stop.

        Those of one time come in the order of the files, by their first messages, and in a file in
        the order in which they were written. Damaged ones are left out, see `problems`.
        """
        wanted = frozenset(topics)
        sources = [
            source for file in self._files for source in file.sources(wanted, start_ns, stop_ns)
        ]
        for message in merged(sources):
            if message.type != self.types[message.topic]:
                continue
            # CDR begins with a zero: this is compression mode MESSAGE, whatever metadata.yaml says.
            if message.data.startswith(compression.ZSTD_MAGIC):
                try:
                    message = message._replace(data=compression.message(message.data))
                except DamageError as error:
                    self._problems.say(
                        self.path,
                        f"topic {message.topic}: the message recorded at "
                        f"{seconds(message.log_time_ns)} cannot be decompressed ({said(error)}): "
                        "left out",
                    )
                    continue
            yield message

    def typestore(self, topics: Collection[str]) -> Typestore:
        """Definitions of the types of topics, with all that they refer to.

        Those of the bag, else those of the given folders, else those of this version. A type that
        nobody knows is not in it.
        """
        return self._definitions.typestore(topics)

    def _opened(self) -> list[BagFile]:
        path = self.path.parent if self.path.name == metadata.NAME else self.path
        paths = opening.files(path, self._problems)
        files: list[BagFile] = []
        errors: list[BagReadError] = []
        for item in paths:
            try:
                files.append(self._opened_file(item))
            except BagReadError as error:
                errors.append(error)
        if not files:
            raise errors[0] if len(errors) == 1 else BagReadError("; ".join(map(str, errors)))
        for failure in errors:
            name, _, text = str(failure).partition(": ")
            self._problems.say(Path(name), f"{text}: left out")
        if path.is_dir() and (known := metadata.read(path, self._problems)) is not None:
            count = None if errors else _sum(file.about for file in files)
            if count != known.messages and not errors:
                count = _sum(file.count() for file in files)
            names = [item.name for item in paths]
            metadata.compare(path, known, names, count, self._problems)
        # By their first messages, whatever their names say; empty ones are never asked.
        return sorted(files, key=lambda file: (file.start_ns is None, file.start_ns or 0))

    def _opened_file(self, path: Path) -> BagFile:
        plain = path
        try:
            found = opening.format_of(path)
            if found.is_packed:
                folder = self._folder()
                plain = compression.file(path, folder, self._problems, self._progress)
                self._decompressed = True
                found = opening.format_of(plain)
            file: BagFile
            if found.is_mcap:
                file = McapFile(path, self._problems, self._contents, self._progress, plain)
            else:
                file = SqliteFile(path, self._problems, self._folder, plain)
        except BagReadError as error:
            # Nobody knows the temporary file.
            raise BagReadError(str(error).replace(str(plain), str(path))) from error
        except OSError as error:
            raise BagReadError(f"{path}: cannot be read: {said(error)}") from error
        self._stack.callback(file.close)
        return file

    def _folder(self) -> Path:
        """A folder for what is decompressed; it is removed when this is closed."""
        if self._temporary is None:
            self._temporary = Path(
                self._stack.enter_context(tempfile.TemporaryDirectory(prefix="harness_ros_bag_"))
            )
        return self._temporary


def _sum(counts: Iterable[int | None]) -> int | None:
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total
