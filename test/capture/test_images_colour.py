# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Colours out of mosaics and out of YUV are those that were there."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from image_frames import PATTERNS, mosaic, raw_view, view, yuv_of, yuv_view

from harness_ros.capture.images import ImageError, check, decode, notes

PROPERTY = settings(deadline=None, derandomize=True, max_examples=150)
COLOURS = st.tuples(*[st.integers(0, 255)] * 3)
SIZES = st.tuples(st.integers(1, 9), st.integers(1, 9))
MOSAIC_SIZES = st.tuples(st.integers(3, 9), st.integers(3, 9))
YUV = ("yuyv", "yuv422_yuy2", "uyvy", "yuv422", "nv12", "nv21", "nv24")


def plain(size, colour):
    return np.tile(np.array(colour, np.uint8), (*size, 1))


def picture():
    """Smooth colours that differ from channel to channel."""
    down, across = np.mgrid[:48, :64]
    return np.dstack([across * 4, down * 5, 255 - across * 2 - down * 2]).astype(np.uint8)


def difference(image, expected):
    return np.abs(image.astype(int) - expected.astype(int))


# Bayer


@given(pattern=st.sampled_from(PATTERNS), size=MOSAIC_SIZES, colour=COLOURS)
@PROPERTY
def test_a_plain_colour_comes_out_of_a_mosaic_exactly(pattern, size, colour):
    expected = plain(size, colour)
    for bits, factor in (("8", 1), ("16", 257)):
        seen = mosaic(expected, pattern).astype(f"u{int(bits) // 8}") * factor
        np.testing.assert_array_equal(decode(raw_view(f"bayer_{pattern}{bits}", seen)), expected)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("bigendian", [False, True])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_picture_comes_out_of_its_own_pattern_and_out_of_no_other(pattern, bits, bigendian):
    seen = mosaic(picture(), pattern).astype(f"u{bits // 8}") * (257 if bits == 16 else 1)

    def error(name):
        found = raw_view(f"bayer_{name}{bits}", seen, padding=3, bigendian=bigendian)
        return difference(decode(found), picture()).mean()

    assert error(pattern) < 2
    assert all(error(other) > 10 for other in PATTERNS if other != pattern)


@pytest.mark.parametrize("size", [(2, 8), (8, 2), (1, 1)])
def test_a_mosaic_too_small_to_be_interpolated_is_an_error_and_not_black(size):
    with pytest.raises(ImageError, match="at least 3x3 pixels"):
        check(raw_view("bayer_rggb8", np.zeros(size, np.uint8)))
    with pytest.raises(ImageError, match="at least 3x3 pixels"):
        decode(raw_view("bayer_rggb8", np.zeros(size, np.uint8)))


# YUV


@given(encoding=st.sampled_from(YUV), size=SIZES, colour=COLOURS, padding=st.integers(0, 5))
@PROPERTY
def test_a_plain_colour_comes_out_of_yuv_within_its_rounding(encoding, size, colour, padding):
    expected = plain(size, colour)
    image = decode(yuv_view(encoding, expected, padding))
    assert image.shape == expected.shape
    assert image.dtype == np.uint8
    assert difference(image, expected).max() <= 3


@pytest.mark.parametrize("encoding", YUV)
def test_a_picture_in_yuv_keeps_its_place_and_colours(encoding):
    assert difference(decode(yuv_view(encoding, picture(), padding=6)), picture()).mean() < 3


def test_colours_of_neighbours_are_shared_as_each_encoding_says():
    rgb = plain((2, 4), (200, 30, 60))
    rgb[:, 2:] = (20, 220, 90)
    rgb[1] = 255 - rgb[1]
    for encoding in ("yuyv", "uyvy", "nv24"):
        assert difference(decode(yuv_view(encoding, rgb)), rgb).max() <= 3
    assert difference(decode(yuv_view("nv12", rgb))[0], rgb[0]).max() <= 3


@pytest.mark.parametrize(("encoding", "other"), [("nv12", "nv21"), ("yuyv", "uyvy")])
def test_encodings_that_differ_in_order_alone_are_not_mixed_up(encoding, other):
    found = yuv_view(encoding, picture())
    mixed = found.model_copy(update={"encoding": other})
    assert difference(decode(mixed), picture()).mean() > 20


def test_black_and_white_of_limited_range_are_black_and_white():
    for luma, grey in ((16, 0), (235, 255), (0, 0), (255, 255)):
        data = bytes([luma, 128] * 4)
        assert set(decode(view("yuyv", data, 2, 2, 4)).ravel().tolist()) == {grey}


@pytest.mark.parametrize(("encoding", "factor"), [("nv12", 1.5), ("nv21", 1.5), ("nv24", 3)])
def test_height_counts_the_rows_of_the_picture_and_data_hold_the_colours_after_them(
    encoding, factor
):
    found = yuv_view(encoding, picture())
    assert len(found.data) == found.step * found.height * factor
    as_matrix = found.model_copy(update={"height": int(found.height * factor)})
    with pytest.raises(ImageError, match="height has to count the rows of the picture alone"):
        decode(as_matrix)


@pytest.mark.parametrize("encoding", ["nv12", "nv21", "nv24"])
def test_a_step_that_counts_two_channels_is_seen_through_and_noted(encoding):
    found = yuv_view(encoding, picture())
    counted = found.model_copy(update={"step": 2 * found.width})
    np.testing.assert_array_equal(decode(counted), decode(found))
    (note,) = notes(counted)
    assert note == "step 128 counts Y, U and V: read as rows of 64 bytes"


def test_an_odd_width_needs_the_colours_of_its_last_pixel():
    whole = yuv_view("yuyv", plain((2, 3), (9, 90, 200)))
    assert whole.step == 8
    with pytest.raises(ImageError, match="a row needs a step of at least 8 bytes"):
        decode(whole.model_copy(update={"step": 6}))


def test_limits_of_yuv_are_those_of_its_formula():
    assert yuv_of(plain((1, 1), (255, 255, 255)))[0, 0].tolist() == [235, 128, 128]
    assert yuv_of(plain((1, 1), (255, 0, 0)))[0, 0].tolist() == [81, 90, 240]
