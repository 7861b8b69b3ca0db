# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What eval.yaml says of a judge; each kind of judge adds its own keys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
Share = Annotated[float, Field(ge=0, le=1)]

Rule = Literal["majority", "all", "any_failure"]
"""How several judgements become one (harness_ros.judges.panel)."""


class Settings(BaseModel):
    """A part of what eval.yaml says of a judge; unknown keys are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class AbstainSettings(Settings):
    """Below which confidence a judge says that it cannot tell, instead of success or failure."""

    confidence: Share | None = None
    """The threshold itself."""
    false_success: Share | None = None
    """The false-success rate that is wanted; the threshold for it comes from the error card."""

    @model_validator(mode="after")
    def _one_of_both(self) -> AbstainSettings:
        if (self.confidence is None) == (self.false_success is None):
            raise ValueError("exactly one of `confidence` and `false_success` is wanted")
        return self


class JudgeSettings(Settings):
    """What every kind of judge has."""

    operational: ClassVar[frozenset[str]] = frozenset({"timeout_s", "parallel", "error_card"})
    """Keys that do not change what the judge says; the hash of the criteria leaves them out."""

    timeout_s: float = Field(default=10.0, gt=0)
    """Wall-clock seconds to wait for an answer."""
    parallel: int = Field(default=8, ge=1, le=64)
    """Questions that are with the judge at the same time; further ones wait."""
    error_card: Path | None = None
    """File of the judge's measured error rates, as `harness-ros calibrate` writes it; relative to
    this file."""
    abstain: AbstainSettings | None = None
    """When the judge says that it cannot tell; for judges that give a confidence."""


class DeterministicSettings(JudgeSettings):
    """Measures the criterion of a tool."""

    type: Literal["deterministic"] = "deterministic"
    """`deterministic` measures the criterion of a tool, `model` shows its views to a model, `panel`
    asks several judges, `plugin` is a judge of your own (where `judge` is given, it need not be
    said)."""


class PanelSettings(JudgeSettings):
    """Asks several judges and makes one judgement of theirs."""

    type: Literal["panel"]
    members: tuple[Name, ...] = Field(min_length=2)
    """Keys under `judges`, each once; panels cannot be members."""
    rule: Rule = "majority"
    """`majority`: what more than half say, else it cannot be told. `all`: success where all say
    so, failure where all do, else it cannot be told. `any_failure`: failure where one says so,
    success where all do."""


class PluginSettings(JudgeSettings):
    """A judge of your own."""

    type: Literal["plugin"]
    judge: str = Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")
    """Where it is, a class with a method `judge(request)` or a function of a request:
    `my_package.my_module:MyJudge`."""
    options: dict[str, JsonValue] = Field(default_factory=dict)
    """Keyword arguments of its class, or of the function beside the request."""
