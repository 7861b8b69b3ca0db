# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Who a judge is: what of its settings decides what it says, so that a change can be named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field

from harness_ros.contract import Record
from harness_ros.judges.model.settings import ModelSettings
from harness_ros.judges.settings import (
    AbstainSettings,
    JudgeSettings,
    PanelSettings,
    PluginSettings,
)

SHOWN = 12
"""Digits of a hash where a person reads it."""


class JudgeIdentity(Record):
    """What was measured, where the errors of a judge are."""

    type: str
    model: str = ""
    prompt_hash: str = ""
    """Of a model: SHA-256 (hex) of all that decides what it is sent beside the Observation."""
    plugin: str = ""
    """Where a judge of your own is: `my_package.my_module:MyJudge`."""
    options_hash: str = ""
    """Of a plug-in: SHA-256 (hex) of its options; empty where there are none."""
    rule: str = ""
    """Of a panel."""
    members: dict[str, JudgeIdentity] = Field(default_factory=dict)
    abstains_below: str = ""
    """Of a member of a panel: when it says that it cannot tell."""

    @property
    def shown(self) -> str:
        """In words: `model gpt-x`, `plugin my_package:MyJudge`."""
        return " ".join(filter(None, (self.type, self.model or self.plugin or self.rule)))

    def differences(self, now: JudgeIdentity) -> Iterator[str]:
        """What is no longer as it was, a phrase each."""
        if now.type != self.type:
            yield f"it is of type {now.type}, not {self.type}"
            return
        for name, what in _WORDS.items():
            before, after = getattr(self, name), getattr(now, name)
            if before != after:
                yield f"{what} is {_shown(name, after)}, not {_shown(name, before)}"
        for name in sorted(self.members.keys() | now.members.keys()):
            if name not in now.members:
                yield f"'{name}' is no member any more"
            elif name not in self.members:
                yield f"'{name}' is a new member"
            else:
                for phrase in self.members[name].differences(now.members[name]):
                    yield f"member '{name}': {phrase}"


_WORDS = {
    "model": "the model",
    "prompt_hash": "the prompt",
    "plugin": "the plug-in",
    "options_hash": "the hash of the options",
    "rule": "the rule",
    "abstains_below": "the threshold for abstaining",
}


def identity(name: str, judges: Mapping[str, JudgeSettings]) -> JudgeIdentity:
    """Who the judge of a name is.

    `abstain` is left out: errors are measured of what the judge says before it abstains. For
    members of a panel it counts, since it decides what the panel says.

    Args:
        judges: settings by name; those of a panel's members are looked up.
    """
    settings = judges[name]
    kind = str(getattr(settings, "type", "deterministic"))
    if isinstance(settings, ModelSettings):
        # It decodes and draws pictures; whoever has no model need not wait for that.
        from harness_ros.judges.model.question import prompt_hash

        return JudgeIdentity(type=kind, model=settings.model, prompt_hash=prompt_hash(settings))
    if isinstance(settings, PluginSettings):
        options_hash = _hash(settings.options) if settings.options else ""
        return JudgeIdentity(type=kind, plugin=settings.judge, options_hash=options_hash)
    if isinstance(settings, PanelSettings):
        members = {member: _member(member, judges) for member in settings.members}
        return JudgeIdentity(type=kind, rule=settings.rule, members=members)
    return JudgeIdentity(type=kind)


def reads_criterion(who: JudgeIdentity) -> bool:
    """Whether the criterion may decide what this judge says; models are not shown it."""
    if who.members:
        return any(reads_criterion(member) for member in who.members.values())
    return who.type != "model"


def reads_sentence(who: JudgeIdentity) -> bool:
    """Whether pictures and sentence may decide what this judge says."""
    if who.members:
        return any(reads_sentence(member) for member in who.members.values())
    return who.type != "deterministic"


def _member(name: str, judges: Mapping[str, JudgeSettings]) -> JudgeIdentity:
    return identity(name, judges).model_copy(update={"abstains_below": _abstains(judges[name])})


def _abstains(settings: JudgeSettings) -> str:
    abstain: AbstainSettings | None = settings.abstain
    if abstain is None:
        return ""
    if abstain.confidence is not None:
        return f"{abstain.confidence:g}"
    return f"that of a false-success rate of {abstain.false_success:g}"


def _hash(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _shown(name: str, value: str) -> str:
    if not value:
        return "none"
    return value[:SHOWN] if name.endswith("hash") else value
