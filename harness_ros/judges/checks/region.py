# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A rectangle of an image in fractions of its width and height."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A number from 0 to 1."""

_Item = TypeVar("_Item", bound=np.generic)


class Rectangle(NamedTuple):
    """Fractions of width (x) and height (y), origin at the top left."""

    x_min: Fraction
    y_min: Fraction
    x_max: Fraction
    y_max: Fraction

    def contains(self, x: float, y: float) -> bool:
        """Whether a point lies inside; the border counts."""
        return self.x_min <= x <= self.x_max and self.y_min <= y <= self.y_max

    def crop(self, image: NDArray[_Item]) -> NDArray[_Item]:
        """The pixels of an image (H, W, ...) that the rectangle touches; never none."""
        return image[self.pixels(image.shape)]

    def pixels(self, shape: tuple[int, ...]) -> tuple[slice, slice]:
        """The rows and columns that it touches of an image of this shape (H, W, ...)."""
        height, width = shape[:2]
        return (
            slice(_first(self.y_min, height), _last(self.y_max, height)),
            slice(_first(self.x_min, width), _last(self.x_max, width)),
        )

    def __str__(self) -> str:
        return f"[{', '.join(f'{edge:.2f}' for edge in self)}]"


# Far below a pixel: 0.7 * 10 is a little more than 7 and must not touch the eighth pixel.
_ROUNDING = 1e-6


def _first(edge: float, size: int) -> int:
    return min(math.floor(edge * size + _ROUNDING), size - 1)


def _last(edge: float, size: int) -> int:
    return max(math.ceil(edge * size - _ROUNDING), 1)


def _ordered(region: Rectangle) -> Rectangle:
    for axis, low, high in (("x", region.x_min, region.x_max), ("y", region.y_min, region.y_max)):
        if low >= high:
            raise PydanticCustomError(
                "region",
                "{axis}_min {low} is not less than {axis}_max {high}; "
                "[x_min, y_min, x_max, y_max] is wanted, each from 0 to 1",
                {"axis": axis, "low": low, "high": high},
            )
    return region


Region = Annotated[
    Rectangle,
    AfterValidator(_ordered),
    WithJsonSchema({"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}}),
]
"""A rectangle that is not empty; [x_min, y_min, x_max, y_max] in YAML and JSON."""

WHOLE_IMAGE = Rectangle(0.0, 0.0, 1.0, 1.0)
