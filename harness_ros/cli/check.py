# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`harness-ros check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def check(
    config: Annotated[Path, typer.Argument(help="An eval.yaml.")],
) -> None:
    """Check an eval.yaml; show its post-conditions and what is known of its judges."""
    from harness_ros.capture.decoding import Decoder
    from harness_ros.capture.observing import check_sources
    from harness_ros.config import load
    from harness_ros.config.calibrated import judge_states
    from harness_ros.judges.describing import described
    from harness_ros.judges.plugin import find_plugin
    from harness_ros.judges.settings import PluginSettings

    loaded = load(config)
    check_sources(loaded, Decoder())
    for name, settings in loaded.judges.items():
        if isinstance(settings, PluginSettings):
            find_plugin(name, settings)
    for name, tool in loaded.tools.items():
        segments = f", {tool.segments} segments" if tool.segments > 1 else ""
        print(f"{name} (judge {tool.judge}{segments}): {tool.post_condition}")
    states = judge_states(loaded)
    for name, settings in loaded.judges.items():
        known = states[name].words if name in states else "no tool asks it"
        print(f"judge {name} ({described(settings)}): {known}")
    print(f"criteria {loaded.criteria_hash}")
