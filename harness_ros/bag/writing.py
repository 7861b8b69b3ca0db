# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Serialized messages into an MCAP bag that carries its definitions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from rosbags.interfaces import Connection, Qos
from rosbags.rosbag2 import (
    CompressionFormat,
    CompressionMode,
    StoragePlugin,
    Writer,
    WriterError,
)
from rosbags.typesys import TypesysError

from harness_ros.bag.definitions import definition, typestore
from harness_ros.capture.definitions import DefinitionError, Definitions
from harness_ros.contract import HarnessError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


class BagWriteError(HarnessError):
    """A bag that cannot be written."""


class BagWriter:
    """Writes one rosbag2 folder in MCAP, its chunks compressed with zstd and its checksums.

    Args:
        path: folder of the bag; must not exist.

    Raises:
        BagWriteError: the folder exists or cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self._typestore = typestore()
        self._definitions = Definitions(self._typestore)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = Writer(path, version=9, storage_plugin=StoragePlugin.MCAP)
            self._writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
            self._writer.open()
            # The writer gives chunks no checksum: that of zstd shows where a bag was damaged.
            storage: Any = self._writer.storage
            storage.compressor = _with_checksum
        except Exception as error:
            raise BagWriteError(f"{path}: no bag can be written here: {error}") from error
        self._connections: dict[str, Connection] = {}

    def __enter__(self) -> BagWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add_topic(self, topic: str, message_type: str, qos: tuple[Qos, ...] = ()) -> None:
        """Announces a topic; `message_type` is `package/msg/Type`.

        Raises:
            BagWriteError: the type has no known definition, or the topic is announced already.
        """
        try:
            self._definitions.find(message_type)
            self._connections[topic] = self._writer.add_connection(
                topic,
                message_type,
                msgdef=definition(self._typestore, message_type),
                rihs01=self._typestore.hash_rihs01(message_type),
                offered_qos_profiles=qos,
            )
        except (DefinitionError, KeyError, TypesysError) as error:
            raise BagWriteError(
                f"{topic}: no definition of {message_type} is known: {error}"
            ) from None
        except WriterError as error:
            raise BagWriteError(f"{topic}: {error}") from None

    def write(self, topic: str, log_time_ns: int, cdr: bytes) -> None:
        """Writes one serialized message of an announced topic."""
        self._writer.write(self._connections[topic], log_time_ns, cdr)

    def close(self) -> None:
        """Writes the index; a bag that is not closed has none."""
        self._writer.close()


def _with_checksum(data: bytes) -> bytes:
    return zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})
