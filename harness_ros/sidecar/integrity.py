# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the agent must not move: files by their hash, counts within their bounds.

An agent that is scored by tests can also reach a high score by changing or skipping them. Whoever
grades must not have its tools within the agent's reach; where it has, this is found here.
"""

from __future__ import annotations

import hashlib
import logging
import math
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness_ros.config.sidecar import IntegrityConfig, ProtectedCount, ProtectedFiles
from harness_ros.contract import HarnessError
from harness_ros.sidecar.paths import ABSENT, is_path, value_at

log = logging.getLogger("harness_ros.sidecar")

SETTLED_S = 2.0
"""A file that changed less than this ago is read again: its next change may carry the same time."""
NAMED = 5
"""Files that a violation names."""


class IntegrityError(HarnessError):
    """What is to be guarded cannot be; the text names key, path and cause."""


class Integrity:
    """Guards what a configuration names, from now on.

    Raises:
        IntegrityError: a path cannot be read, a pattern matches no file, a file cannot be read, or
            the files are not those of the `sha256` that is given.
    """

    def __init__(self, config: IntegrityConfig) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._known: dict[Path, tuple[tuple[int, ...], str]] = {}
        self._begin: dict[str, dict[str, str]] = {}
        for name, count in config.counts.items():
            if not is_path(count.at):
                raise IntegrityError(
                    f"sidecar.integrity.counts.{name}.at: '{count.at}' cannot be read: `a.b[0]` or "
                    '`a["b"]` is wanted'
                )
        for name, guarded in config.files.items():
            where = f"sidecar.integrity.files.{name}"
            try:
                hashes = self._hashes(guarded)
            except OSError as error:
                raise IntegrityError(f"{where}: {error.filename}: {error.strerror}") from None
            if not hashes:
                raise IntegrityError(
                    f"{where}: no file of {config.folder} matches '{guarded.files}'"
                )
            together = hash_of(hashes)
            if guarded.sha256 not in (None, together):
                raise IntegrityError(
                    f"{where}.sha256: the {len(hashes)} files have {together}, not {guarded.sha256}"
                )
            log.info("%s: %d files, sha256 %s", where, len(hashes), together)
            self._begin[name] = hashes

    def violations(self, end_state: Mapping[str, Any]) -> tuple[str, ...]:
        """What has been moved, one line each; empty where nothing has."""
        found = [
            problem
            for name, guarded in self._config.files.items()
            if (problem := self._moved(name, guarded))
        ]
        found += [
            problem
            for name, count in self._config.counts.items()
            if (problem := _out_of_bounds(name, count, end_state))
        ]
        return tuple(found)

    def _moved(self, name: str, guarded: ProtectedFiles) -> str:
        before = self._begin[name]
        try:
            now = self._hashes(guarded)
        except OSError as error:
            return f"files '{name}': {error.filename}: {error.strerror}"
        groups = {
            "changed": [path for path in before if path in now and now[path] != before[path]],
            "removed": [path for path in before if path not in now],
            "added": [path for path in now if path not in before],
        }
        said = [f"{what} {_listed(paths)}" for what, paths in groups.items() if paths]
        return f"files '{name}': {'; '.join(said)}" if said else ""

    def _hashes(self, guarded: ProtectedFiles) -> dict[str, str]:
        """SHA-256 of each file that matches, by its path below the folder."""
        folder = self._config.folder
        try:
            paths = sorted(path for path in folder.glob(guarded.files) if path.is_file())
        except (ValueError, NotImplementedError) as error:
            raise IntegrityError(f"pattern '{guarded.files}': {error}") from None
        return {str(path.relative_to(folder)): self._hash(path) for path in paths}

    def _hash(self, path: Path) -> str:
        status = path.stat()
        # The time of a change of the inode is set by the system alone, unlike that of its content.
        times = (status.st_mtime_ns, status.st_ctime_ns)
        state = (status.st_dev, status.st_ino, status.st_size, *times)
        with self._lock:
            known = self._known.get(path)
        if known is not None and known[0] == state:
            return known[1]
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if time.time_ns() - status.st_ctime_ns > SETTLED_S * 1e9:
            with self._lock:
                self._known[path] = (state, digest)
        return digest


def hash_of(hashes: Mapping[str, str]) -> str:
    """One SHA-256 (hex) of the names and hashes of several files."""
    lines = (f"{digest}  {name}\n" for name, digest in sorted(hashes.items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _listed(paths: list[str]) -> str:
    more = len(paths) - NAMED
    return ", ".join(paths[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _out_of_bounds(name: str, count: ProtectedCount, end_state: Mapping[str, Any]) -> str:
    found = value_at(end_state, count.at)
    where = f"count '{name}': end_state.{count.at}"
    if found is ABSENT:
        return f"{where} is missing"
    number = isinstance(found, (int, float)) and not isinstance(found, bool)
    if not number or not math.isfinite(found):
        return f"{where} is {str(found)[:80]!r}; a number is wanted"
    if count.min is not None and found < count.min:
        return f"{where} is {found:g}; at least {count.min:g} is wanted"
    if count.max is not None and found > count.max:
        return f"{where} is {found:g}; at most {count.max:g} is allowed"
    return ""
