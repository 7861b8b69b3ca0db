# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Words and symbols in drawings, with the fonts of OpenCV."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from harness_ros.judges.drawing.palette import Colour, Pixels, blend, of_outcome

_FINER = 4
"""Letters are drawn this much larger and made small again: OpenCV's small ones are ragged."""
_FONT_PX = 30.0
"""Size of the font at scale 1."""
_OUTLINES = int(cv2.__version__.split(".")[0]) >= 5
_REPLACED = str.maketrans(
    {"→": "->", "≥": ">=", "≤": "<=", "×": "x", "°": " deg", "–": "-", "—": "-", "…": "..."}
    | dict.fromkeys("‘’", "'")
    | dict.fromkeys("“”", '"')
)


def plain(text: str) -> str:
    """The text in the characters of the font (ASCII); others lose their accents or become `?`."""
    decomposed = unicodedata.normalize("NFKD", " ".join(text.translate(_REPLACED).split()))
    letters = "".join(char for char in decomposed if not unicodedata.combining(char))
    return letters.encode("ascii", "replace").decode("ascii")


def width_of(text: str, size: float, bold: bool = False) -> int:
    """Width of a line in pixels."""
    font, scale, thickness = _font(size, bold)
    (width, _), _ = cv2.getTextSize(plain(text), font, scale, thickness)
    return -(-width // _FINER)


def height_of(size: float) -> int:
    """Height of a line in pixels, with its descenders and the space to the next."""
    return round(1.5 * size)


def wrap(text: str, width: int, size: float, bold: bool = False) -> list[str]:
    """The text in lines of at most so many pixels; a word that is longer is cut."""
    lines = [""]
    for word in plain(text).split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer, size, bold) <= width:
            lines[-1] = longer
            continue
        if lines[-1]:
            lines.append("")
        for char in word:
            if lines[-1] and width_of(lines[-1] + char, size, bold) > width:
                lines.append("")
            lines[-1] += char
    return lines


def put(
    pixels: Pixels, text: str, at: tuple[int, int], colour: Colour, size: float, bold: bool = False
) -> None:
    """Writes a line whose top left corner is at (x, y); what lies outside is cut off."""
    drawn = _drawn(plain(text), size, bold)
    height, width = drawn.shape
    x, y = at
    rows, columns = pixels.shape[:2]
    top, left = max(y, 0), max(x, 0)
    bottom, right = min(y + height, rows), min(x + width, columns)
    if top < bottom and left < right:
        blend(
            pixels[top:bottom, left:right],
            colour,
            drawn[top - y : bottom - y, left - x : right - x] / 255,
        )


def put_symbol(
    pixels: Pixels, holds: bool | None, at: tuple[int, int], size: int, colour: Colour | None = None
) -> None:
    """A tick, a cross or a question mark in a square whose top left corner is at (x, y)."""
    ink = colour or of_outcome(holds)
    x, y = at
    if holds is None:
        put(
            pixels,
            "?",
            (x + round(0.2 * size), y - round(0.05 * size)),
            ink,
            0.95 * size,
            bold=True,
        )
        return
    strokes = (
        [((0.1, 0.55), (0.4, 0.85)), ((0.4, 0.85), (0.95, 0.15))]
        if holds
        else [((0.15, 0.15), (0.85, 0.85)), ((0.15, 0.85), (0.85, 0.15))]
    )
    fraction_bits = 4
    for begin, end in strokes:
        first, second = (
            (round((x + fx * size) * 2**fraction_bits), round((y + fy * size) * 2**fraction_bits))
            for fx, fy in (begin, end)
        )
        width = max(2, round(0.16 * size))
        cv2.line(pixels, first, second, ink, width, cv2.LINE_AA, fraction_bits)


@lru_cache(maxsize=256)
def _drawn(text: str, size: float, bold: bool) -> NDArray[np.uint8]:
    """How much of each pixel a line covers, (height, width) of 0 to 255; most come again."""
    font, scale, thickness = _font(size, bold)
    width, height = width_of(text, size, bold) + 2, height_of(size)
    mask = np.zeros((height * _FINER, width * _FINER), np.uint8)
    baseline = round(1.1 * size * _FINER)
    cv2.putText(mask, text, (0, baseline), font, scale, 255, thickness, cv2.LINE_AA)
    drawn: NDArray[Any] = cv2.resize(mask, (width, height), interpolation=cv2.INTER_AREA)
    drawn.flags.writeable = False
    return drawn


def _font(size: float, bold: bool) -> tuple[int, float, int]:
    """Font, scale and thickness; OpenCV 5 has fonts with outlines, of two weights each."""
    if _OUTLINES:
        return cv2.FONT_HERSHEY_SIMPLEX, size / _FONT_PX * _FINER, 2 if bold else 1
    font = cv2.FONT_HERSHEY_DUPLEX if bold else cv2.FONT_HERSHEY_SIMPLEX
    thickness = max(1, round(size * _FINER * (0.105 if bold else 0.08)))
    return font, size / _FONT_PX * _FINER, thickness
