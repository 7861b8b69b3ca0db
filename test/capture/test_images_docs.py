# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/images.md says of each encoding what decoding gives."""

import re
from pathlib import Path

import numpy as np
import pytest
from image_frames import DTYPES, ENCODINGS, frame, kind_of, view

from harness_ros.capture.images import decode, headers, rvl

PAGE = Path(__file__).parents[2] / "docs" / "images.md"


def rows():
    """Cells of the rows of the tables of encodings."""
    inside = False
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == "encoding":
            assert cells == ["encoding", "array", "unit", "note"]
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside and not cells[0].startswith("---"):
            assert len(cells) == 4, line
            yield cells


DOCUMENTED = [
    (name, array, unit) for names, array, unit, _ in rows() for name in re.findall("`(.+?)`", names)
]


def test_the_page_lists_every_encoding_once_and_no_other():
    assert sorted(name for name, _, _ in DOCUMENTED) == sorted(ENCODINGS)


@pytest.mark.parametrize(("name", "array", "unit"), DOCUMENTED)
def test_the_page_says_what_array_an_encoding_gives(name, array, unit):
    kinds = re.split(", | or ", array)
    assert kind_of(name) in (kinds[0], None)
    assert set(kinds) <= set(DTYPES)
    image = decode(frame(name, np.random.default_rng(1)))
    assert (image.ndim, image.dtype) in [
        (3 if kind == "colour" else 2, DTYPES[kind]) for kind in kinds
    ]
    assert unit


@pytest.mark.parametrize("factor", [1, 1000])
def test_the_unit_of_depth_on_the_page_is_that_of_the_data(factor):
    name, unit = (
        ("16UC1", "millimetres in the data") if factor > 1 else ("32FC1", "metres in the data")
    )
    assert (name, "depth", unit) in DOCUMENTED
    data = np.array([[2.5 * factor]], "u2" if factor > 1 else "f4").tobytes()
    assert decode(view(name, data, 1, 1)).item() == 2.5


def test_the_limits_on_the_page_are_those_of_the_code():
    text = " ".join(PAGE.read_text().split())
    for limit in (headers.MOST_PIXELS, rvl.MOST_PIXELS):
        assert f"{limit:,}".replace(",", " ") in text
