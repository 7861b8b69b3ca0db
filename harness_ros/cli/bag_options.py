# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of several commands: how a bag is to be read that does not say it all itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Tools = Annotated[
    list[str] | None,
    typer.Option("--tool", help="ACTION=TOOL: goals of an action are runs.", metavar="ACTION=TOOL"),
]
MessageFolders = Annotated[
    list[Path] | None,
    typer.Option("--msg-path", help="Folder of .msg files that the bags lack."),
]
