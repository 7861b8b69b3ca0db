# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the rows of a raw frame lie in its data, and what is wrong with that.

`step` is the distance of two rows in bytes. Rows may be padded; the padding of the last row may be
missing, since no pixel is lost with it. A step of 0 means tightly packed rows, as some publishers
send it. A step smaller than a row, and fewer data than the last pixel needs, are errors: which of
the numbers is wrong cannot be told. Data after the last row are left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

from harness_ros.capture.images.errors import ImageError
from harness_ros.contract import View


class Plane(NamedTuple):
    """Rows of one kind."""

    row: int
    """Bytes of pixels in a row."""
    rows: int
    steps: int = 1
    """Its rows lie this many times `step` apart."""


@dataclass(frozen=True)
class Layout:
    """The places of rows in the data of a frame."""

    step: int
    """Bytes from a row to the next one."""
    offsets: tuple[int, ...]
    """First byte of each plane."""
    notes: tuple[str, ...]
    """What is unusual and does no harm."""


def lay_out(view: View, *planes: Plane) -> Layout:
    """Finds the planes of a frame, which lie one after the other.

    Raises:
        ImageError: an empty image, a step smaller than a row, or too few data.
    """
    if view.width == 0 or view.height == 0:
        raise ImageError(view, "an empty image; width and height must be at least 1")
    smallest = max(-(-plane.row // plane.steps) for plane in planes)
    step = view.step or smallest
    if step < smallest:
        raise ImageError(
            view, f"a row needs a step of at least {smallest} bytes{_hint(view, planes, smallest)}"
        )
    available = len(view.data)
    needed = _length(planes, step) - step * planes[-1].steps + planes[-1].row
    if available < needed:
        raise ImageError(
            view,
            f"at least {needed} bytes of data are needed, {needed - available} are missing"
            + _hint(view, planes, smallest),
        )
    offsets = tuple(_length(planes[:number], step) for number in range(len(planes)))
    return Layout(step, offsets, tuple(_notes(view, step, _length(planes, step))))


def _length(planes: tuple[Plane, ...], step: int) -> int:
    return sum(step * plane.steps * plane.rows for plane in planes)


def _hint(view: View, planes: tuple[Plane, ...], smallest: int) -> str:
    """What the publisher may have meant; it is not guessed at, for the picture could be garbage."""
    if view.step != smallest and len(view.data) == _length(planes, smallest):
        return f"; the data are as long as rows of {smallest} bytes, which the publisher should say"
    if len(planes) > 1 and len(view.data) == view.step * view.height:
        return (
            "; height has to count the rows of the picture alone, without those of the colour "
            "plane after it"
        )
    return ""


def _notes(view: View, step: int, length: int) -> list[str]:
    notes = []
    if view.step == 0:
        notes.append(f"step 0: taken as tightly packed rows of {step} bytes")
    excess = len(view.data) - length
    if excess > 0:
        notes.append(f"{excess} bytes of data after the last row were left out")
    elif excess < 0:
        notes.append(f"{-excess} bytes of padding after the last row are missing, but no pixel")
    return notes


class RawDecoder(ABC):
    """Decodes frames whose numbers all follow from the layout of their data."""

    @abstractmethod
    def layout(self, view: View) -> Layout:
        """Where the rows are.

        Raises:
            ImageError: the frame cannot be decoded.
        """

    def check(self, view: View) -> None:
        """Raises an ImageError where decoding would."""
        self.layout(view)

    def notes(self, view: View) -> tuple[str, ...]:
        """What is unusual and does no harm."""
        return self.layout(view).notes
