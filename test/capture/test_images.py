# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Decoding of frames: every encoding, and everything that publishers get wrong."""

import cv2
import numpy as np
import pytest

from harness_ros.capture.images import DECODERS, ImageError, decode, encode_png, to_rgb
from harness_ros.contract import View

RGB = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3) * 10
GREY = np.arange(6, dtype=np.uint8).reshape(2, 3) * 40
MILLIMETRES = np.array([[0, 1, 1500], [65535, 300, 2000]], np.uint16)
METRES = np.array([[np.nan, 0.001, 1.5], [65.535, 0.3, 2.0]], np.float32)
RAW_DEPTH = np.array([[0, 0.001, 1.5], [np.inf, np.nan, -np.inf]], np.float32)
DEPTH = np.array([[np.nan, 0.001, 1.5], [np.nan] * 3], np.float32)

RAW = {
    "rgb8": (RGB, RGB),
    "bgr8": (RGB[:, :, ::-1], RGB),
    "mono8": (GREY, GREY),
    "16UC1": (MILLIMETRES, METRES),
    "32FC1": (RAW_DEPTH, DEPTH),
}


def raw_view(encoding, /, padding=0, bigendian=False, **changes):
    pixels = RAW[encoding][0]
    if bigendian:
        pixels = pixels.astype(pixels.dtype.newbyteorder(">"))
    rows = [row.tobytes() + b"\xee" * padding for row in pixels]
    fields = {
        "name": "top",
        "stamp_ns": 1,
        "frame_id": "top",
        "height": 2,
        "width": 3,
        "encoding": encoding,
        "step": len(rows[0]),
        "is_bigendian": bigendian,
        "data": b"".join(rows),
        "topic": "/top/image_raw",
    }
    return View(**{**fields, **changes})


def file_view(encoding, data):
    return raw_view("rgb8", encoding=encoding, height=0, width=0, step=0, data=data)


def file_of(suffix, pixels, *parameters):
    done, data = cv2.imencode(suffix, pixels, parameters)
    assert done
    return data.tobytes()


def same(image, expected):
    assert image.dtype == expected.dtype
    np.testing.assert_array_equal(image, expected)


def test_every_known_encoding_is_tested_here():
    assert set(DECODERS) == {*RAW, "jpeg", "png"}


@pytest.mark.parametrize("bigendian", [False, True])
@pytest.mark.parametrize("padding", [0, 1, 7])
@pytest.mark.parametrize("encoding", RAW)
def test_raw_pixels_are_read_whatever_padding_and_byte_order(encoding, padding, bigendian):
    same(decode(raw_view(encoding, padding, bigendian)), RAW[encoding][1])


@pytest.mark.parametrize("encoding", RAW)
def test_data_beyond_the_last_row_are_left_out(encoding):
    whole = raw_view(encoding)
    same(decode(whole.model_copy(update={"data": whole.data + b"more"})), RAW[encoding][1])


@pytest.mark.parametrize("encoding", RAW)
def test_missing_padding_of_the_last_row_loses_no_pixel(encoding):
    padded = raw_view(encoding, padding=4)
    same(decode(padded.model_copy(update={"data": padded.data[:-4]})), RAW[encoding][1])


@pytest.mark.parametrize("encoding", RAW)
def test_data_one_byte_short_are_no_image_and_the_error_has_the_numbers(encoding):
    whole = raw_view(encoding)
    short = whole.model_copy(update={"data": whole.data[:-1]})
    with pytest.raises(ImageError) as caught:
        decode(short)
    size = len(whole.data)
    for word in (
        "/top/image_raw",
        f"'{encoding}'",
        "3x2",
        f"step {whole.step}",
        f"{size - 1} bytes",
    ):
        assert word in str(caught.value)
    assert f"at least {size} bytes" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data": b""}, ["0 bytes of data", "at least 18"]),
        ({"step": 0}, ["step 0", "at least 9"]),
        ({"step": 8}, ["step 8", "at least 9"]),
        ({"height": 0}, ["3x0", "empty"]),
        ({"width": 0}, ["0x2", "empty"]),
        ({"height": 2**32 - 1}, ["4294967295", "at least 38654705655"]),
        ({"encoding": "bayer_rggb8"}, ["'bayer_rggb8'", "rgb8, bgr8, mono8, 16UC1, 32FC1, jpeg"]),
        ({"encoding": ""}, ["''", "known are"]),
        ({"encoding": "png", "data": b""}, ["0 bytes of data", "neither JPEG nor PNG"]),
        ({"encoding": "jpeg", "data": b"BM12"}, ["'jpeg'", "42 4d 31 32"]),
    ],
)
def test_a_frame_that_is_no_image_is_an_error_with_topic_and_numbers(changes, words):
    with pytest.raises(ImageError) as caught:
        decode(raw_view("rgb8", **changes))
    for word in ("/top/image_raw", *words):
        assert word in str(caught.value)


