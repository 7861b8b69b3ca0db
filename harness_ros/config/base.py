# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What every section of eval.yaml is made of."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

NAME_PATTERN = r"^[A-Za-z][A-Za-z0-9_]*$"
Name = Annotated[str, Field(pattern=NAME_PATTERN)]
Topic = Annotated[str, Field(pattern=r"^/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*$")]
MessageType = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*/msg/[A-Z][A-Za-z0-9]*$")]


class Section(BaseModel):
    """A part of eval.yaml; unknown keys are an error, and so are `.nan` and `.inf`."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
