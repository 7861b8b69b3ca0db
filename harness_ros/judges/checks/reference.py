# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures that checks compare a view with.

In eval.yaml one is written as `file:` and a path; loading replaces that by the picture itself, as a
data URI (RFC 2397), so that a criterion says all that it means wherever it is read.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import PlainSerializer, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from harness_ros.contract import HarnessError, View

if TYPE_CHECKING:
    from harness_ros.capture.images import Image

_URI = re.compile(r"data:image/(png|jpeg);base64,([A-Za-z0-9+/=]*)")
_MAGIC = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg"}


class PictureError(HarnessError):
    """Data that are no picture to compare with."""


@dataclass(frozen=True)
class Reference:
    """A PNG or JPEG file."""

    data: bytes

    def __post_init__(self) -> None:
        if self.encoding is None:
            raise PictureError(
                f"{len(self.data)} bytes that begin with '{self.data[:8].hex(' ')}' are neither "
                "PNG nor JPEG"
            )
        if self.pixels.dtype != np.uint8:
            raise PictureError("a picture of 16 bit; one of 8 bit is wanted, in colour or grey")

    @property
    def encoding(self) -> str | None:
        """`png` or `jpeg`; None for anything else."""
        return next((name for magic, name in _MAGIC.items() if self.data.startswith(magic)), None)

    @cached_property
    def pixels(self) -> Image:
        """RGB uint8 (H, W, 3) or grey uint8 (H, W).

        Raises:
            ImageError: the file is broken.
        """
        # Loading a configuration without references needs no OpenCV.
        from harness_ros.capture import images

        return images.decode(
            View(
                name="reference",
                stamp_ns=0,
                frame_id="",
                height=0,
                width=0,
                encoding=self.encoding or "",
                step=0,
                is_bigendian=False,
                data=self.data,
                topic="reference",
            )
        )

    @property
    def uri(self) -> str:
        """The file as a data URI."""
        return f"data:image/{self.encoding};base64,{base64.b64encode(self.data).decode()}"

    def __repr__(self) -> str:
        height, width = self.pixels.shape[:2]
        digest = hashlib.sha256(self.data).hexdigest()
        return f"Reference({self.encoding} {width}x{height}, sha256 {digest})"


def _read(value: Any) -> Reference:
    if isinstance(value, Reference):
        return value
    if not isinstance(value, str) or not value.startswith("data:"):
        raise PydanticCustomError(
            "reference",
            "a picture is wanted: `file:` and the path, relative to eval.yaml, of a PNG or JPEG",
        )
    return _decoded(value)


@lru_cache(maxsize=32)
def _decoded(value: str) -> Reference:
    # Kept: a configuration is checked with each value of its arguments, and judged with many runs.
    match = _URI.fullmatch(value)
    if match is None:
        raise PydanticCustomError(
            "reference", "a data URI of a picture begins with `data:image/png;base64,` or jpeg"
        )
    try:
        return Reference(base64.b64decode(match[2], validate=True))
    except (binascii.Error, HarnessError) as error:
        raise PydanticCustomError("reference", "no picture: {why}", {"why": str(error)}) from None


ReferencePicture = Annotated[
    Reference,
    PlainValidator(_read),
    PlainSerializer(lambda reference: reference.uri),
    WithJsonSchema({"type": "string", "description": "`file:` and a path"}),
]
"""A picture as a parameter: a data URI in JSON."""


def alike(image: NDArray[Any], reference: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both in colour, or both in grey where one of them is."""
    import cv2

    if image.ndim == reference.ndim:
        return image, reference
    grey = [
        cv2.cvtColor(item, cv2.COLOR_RGB2GRAY) if item.ndim == 3 else item
        for item in (image, reference)
    ]
    return grey[0], grey[1]