def test_png_of_three_channels_is_rgb():
    same(decode(file_view("png", file_of(".png", RGB[:, :, ::-1]))), RGB)


def test_png_of_one_channel_is_grey():
    same(decode(file_view("png", file_of(".png", GREY))), GREY)


def test_alpha_of_a_png_is_left_out():
    bgra = np.dstack([RGB[:, :, ::-1], GREY])
    same(decode(file_view("png", file_of(".png", bgra))), RGB)


def test_png_of_16_bits_is_depth_in_millimetres():
    same(decode(file_view("png", file_of(".png", MILLIMETRES))), METRES)


def test_png_of_16_bits_and_three_channels_has_no_meaning():
    pixels = np.zeros((2, 3, 3), np.uint16)
    with pytest.raises(ImageError, match=r"\(2, 3, 3\).*uint16"):
        decode(file_view("png", file_of(".png", pixels)))


@pytest.fixture
def photograph():
    image = np.zeros((64, 64, 3), np.uint8)
    image[:, :, 0] = np.arange(64) * 4
    image[:, :, 2] = 30
    return image


def test_jpeg_is_rgb(photograph):
    data = file_of(".jpg", photograph[:, :, ::-1], cv2.IMWRITE_JPEG_QUALITY, 95)
    image = decode(file_view("jpeg", data))
    assert image.dtype == np.uint8
    assert np.abs(image.astype(int) - photograph).max() < 20


def test_grey_jpeg_is_grey(photograph):
    image = decode(file_view("jpeg", file_of(".jpg", photograph[:, :, 0])))
    assert image.shape == (64, 64)


def test_the_data_say_what_a_file_is_whatever_its_publisher_says():
    same(decode(file_view("jpeg", file_of(".png", RGB[:, :, ::-1]))), RGB)


@pytest.mark.parametrize("suffix", [".jpg", ".png"])
@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.97])
def test_a_file_that_is_cut_off_is_no_image(suffix, part):
    data = file_of(suffix, np.random.default_rng(1).integers(0, 255, (64, 64, 3), np.uint8))
    with pytest.raises(ImageError, match="the file is cut off"):
        decode(file_view("jpeg", data[: int(len(data) * part)]))


@pytest.mark.parametrize("suffix", [".jpg", ".png"])
def test_zeros_after_a_file_do_no_harm(photograph, suffix):
    data = file_of(suffix, photograph)
    same(decode(file_view("jpeg", data + bytes(100))), decode(file_view("jpeg", data)))


def test_a_png_whose_header_is_broken_is_no_image(photograph):
    data = bytearray(file_of(".png", photograph))
    data[16:24] = b"\xff" * 8
    with pytest.raises(ImageError, match="broken"):
        decode(file_view("png", bytes(data)))


def test_colour_is_shown_as_it_is_and_grey_in_three_channels():
    same(to_rgb(RGB), RGB)
    same(to_rgb(GREY), np.dstack([GREY] * 3))


def test_depth_is_shown_with_the_nearest_white_and_the_unknown_black():
    shown = to_rgb(np.array([[1.0, 2.0, 3.0, np.nan]], np.float32))
    nearest, middle, farthest, unknown = shown[0, :, 0].tolist()
    assert nearest == 255 > middle > farthest > unknown == 0
    assert shown.shape == (1, 4, 3)


@pytest.mark.parametrize("value", [1.5, np.nan])
def test_depth_that_is_the_same_everywhere_can_be_shown(value):
    shown = to_rgb(np.full((2, 2), value, np.float32))
    assert set(shown.ravel().tolist()) == ({255} if value == 1.5 else {0})


@pytest.mark.parametrize("encoding", RAW)
def test_png_of_a_frame_shows_what_was_decoded(encoding):
    view = raw_view(encoding)
    shown = decode(file_view("png", encode_png(view)))
    same(shown, to_rgb(decode(view)))
    assert encode_png(decode(view)) == encode_png(view)
