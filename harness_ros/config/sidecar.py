# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The sidecar in eval.yaml: who says what a session's outcome was worth, and what guards it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, JsonValue, model_validator

from harness_ros.config.base import Name, Section
from harness_ros.sidecar.promotion.records import Policy

Seconds = Annotated[float, Field(gt=0)]


class ProtectedFiles(Section):
    """Files that the agent must not change, add or remove."""

    files: str = Field(min_length=1)
    """Path or pattern (`tests/**/*.py`), relative to `sidecar.integrity.folder`."""
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    """Of all of them together, as the sidecar logs it at its start; without, what is there at the
    start counts."""


class ProtectedCount(Section):
    """A number in the end state that must stay within bounds."""

    at: str = Field(min_length=1)
    """Path in `end_state`, as in assertions: `tests.skipped`. Where it is missing, that is a
    violation."""
    min: float | None = None
    """Least number allowed, such as of tests that ran."""
    max: float | None = None
    """Greatest number allowed, such as of tests that were skipped."""

    @model_validator(mode="after")
    def _bounded(self) -> ProtectedCount:
        if self.min is None and self.max is None:
            raise ValueError("`min` or `max` is wanted, or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min:g} is more than max {self.max:g}")
        return self


class IntegrityConfig(Section):
    """What the agent must not move; where it has, there is no score."""

    folder: Path = Path(".")
    """What paths are relative to; itself relative to this file."""
    files: dict[Name, ProtectedFiles] = Field(default_factory=dict)
    """Files by hash, such as tests."""
    counts: dict[Name, ProtectedCount] = Field(default_factory=dict)
    """Numbers in the end state, such as of tests that ran."""


class HttpConfig(Section):
    """The same contract over HTTP on 127.0.0.1, for agents in another Python."""

    port: int = Field(ge=0, le=65535)
    """0 takes a free one; the log says which."""
    token_file: Path
    """File of the token that each request carries, relative to this file; made with a new one where
    it is missing. Only its owner may be able to read it."""


class SidecarConfig(Section):
    """What the outcome of a text agent's session was worth (harness_ros.sidecar)."""

    verifier: str = Field(
        default="harness_ros.sidecar.verifiers:physical_outcome",
        pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$",
    )
    """A function `(session_id, end_state)` that answers from 0 to 1, plain or async:
    `my_package.my_module:my_function`."""
    options: dict[str, JsonValue] = Field(default_factory=dict)
    """Further keyword arguments of it."""
    verifier_timeout_s: Seconds = 5.0
    """Wall-clock seconds to wait for its answer; then there is no verdict."""
    outcome_threshold: float = Field(default=0.9, ge=0, le=1)
    """A score below this is a breach of `outcome_correct`."""
    window: int = Field(default=50, ge=5, le=10000)
    """Scores that are looked at together: where nearly all are the same, they tell nothing apart,
    and the sidecar warns."""
    integrity: IntegrityConfig = IntegrityConfig()
    """What the agent must not move: files, and counts such as of skipped tests."""
    promotion: Policy = Policy()
    """What promotes and what retires the rules that an agent learned; see promotion.md."""
    http: HttpConfig | None = None
    """An endpoint on 127.0.0.1; none without this section."""
