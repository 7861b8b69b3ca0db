# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What eval.yaml says of a judge that is a vision-language model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from harness_ros.judges.settings import JudgeSettings, Name, Rule, Settings


class PriceSettings(Settings):
    """What tokens cost, for the accounts and the spending cap."""

    input_per_million: float = Field(ge=0)
    """For a million tokens that are sent, those of pictures included."""
    output_per_million: float = Field(ge=0)
    """For a million tokens of answers."""
    currency: str = Field(default="USD", min_length=1, max_length=8)
    """Name of the currency, shown beside costs."""


class CassetteSettings(Settings):
    """Recorded answers of the model."""

    mode: Literal["record", "replay"]
    """`record` asks the model what is not recorded yet and keeps its answers; `replay` never asks
    it, and what is not recorded cannot be judged."""
    folder: Path
    """One JSON file for each answer; relative to this file."""


class ModelSettings(JudgeSettings):
    """Shows the views to a model behind an OpenAI-compatible endpoint."""

    operational: ClassVar[frozenset[str]] = JudgeSettings.operational | {
        *("base_url", "api_key_env", "attempts", "prices", "spending_cap", "cassette"),
    }

    type: Literal["model"]
    model: str = Field(min_length=1, max_length=200)
    """Name of the model, as the endpoint knows it."""
    base_url: str = Field(default="https://api.openai.com/v1", pattern=r"^https?://\S+$")
    """Of the endpoint."""
    api_key_env: Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")] | None = "OPENAI_API_KEY"
    """Environment variable that holds the key; null where the endpoint wants none."""
    timeout_s: float = Field(default=60.0, gt=0)
    """Wall-clock seconds to wait for an answer, repeated requests included."""
    views: tuple[Name, ...] = ()
    """Cameras whose views are sent, in this order; by default those of the tool in its order."""
    max_views: int = Field(default=3, ge=1, le=16)
    """Views sent at most; further ones are left out, and the evidence says so."""
    pixel_budget: int = Field(default=921_600, ge=4_096, le=16_777_216)
    """Pixels of each picture at most; larger ones are scaled down. The default shows 1280x720 as it
    is."""
    jpeg_quality: int = Field(default=85, ge=30, le=100)
    """Of the pictures that are sent."""
    detail: Literal["auto", "low", "high"] = "auto"
    """Passed on to the endpoint with each picture."""
    context: str = Field(default="", max_length=2000)
    """What the model must know of this robot and its cameras; becomes part of the instruction."""
    structured_output: Literal["auto", "json_schema", "none"] = "auto"
    """Whether the endpoint is given a JSON schema for the answer; `auto` tries, and stops where it
    is refused."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.0
    """null leaves it to the endpoint."""
    seed: int | None = None
    """Passed on to the endpoint; null sends none."""
    max_output_tokens: int = Field(default=1000, ge=64, le=32_768)
    """Of one answer; a longer one is cut off and is none."""
    attempts: int = Field(default=4, ge=1, le=20)
    """Requests at most for one answer, where the endpoint is busy, fails or does not answer."""
    votes: int = Field(default=1, ge=1, le=15)
    """How often the model is asked for one judgement."""
    rule: Rule = "majority"
    """How several votes become one judgement, as in a panel."""
    critic: bool = False
    """Whether the evidence of a success is shown to the model again, which must find each piece in
    the views; a success that does not survive cannot be told."""
    prices: PriceSettings | None = None
    """For the accounts in verdicts, reports and diagnostics."""
    spending_cap: Annotated[float, Field(ge=0)] | None = None
    """In the currency of the prices: once so much was spent since the judge was started, it judges
    no more."""
    cassette: CassetteSettings | None = None
    """Recorded answers, for tests and for grading again at no cost."""

    @model_validator(mode="after")
    def _fits_together(self) -> ModelSettings:
        if self.spending_cap is not None and self.prices is None:
            raise ValueError("spending_cap needs `prices`")
        if self.votes > 1 and self.temperature == 0.0 and self.seed is not None:
            raise ValueError("with temperature 0 and a seed all votes are the same")
        return self
