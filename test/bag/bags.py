# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Makes bags record by record, in every layout that recorders write, for tests that break them.

Nothing of harness_ros is used here: what is written is what the formats say.
"""

import sqlite3
import struct
from binascii import crc32
from pathlib import Path
from typing import NamedTuple

import lz4.frame
import yaml
from rosbags.rosbag2.storage_mcap import zstd

from harness_ros.bag.storage import Storage

SECOND = 1_000_000_000
BEGIN = 1_700_000_000 * SECOND
STRING = "std_msgs/msg/String"
DEFINITIONS = {STRING: "string data\n", "std_msgs/msg/Header": None}
MAGIC = b"\x89MCAP0\r\n"
COMPRESSORS = {"": bytes, "zstd": zstd.compress, "lz4": lz4.frame.compress}
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX = range(1, 8)
CHUNK_INDEX, STATISTICS, METADATA, DATA_END = 0x08, 0x0B, 0x0C, 0x0F


class Message(NamedTuple):
    topic: str
    log_ns: int
    data: bytes
    type: str = STRING


def string(text):
    """CDR of std_msgs/String."""
    body = text.encode() + b"\0"
    return b"\0\1\0\0" + struct.pack("<I", len(body)) + body


def some(count=40, topics=("/a", "/b"), begin=BEGIN, step=SECOND // 10):
    """Messages that count up, of one topic after the other."""
    return [
        Message(topics[number % len(topics)], begin + number * step, string(f"number {number}"))
        for number in range(count)
    ]


def text(value):
    value = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<I", len(value)) + value


def record(kind, body):
    return struct.pack("<BQ", kind, len(body)) + body


def message(channel, log_ns, data):
    return record(MESSAGE, struct.pack("<HIQQ", channel, 0, log_ns, log_ns) + data)


def chunk_of(content, start_ns, end_ns, compression="", crc=True, size=None):
    packed = COMPRESSORS.get(compression, bytes)(content)
    size = len(content) if size is None else size
    head = struct.pack("<QQQI", start_ns, end_ns, size, crc32(content) if crc else 0)
    return record(CHUNK, head + text(compression) + struct.pack("<Q", len(packed)) + packed)


class Mcap:
    """The parts of an MCAP file; `write` puts them together."""

    def __init__(
        self,
        messages,
        *,
        per_chunk=5,
        compression="zstd",
        crc=True,
        message_index=True,
        chunk_index=True,
        summary=True,
        repeated=True,
        statistics=True,
        encoding="cdr",
        schema_encoding="ros2msg",
        definitions=DEFINITIONS,
        profile="ros2",
        metadata="",
    ):
        self.messages = messages
        self.compression, self.crc, self.message_index = compression, crc, message_index
        types = list(dict.fromkeys(item.type for item in messages))
        self.schemas = {
            name: record(
                SCHEMA,
                struct.pack("<H", number)
                + text(name)
                + text(schema_encoding)
                + text(definitions.get(name) or ""),
            )
            for number, name in enumerate(types, 1)
        }
        self.ids, self.channels = {}, {}
        for item in messages:
            if item.topic not in self.ids:
                number = self.ids[item.topic] = len(self.ids) + 1
                head = struct.pack("<HH", number, types.index(item.type) + 1)
                self.channels[item.topic] = record(
                    CHANNEL, head + text(item.topic) + text(encoding) + text(b"")
                )
        self.head = MAGIC + record(HEADER, text(profile) + text("test"))
        self.data, self.chunks, self.index = [], [], []
        known = set()
        at = len(self.head)
        for begin in range(0, len(messages), per_chunk or max(1, len(messages))):
            part = messages[begin : begin + per_chunk] if per_chunk else messages
            added, entry = self._part(part, known, at, bool(per_chunk))
            self.data.append(added)
            if entry is not None:
                self.index.append(entry)
            at += len(added)
        if metadata:
            self.data.append(record(METADATA, text("rosbag2") + text(metadata)))
        self.data.append(record(DATA_END, struct.pack("<I", 0)))
        self.summary = []
        if summary:
            if repeated:
                self.summary += [*self.schemas.values(), *self.channels.values()]
            if chunk_index:
                self.summary += self.index
            if statistics:
                counts = b"".join(
                    struct.pack("<HQ", number, sum(item.topic == topic for item in messages))
                    for topic, number in self.ids.items()
                )
                times = [item.log_ns for item in messages] or [0]
                head = struct.pack(
                    "<QHIIIIQQ",
                    len(messages),
                    len(types),
                    len(self.ids),
                    0,
                    0,
                    len(self.index),
                    min(times),
                    max(times),
                )
                self.summary.append(record(STATISTICS, head + text(counts)))

    def _part(self, part, known, at, is_chunk):
        content, offsets = b"", {}
        for item in part:
            if item.topic not in known:
                if item.type not in known:
                    content += self.schemas[item.type]
                content += self.channels[item.topic]
                known |= {item.topic, item.type}
            number = self.ids[item.topic]
            offsets.setdefault(number, []).append((item.log_ns, len(content)))
            content += message(number, item.log_ns, item.data)
        if not is_chunk:
            return content, None
        start_ns, end_ns = (edge(item.log_ns for item in part) for edge in (min, max))
        chunk = chunk_of(content, start_ns, end_ns, self.compression, self.crc)
        self.chunks.append((at, len(chunk)))
        indexes, places = b"", b""
        for number, entries in offsets.items() if self.message_index else ():
            places += struct.pack("<HQ", number, at + len(chunk) + len(indexes))
            packed = b"".join(struct.pack("<QQ", *entry) for entry in entries)
            indexes += record(MESSAGE_INDEX, struct.pack("<H", number) + text(packed))
        entry = record(
            CHUNK_INDEX,
            struct.pack("<QQQQ", start_ns, end_ns, at, len(chunk))
            + text(places)
            + struct.pack("<Q", len(indexes))
            + text(self.compression)
            + struct.pack("<QQ", len(chunk), len(content)),
        )
        return chunk + indexes, entry

    def bytes(self):
        data = self.head + b"".join(self.data)
        summary = b"".join(self.summary)
        start = len(data) if summary else 0
        footer = struct.pack("<BQQQ", FOOTER, 20, start, 0)
        crc = crc32(summary + footer) if self.crc else 0
        return data + summary + footer + struct.pack("<I", crc) + MAGIC

    def write(self, path):
        path.write_bytes(self.bytes())
        return path


def mcap(path, messages, **options):
    return Mcap(messages, **options).write(path)


SQLITE_TABLES = {
    1: "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,"
    " serialization_format TEXT NOT NULL);",
    2: "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,"
    " serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL);",
    3: "CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL);"
    "CREATE TABLE metadata(id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL,"
    " metadata TEXT NOT NULL);",
    4: "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,"
    " serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL,"
    " type_description_hash TEXT NOT NULL);"
    "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL,"
    " encoding TEXT NOT NULL, encoded_message_definition TEXT NOT NULL,"
    " type_description_hash TEXT NOT NULL);",
}
"""Of Dashing, Foxy to Galactic, Humble, Iron to Jazzy."""
MESSAGES_TABLE = (
    "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL,"
    " timestamp INTEGER NOT NULL, data BLOB NOT NULL);"
)
MESSAGES_INDEX = "CREATE INDEX timestamp_idx ON messages (timestamp ASC);"


def sqlite(path, messages, version=4, pragmas=(), index=True, encoding="cdr", close=True):
    """A file of rosbag2 in one of its schemas; the connection where it is not to be closed."""
    database = sqlite3.connect(path)
    for pragma in pragmas:
        database.execute(f"PRAGMA {pragma}")
    tables = {1: [1], 2: [2], 3: [2, 3], 4: [3, 4]}[version]
    script = "".join(SQLITE_TABLES[number] for number in tables) + MESSAGES_TABLE
    database.executescript(script + (MESSAGES_INDEX if index else ""))
    if version >= 3:
        database.execute("INSERT INTO schema VALUES (?, 'test')", [version])
    numbers = {}
    for item in messages:
        if item.topic not in numbers:
            numbers[item.topic] = len(numbers) + 1
            row = [numbers[item.topic], item.topic, item.type, encoding]
            row += [""] * {1: 0, 2: 1, 3: 1, 4: 2}[version]
            database.execute(f"INSERT INTO topics VALUES ({','.join('?' * len(row))})", row)
            if version == 4:
                database.execute(
                    "INSERT INTO message_definitions VALUES (NULL, ?, 'ros2msg', ?, '')",
                    [item.type, DEFINITIONS.get(item.type) or ""],
                )
    database.executemany(
        "INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)",
        [(numbers[item.topic], item.log_ns, item.data) for item in messages],
    )
    database.commit()
    if not close:
        return database
    database.close()
    return path


def metadata(folder, messages, files, version=9, **changes):
    """metadata.yaml as rosbag2 writes it in this version."""
    times = [item.log_ns for item in messages] or [0]
    qos = [] if version >= 9 else ""
    topics = [
        {
            "topic_metadata": {
                "name": topic,
                "type": kind,
                "serialization_format": "cdr",
                **({"offered_qos_profiles": qos} if version >= 4 else {}),
                **({"type_description_hash": ""} if version >= 7 else {}),
            },
            "message_count": sum(item.topic == topic for item in messages),
        }
        for topic, kind in {item.topic: item.type for item in messages}.items()
    ]
    information = {
        "version": version,
        "storage_identifier": "mcap" if ".mcap" in "".join(files) else "sqlite3",
        "duration": {"nanoseconds": max(times) - min(times)},
        "starting_time": {"nanoseconds_since_epoch": min(times)},
        "message_count": len(messages),
        "topics_with_message_count": topics,
        "compression_format": "",
        "compression_mode": "",
        "relative_file_paths": [f"{folder.name}/{x}" if version < 4 else x for x in files],
        **({"ros_distro": "jazzy"} if version >= 8 else {}),
        **({"custom_data": None} if version >= 6 else {}),
        **changes,
    }
    path = folder / "metadata.yaml"
    path.write_text(yaml.safe_dump({"rosbag2_bagfile_information": information}))
    return path


def packed(path):
    """The file as compression mode FILE leaves it."""
    target = path.with_name(f"{path.name}.zstd")
    target.write_bytes(zstd.compress(path.read_bytes()))
    path.unlink()
    return target


def read(path, topics=None, start_ns=None, stop_ns=None, **options):
    """The messages of a bag as they were given to be written, and what was said of it."""
    with Storage(Path(path), **options) as storage:
        wanted = list(storage.types) if topics is None else topics
        found = [
            Message(item.topic, item.log_time_ns, item.data, item.type)
            for item in storage.messages(wanted, start_ns, stop_ns)
        ]
        return found, storage.problems
