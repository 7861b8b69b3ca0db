# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Depth as compressed_depth_image_transport sends it: in PNG and in RVL."""

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from image_frames import compressed_depth, quantised, rvl_of, same, view

from harness_ros.capture.images import ImageError, check, decode, notes, rvl
from harness_ros.capture.images.errors import FileError

CODECS = ("png", "rvl")
MILLIMETRES = np.array([[0, 1, 1500, 0], [65535, 300, 2000, 0]], np.uint16)
METRES = np.array([[np.nan, 0.001, 1.5, np.nan], [65.535, 0.3, 2.0, np.nan]], np.float32)
DEPTHS = st.lists(
    st.sampled_from([0, 0, 0, 1, 2, 700, 703, 65535]) | st.integers(0, 65535),
    min_size=1,
    max_size=60,
)
PROPERTY = settings(deadline=None, derandomize=True, max_examples=300)


def depth_view(codec, data, published="16UC1"):
    return view(f"{published}; compressedDepth {codec}", data)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("parameters", [(0.0, 0.0), (np.nan, np.inf), (-1e30, 7.0)])
def test_16UC1_is_millimetres_whatever_the_parameters_of_the_header_are(codec, parameters):
    found = depth_view(codec, compressed_depth(MILLIMETRES, codec, *parameters))
    check(found)
    same(decode(found), METRES)
    assert notes(found) == ()


@given(
    codec=st.sampled_from(CODECS),
    depths=st.lists(st.floats(0.25, 9.75, width=32) | st.just(np.nan), min_size=1, max_size=20),
    nearest=st.sampled_from([50.0, 100.0, 120.0]),
)
@PROPERTY
def test_32FC1_comes_back_within_its_quantisation(codec, depths, nearest):
    # The transport's own parameters for `depth_quantization` and a farthest depth of 10 m.
    a = nearest * (nearest + 1)
    b = 1 - a / 10.0
    metres = np.array([depths], np.float32)
    found = depth_view(codec, compressed_depth(quantised(metres, a, b), codec, a, b), "32FC1")
    image = decode(found)
    assert image.dtype == np.float32
    np.testing.assert_array_equal(np.isnan(image), np.isnan(metres))
    known = np.isfinite(metres)
    assert np.all(np.abs(image - metres)[known] <= metres[known] ** 2 / a * 1.01 + 1e-4)


def test_32FC1_of_stored_values_that_stand_for_no_depth_is_unknown():
    stored = np.array([[0, 1, 2, 3]], np.uint16)
    found = depth_view("png", compressed_depth(stored, "png", 6.0, 2.0), "32FC1")
    same(decode(found), np.array([[np.nan, np.nan, np.nan, 6.0]], np.float32))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("parameters", [(0, 0), (-1, 0), (np.nan, 0), (np.inf, 0), (1, np.nan)])
def test_32FC1_without_its_quantisation_is_an_error(codec, parameters):
    found = depth_view(codec, compressed_depth(MILLIMETRES, codec, *parameters), "32FC1")
    for function in (check, decode):
        with pytest.raises(ImageError, match="the quantisation is broken: a = "):
            function(found)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("published", ["16UC1", "32FC1"])
def test_depth_that_is_cut_off_anywhere_is_no_image(codec, published):
    data = compressed_depth(MILLIMETRES, codec, 100, -1)
    decode(depth_view(codec, data, published))
    for length in range(len(data)):
        with pytest.raises(ImageError):
            decode(depth_view(codec, data[:length], published))


def test_a_png_file_of_colours_is_no_depth():
    data = compressed_depth(np.zeros((3, 3, 3), np.uint8), "png")
    with pytest.raises(ImageError, match=r"3 channel\(s\) of 8 bits; depth is one channel of 16"):
        check(depth_view("png", data))


# RVL


@given(depths=DEPTHS, rows=st.integers(1, 4))
@PROPERTY
def test_rvl_gives_back_what_was_encoded(depths, rows):
    image = np.tile(np.array(depths, np.uint16), (rows, 1))
    same(rvl.decode(rvl_of(image)), image)


@pytest.mark.parametrize("noise", [0, 3, 300])
@pytest.mark.parametrize("holes", [0.0, 0.1, 0.9, 1.0])
def test_rvl_of_a_camera_image_gives_back_what_was_encoded(noise, holes):
    draw = np.random.default_rng(6)
    down, across = np.mgrid[:120, :160]
    depth = 900 + 4 * down + 200 * np.sin(across / 20) + draw.normal(0, noise, down.shape)
    image = np.where(draw.random(depth.shape) < holes, 0, depth.clip(1, 65535)).astype(np.uint16)
    same(rvl.decode(rvl_of(image)), image)


def test_rvl_is_what_the_paper_says():
    # 2 zeros, 1 value: 5 (zigzag 10: nibbles 1010 and 0001), no zeros, none left: 0x21A1 0000.
    data = struct.pack("<III", 3, 1, 0x21A1_0000)
    same(rvl.decode(data), np.array([[0, 0, 5]], np.uint16))


def test_bytes_after_rvl_data_do_no_harm():
    data = rvl_of(MILLIMETRES)
    for more in (bytes(1000), b"\xff" * 1000, b"odd"):
        same(rvl.decode(data + more), MILLIMETRES)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "cut off: RVL data for 0 of 3 pixels"),
        ([0xFFFF_FFFF] * 4, "cut off: RVL data for 0 of 3 pixels"),
        ([0x4000_0000], "4 pixels of 3"),
        ([0x0300_0000], "a value outside of 1 to 65535"),
        ([0x0311_1111], "a value outside of 1 to 65535"),
        ([0x03EF_FFF3, 0x2200_0000], "a value outside of 1 to 65535"),
        ([0x03EF_FFF3], "broken or cut off"),
        # A number of more nibbles than any needs, though it is 0.
        ([0x8888_8888, 0x8880_3222], "cut off: RVL data for 0 of 3 pixels"),
        ([0x0F7F_FFFF, 0x7FFF_FFFF], "broken or cut off"),
    ],
)
def test_rvl_data_that_make_no_image_are_an_error(words, problem):
    data = struct.pack(f"<{2 + len(words)}I", 3, 1, *words)
    with pytest.raises(FileError, match=problem):
        rvl.decode(data)
