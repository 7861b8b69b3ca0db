# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Decompression that never gives more than was announced or fits."""

from __future__ import annotations

import shutil
import sys
import tempfile
from binascii import crc32
from pathlib import Path

import lz4.frame

from harness_ros.bag.storage.records import BagReadError, DamageError, Problems, Progress, said

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
MOST_BYTES = 256 << 20
"""A chunk or a message that says it is larger is taken for damaged."""
RESERVE = 32 << 20
"""Bytes that stay free on the disk of the temporary folder."""
PIECE = 1 << 20
MOST_FRAMES = 1000
"""Of zstd in one chunk or message; more are an attack."""
LOOK_EVERY = 64 << 20
"""Bytes between two looks at the free space."""


def chunk(data: bytes | memoryview, compression: str, size: int, crc: int) -> bytes:
    """The records of a whole chunk.

    Raises:
        DamageError: it is not what its header says.
    """
    content = _decompressed(data, compression, size)
    if len(content) != size:
        raise DamageError(f"{len(content)} bytes where its header says {size}")
    if crc and crc32(content) != crc:
        raise DamageError("its checksum is wrong")
    return content


def start_of_chunk(data: bytes | memoryview, compression: str, size: int) -> bytes:
    """As much of the records of a chunk as its first bytes give.

    Raises:
        DamageError: these bytes are damaged.
    """
    return _decompressed(data, compression, size)


def message(data: bytes) -> bytes:
    """A message of a bag in compression mode MESSAGE.

    Raises:
        DamageError: it is damaged, or larger than any message.
    """
    content = _zstd(data, MOST_BYTES + 1, whole=True)
    if len(content) > MOST_BYTES:
        raise DamageError(f"more than {MOST_BYTES} bytes when decompressed")
    return content


def file(path: Path, folder: Path, problems: Problems, progress: Progress | None) -> Path:
    """A file of a bag in compression mode FILE, decompressed into a folder.

    What can be decompressed of a damaged or shortened file is there.

    Raises:
        BagReadError: the file cannot be read, or the disk is full.
    """
    target = folder / path.with_suffix("").name
    done = 0
    try:
        total = path.stat().st_size
        with path.open("rb") as packed, target.open("wb") as plain:
            _check_room(path, folder, _announced(packed.read(18)))
            packed.seek(0)
            with zstd.open(packed, "rb") as stream:
                looked = 0
                try:
                    # What comes in one go: of a file that is cut off, nothing is lost.
                    while piece := stream.read1(PIECE):
                        plain.write(piece)
                        done += len(piece)
                        if done - looked >= LOOK_EVERY:
                            looked = done
                            _check_room(path, folder, 0)
                        if progress is not None:
                            progress(packed.tell(), total)
                except (zstd.ZstdError, EOFError) as error:
                    problems.say(
                        path,
                        f"cut off or damaged at byte {packed.tell()} of {total} ({said(error)}): "
                        f"the {done} bytes before were decompressed",
                    )
    except OSError as error:
        raise BagReadError(
            f"{path}: cannot be decompressed into {folder} after {done} bytes: {said(error)}; "
            "set TMPDIR to a folder with more room"
        ) from error
    return target


def _announced(head: bytes) -> int:
    try:
        return zstd.get_frame_info(head).decompressed_size or 0
    except zstd.ZstdError:
        return 0


def _check_room(path: Path, folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free - RESERVE
    if needed > free or free < 0:
        raise BagReadError(
            f"{path}: the disk of {tempfile.gettempdir()} is full: decompressing needs "
            f"{max(needed, PIECE) >> 20} MiB, {max(free, 0) >> 20} MiB are free; set TMPDIR to a "
            "folder with more room"
        )


def _decompressed(data: bytes | memoryview, compression: str, size: int) -> bytes:
    if size > MOST_BYTES:
        raise DamageError(f"its header says {size} bytes, more than any chunk")
    if compression == "":
        return bytes(data)
    if compression == "zstd":
        return _zstd(data, size + 1, whole=False)
    if compression == "lz4":
        try:
            return bytes(lz4.frame.LZ4FrameDecompressor().decompress(data, max_length=size + 1))
        except (RuntimeError, MemoryError) as error:
            raise DamageError(f"lz4: {said(error)}") from error
    raise DamageError(f"it is compressed with '{compression}'; lz4 and zstd are known")


def _zstd(data: bytes | memoryview, most: int, *, whole: bool) -> bytes:
    content = b""
    try:
        # Several frames may follow each other.
        for _ in range(MOST_FRAMES):
            if not data or len(content) >= most:
                break
            decompressor = zstd.ZstdDecompressor()
            content += decompressor.decompress(data, max_length=most - len(content))
            if not decompressor.eof:
                if whole and len(content) < most:
                    raise DamageError("zstd: it ends too early")
                break
            data = decompressor.unused_data
    except (zstd.ZstdError, MemoryError, EOFError) as error:
        raise DamageError(f"zstd: {said(error)}") from error
    return content
