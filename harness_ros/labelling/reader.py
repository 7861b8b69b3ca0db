# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Reader: what was seen after runs, asked for by the threads of a server."""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from harness_ros.labelling.runs import LabellingError, Shown
from harness_ros.labelling.sources import Source, source_of

KEPT = 8
"""Runs whose pictures stay in memory: that on the page, the next one, and a few to go back to."""


class Reader:
    """Opens and reads the runs in one thread, since bags and ledgers belong to theirs.

    A context manager.

    Args:
        path, config: as `source_of` wants them, and raises.
    """

    def __init__(self, path: Path, config: Path | None) -> None:
        self._thread = ThreadPoolExecutor(1, "reader")
        self._open = ExitStack()
        self._kept: OrderedDict[str, Shown] = OrderedDict()
        try:
            self.source: Source = self._thread.submit(
                lambda: self._open.enter_context(source_of(path, config))
            ).result()
        except BaseException:
            self._thread.shutdown()
            raise

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.submit(self._open.close).result()
        self._thread.shutdown()

    def shown(self, run_id: str) -> Shown:
        """What was seen after a run.

        Raises:
            HarnessError: it cannot be read.
        """
        try:
            asked = self._thread.submit(self._shown, run_id)
        except RuntimeError:
            raise LabellingError("harness-ros label has ended; start it again") from None
        return asked.result()

    def _shown(self, run_id: str) -> Shown:
        found = self._kept.pop(run_id, None)
        self._kept[run_id] = found or self.source.shown(run_id)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return self._kept[run_id]
