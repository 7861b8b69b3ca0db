# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A judge in a line for people; never a key or a secret."""

from __future__ import annotations

from harness_ros.judges.model.settings import ModelSettings
from harness_ros.judges.settings import JudgeSettings, PanelSettings, PluginSettings


def described(settings: JudgeSettings) -> str:
    """Type of a judge, and what else a person asks for first: model and host, members, module."""
    kind = str(getattr(settings, "type", type(settings).__name__))
    if isinstance(settings, ModelSettings):
        from harness_ros.judges.model.connection import host_of

        recorded = f", cassette {settings.cassette.mode}" if settings.cassette else ""
        return f"{kind} {settings.model} at {host_of(settings)}{recorded}"
    if isinstance(settings, PluginSettings):
        return f"{kind} {settings.judge}"
    if isinstance(settings, PanelSettings):
        return f"{kind} of {', '.join(settings.members)} by the rule {settings.rule}"
    return kind
