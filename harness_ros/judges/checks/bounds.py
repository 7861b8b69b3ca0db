# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Bounds of a measured number, as parameters of checks have them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from harness_ros.contract import Record

Finite = Annotated[float, Field(allow_inf_nan=False)]


def check_bounds(
    low: float | None, high: float | None, low_name: str = "min", high_name: str = "max"
) -> None:
    """Raises a PydanticCustomError where no bound is given, or they exclude each other."""
    if low is None and high is None:
        raise PydanticCustomError(
            "bounds",
            "`{low_name}` or `{high_name}` or both are wanted, none is given",
            {"low_name": low_name, "high_name": high_name},
        )
    if low is not None and high is not None and low > high:
        raise PydanticCustomError(
            "bounds",
            "{low_name} {low} is greater than {high_name} {high}",
            {"low_name": low_name, "low": low, "high_name": high_name, "high": high},
        )


def within(value: float, low: float | None, high: float | None) -> bool:
    """Whether a value lies within bounds; they count."""
    return (low is None or value >= low) and (high is None or value <= high)


def wanted(low: float | None, high: float | None, unit: str = "") -> str:
    """The bounds in words: `at least 0.1 m`, `0.1 to 0.2 m`."""
    unit = f" {unit}" if unit else ""
    if high is None:
        return f"at least {low:.6g}{unit}"
    if low is None:
        return f"at most {high:.6g}{unit}"
    return f"{low:.6g} to {high:.6g}{unit}"


class Bounds(Record):
    """Inclusive bounds; at least one of them."""

    min: Finite | None = None
    """Least value that holds."""
    max: Finite | None = None
    """Greatest value that holds."""

    @model_validator(mode="after")
    def _bounds(self) -> Bounds:
        check_bounds(self.min, self.max)
        return self
