# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Image files: the data of a compressed message, as compressed_image_transport writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import DTypeLike, NDArray

from harness_ros.capture.images import jpeg, pixels, png, tiff
from harness_ros.capture.images.errors import FileError, ImageError
from harness_ros.capture.images.headers import FileHeader
from harness_ros.capture.images.pixels import Image, Meaning
from harness_ros.contract import View

_READERS: Mapping[str, tuple[tuple[bytes, ...], Callable[[bytes], FileHeader]]] = {
    "jpeg": ((jpeg.MAGIC,), jpeg.header),
    "png": ((png.MAGIC,), png.header),
    "tiff": (tiff.MAGICS, tiff.header),
}


def codec_of(data: bytes) -> str | None:
    """`jpeg`, `png` or `tiff` by the first bytes; None for anything else."""
    return next((codec for codec, (magics, _) in _READERS.items() if data.startswith(magics)), None)


def header_of(data: bytes) -> FileHeader:
    """What the header of a JPEG, PNG or TIFF file says.

    Raises:
        FileError: the data are none of these, cut off or broken, or the image is too large.
    """
    codec = codec_of(data)
    if codec is None:
        raise FileError(f"neither JPEG nor PNG nor TIFF, the data begin with '{data[:8].hex(' ')}'")
    return _READERS[codec][1](data)


def unchanged(data: bytes) -> NDArray[Any]:
    """The pixels of a file as OpenCV decodes them: grey (H, W), BGR or BGRA, any depth of bits.

    Raises:
        FileError: the data are no whole file of a known kind.
    """
    header = header_of(data)
    try:
        found = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    except cv2.error as error:
        raise FileError(f"the file is broken: {error.err}") from None
    if found is None or found.shape[:2] != (header.height, header.width):
        raise FileError("the file is broken")
    return found


def meaning_of_file(found: NDArray[Any]) -> Image:
    """What a file is whose publisher says no more: 16 bits of one channel are depth (16UC1)."""
    if found.ndim == 3 and found.shape[2] in (3, 4) and found.dtype in (np.uint8, np.uint16):
        return pixels.bgr(found)
    if found.ndim == 2 and found.dtype == np.uint8:
        return found.astype(np.uint8, copy=False)
    if found.ndim == 2 and found.dtype == np.uint16:
        return pixels.millimetres(found)
    if found.ndim == 2 and found.dtype == np.float32:
        return pixels.metres(found)
    raise FileError(f"pixels of shape {found.shape} and type {found.dtype} have no meaning")


@dataclass(frozen=True)
class File:
    """Decodes a JPEG, PNG or TIFF file, whichever the data are: publishers differ in what they say.

    Where its encoding names pixels, the file must hold them.
    """

    meaning: Meaning = meaning_of_file
    dtype: DTypeLike | None = None
    """Of the pixels in the file; any where None."""
    channels: tuple[int, ...] = ()
    """Allowed; any where empty."""
    smallest: int = 1
    """Pixels that each side must have at least."""
    note: str = ""
    """What a reader should know of every frame of this encoding."""

    def check(self, view: View) -> None:
        """Raises an ImageError where the header tells that decoding would."""
        self._header(view)

    def notes(self, view: View) -> tuple[str, ...]:
        """What is unusual and does no harm."""
        end = self._header(view).end
        notes = [self.note] if self.note else []
        if end is not None and end < len(view.data):
            notes.append(f"{len(view.data) - end} bytes after the end of the file were left out")
        return tuple(notes)

    def __call__(self, view: View) -> Image:
        """The image."""
        self._header(view)
        try:
            found = unchanged(view.data)
            channels = found.shape[2] if found.ndim == 3 else 1
            if self.dtype is not None and found.dtype != self.dtype:
                raise FileError(
                    f"the file holds {found.dtype}; this encoding needs {np.dtype(self.dtype)}"
                )
            self._check_pixels(8 * found.itemsize, channels)
            return self.meaning(found)
        except FileError as error:
            raise ImageError(view, str(error)) from None

    def _header(self, view: View) -> FileHeader:
        try:
            header = header_of(view.data)
            self._check_pixels(header.bits, header.channels)
        except FileError as error:
            raise ImageError(view, str(error)) from None
        if min(header.width, header.height) < self.smallest:
            raise ImageError(
                view,
                f"the file holds {header.width}x{header.height} pixels; this encoding needs at "
                f"least {self.smallest}x{self.smallest}",
            )
        return header

    def _check_pixels(self, bits: int, channels: int) -> None:
        if self.dtype is None:
            return
        wanted = 8 * np.dtype(self.dtype).itemsize
        if bits != wanted or channels not in self.channels:
            raise FileError(
                f"the file holds {channels} channel(s) of {bits} bits; this encoding needs "
                f"{' or '.join(map(str, self.channels))} of {wanted}"
            )
