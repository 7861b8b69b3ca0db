# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The folder that a demo writes into: one of its own, never one with a person's files."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness_ros.contract import HarnessError

MARKER = ".harness_ros_demo"
"""Marks a folder that an earlier demo made and that the next one may replace."""


class DemoError(HarnessError):
    """The demo cannot run."""


def fresh_folder(out: Path) -> Path:
    """The folder, empty and absolute.

    Raises:
        DemoError: it holds something else than an earlier demo.
    """
    if out.exists():
        if not out.is_dir() or (any(out.iterdir()) and not (out / MARKER).exists()):
            raise DemoError(f"{out} holds files that are not of a demo: name another --out")
        shutil.rmtree(out)
    out.mkdir(parents=True)
    (out / MARKER).touch()
    return out.resolve()
