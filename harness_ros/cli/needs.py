# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a command needs that not every installation has."""

from __future__ import annotations

from importlib.util import find_spec


def needs(command: str, *modules: str) -> None:
    """Ends a command that needs modules which are not installed.

    Raises:
        HarnessError: the text names them.
    """
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        from harness_ros.contract import HarnessError

        raise HarnessError(
            f"{command} needs {' and '.join(missing)}; in a clone of the repository `make setup` "
            "sets up all that it needs, `source scripts/env.sh` gives it to a shell"
        )
