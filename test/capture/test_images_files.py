# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compressed messages that hold image files: what they are named, and what is in them."""

import struct
import time
import tracemalloc
import zlib

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from image_frames import PATTERNS, compressed_depth, file_of, frame, mosaic, same, view

from harness_ros.capture.images import (
    DECODERS,
    ImageError,
    check,
    compressed_encoding,
    decode,
    notes,
)

RGB = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3) * 10
BGR = RGB[:, :, ::-1]
GREYS = np.arange(6, dtype=np.uint8).reshape(2, 3) * 40
MILLIMETRES = np.array([[0, 1, 1500], [65535, 300, 2000]], np.uint16)
METRES = np.array([[np.nan, 0.001, 1.5], [65.535, 0.3, 2.0]], np.float32)
SUFFIXES = {"jpeg": ".jpg", "png": ".png", "tiff": ".tiff"}
CODECS = tuple(SUFFIXES)


def message(format, data):
    """A compressed message as the capture makes a view of it."""
    return view(compressed_encoding(format, data), data)


@pytest.fixture
def photograph():
    down, across = np.mgrid[:64, :64]
    return np.dstack([across * 4, np.full((64, 64), 90), down * 2]).astype(np.uint8)


@pytest.fixture
def noise():
    return np.random.default_rng(1).integers(0, 255, (64, 64, 3), np.uint8)


# Names


def png_of(width, height, bits, colour, rows, *chunks):
    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    start = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0))
    middle = b"".join(chunk(*item) for item in chunks) + chunk(b"IDAT", zlib.compress(rows))
    return b"\x89PNG\r\n\x1a\n" + start + middle + chunk(b"IEND", b"")


def encoded(codec, pixels):
    return file_of(SUFFIXES[codec], pixels)


JPEG, PNG, TIFF = encoded("jpeg", BGR), encoded("png", BGR), encoded("tiff", BGR)
DEEP = encoded("png", MILLIMETRES)
DEPTH_PNG, DEPTH_RVL = (compressed_depth(MILLIMETRES, codec, 100, -1) for codec in ("png", "rvl"))


@pytest.mark.parametrize(
    ("format", "data", "encoding"),
    [
        # compressed_image_transport, by age
        ("jpeg", JPEG, "jpeg"),
        ("png", PNG, "png"),
        ("rgb8; jpeg compressed bgr8", JPEG, "jpeg"),
        ("bgr8; jpeg compressed bgr8", JPEG, "jpeg"),
        ("rgb8; jpeg compressed rgb8", JPEG, "jpeg"),
        ("mono8; jpeg compressed ", JPEG, "jpeg"),
        ("mono8; jpeg compressed mono8", JPEG, "jpeg"),
        ("mono16; jpeg compressed mono8", JPEG, "jpeg"),
        ("rgb16; jpeg compressed bgr8", JPEG, "jpeg"),
        ("yuv422_yuy2; jpeg compressed bgr8", JPEG, "jpeg"),
        ("8UC3; jpeg compressed ", JPEG, "jpeg"),
        ("bayer_rggb8; jpeg compressed ", JPEG, "bayer_rggb8; jpeg"),
        ("bayer_rggb8; jpeg compressed mono8", JPEG, "jpeg"),
        ("rgb8; png compressed bgr8", PNG, "png"),
        ("rgba8; png compressed bgr8", PNG, "png"),
        ("rgb16; png compressed bgr16", PNG, "png"),
        ("mono8; png compressed ", PNG, "png"),
        ("mono16; png compressed ", DEEP, "mono16; png"),
        ("16UC1; png compressed ", DEEP, "16UC1; png"),
        ("bayer_gbrg16; png compressed ", DEEP, "bayer_gbrg16; png"),
        ("rgb8; tiff compressed ", TIFF, "rgb8 as bgr8; tiff"),
        ("rgba16; tiff compressed ", TIFF, "rgba16 as bgra16; tiff"),
        ("bgr8; tiff compressed ", TIFF, "tiff"),
        ("mono8; tiff compressed ", TIFF, "tiff"),
        ("16UC1; tiff compressed ", TIFF, "16UC1; tiff"),
        ("32FC1; tiff compressed ", TIFF, "32FC1; tiff"),
        # compressed_depth_image_transport, by age
        ("16UC1; compressedDepth", DEPTH_PNG, "16UC1; compressedDepth png"),
        ("16UC1; compressedDepth png", DEPTH_PNG, "16UC1; compressedDepth png"),
        ("32FC1; compressedDepth png", DEPTH_PNG, "32FC1; compressedDepth png"),
        ("16UC1; compressedDepth rvl", DEPTH_RVL, "16UC1; compressedDepth rvl"),
        ("32FC1; compressedDepth rvl", DEPTH_RVL, "32FC1; compressedDepth rvl"),
        ("16UC1; compressedDepth RVL", DEPTH_RVL, "16UC1; compressedDepth rvl"),
        ("mono16; compressedDepth png", DEPTH_PNG, "16UC1; compressedDepth png"),
        # cv_bridge, browsers, simulators, and those that leave the header of depth out
        ("jpg", JPEG, "jpeg"),
        ("JPEG", JPEG, "jpeg"),
        ("image/jpeg", JPEG, "jpeg"),
        (".jpg", JPEG, "jpeg"),
        ("tif", TIFF, "tiff"),
        ("", JPEG, "jpeg"),
        ("", DEEP, "png"),
        ("png", DEEP, "png"),
        ("16UC1", DEEP, "16UC1; png"),
        ("16uc1; png", DEEP, "16UC1; png"),
        ("16UC1; compressedDepth png", DEEP, "16UC1; png"),
        # what the data are counts, whatever the publisher says
        ("jpeg", PNG, "png"),
        ("rgb8; jpeg compressed bgr8", PNG, "png"),
        ("png", JPEG, "jpeg"),
        ("h264", JPEG, "jpeg"),
        ("16UC1; png compressed ", DEPTH_PNG, "16UC1; compressedDepth png"),
    ],
)
def test_a_compressed_message_is_named_by_its_data_first_and_its_format_second(
    format, data, encoding
):
    assert compressed_encoding(format, data) == encoding
    assert encoding in DECODERS


@pytest.mark.parametrize(
    ("format", "data", "words"),
    [
        ("h264", b"\0\0\0\1\x67", ["'h264; compressed'", "none of JPEG, PNG, TIFF"]),
        ("nv12", bytes(24), ["'nv12; compressed'", "none of JPEG, PNG, TIFF"]),
        ("", b"GIF89a..", ["names no format"]),
        ("", b"", ["0 bytes of data", "names no format"]),
        ("jpeg", b"BM12", ["'jpeg'", "neither JPEG nor PNG nor TIFF", "'42 4d 31 32'"]),
        ("rgb8; png compressed bgr8", b"", ["'png'", "0 bytes", "neither JPEG nor PNG"]),
        ("16UC1; jpeg compressed mono8", JPEG, ["JPEG file keeps 8 bits", "compressedDepth"]),
        ("32FC1; jpeg compressed ", JPEG, ["JPEG file keeps 8 bits"]),
        ("32FC1; png compressed ", DEEP, ["'32FC1; png'", "scale is unknown"]),
        ("32FC1; compressedDepth png", DEEP, ["'32FC1; png'", "scale is unknown"]),
        ("16SC1; tiff compressed ", TIFF, ["'16SC1; tiff'", "signed integers of 16 bits"]),
        ("png", DEPTH_PNG, ["'16UC1; compressedDepth png'", "'32FC1; compressedDepth png'"]),
        ("", DEPTH_PNG, ["which depth", "'encoding:'"]),
        ("rgb8; compressedDepth rvl", DEPTH_RVL, ["'16UC1; compressedDepth rvl'"]),
        ("16UC1; compressedDepth", DEPTH_RVL, ["no PNG file after the header of 12 bytes"]),
        ("16UC1; png", PNG, ["3 channel(s) of 8 bits", "needs 1 of 16"]),
        ("16UC1; png", png_of(1, 1, 16, 4, bytes(5)), ["4 channel(s) of 16 bits", "needs 1 of 16"]),
        ("16UC1; png", encoded("png", GREYS), ["1 channel(s) of 8 bits", "needs 1 of 16"]),
        ("mono16; png compressed ", PNG, ["3 channel(s) of 8 bits"]),
        ("bayer_rggb8; png compressed ", PNG, ["3 channel(s) of 8 bits", "needs 1 of 8"]),
        ("bayer_rggb8; png compressed ", encoded("png", GREYS), ["3x2 pixels", "at least 3x3"]),
    ],
)
def test_what_cannot_be_decoded_is_an_error_that_says_what_would_be_right(format, data, words):
    found = message(format, data)
    for function in (check, notes, decode):
        with pytest.raises(ImageError) as caught:
            function(found)
        for word in ("/top/image_raw", *words):
            assert word in str(caught.value)


@given(format=st.text(), data=st.binary() | st.sampled_from([JPEG, PNG, TIFF, DEPTH_PNG]))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_any_format_gives_a_name_and_no_name_lets_bytes_pass_as_a_raw_frame(format, data):
    found = message(format, data)
    assert found.encoding
    if not data or data[0] not in (0xFF, 0x89, 0x49, 0):
        with pytest.raises(ImageError):
            decode(found)


@pytest.mark.parametrize("encoding", [name for name in DECODERS if ";" in name])
def test_a_name_in_the_configuration_stays_what_it_is(encoding):
    data = frame(encoding, np.random.default_rng(1)).data
    assert compressed_encoding(encoding, data) == encoding


# Contents


@pytest.mark.parametrize("format", ["png", "tiff", "rgb8; png compressed bgr8"])
@pytest.mark.parametrize("codec", ["png", "tiff"])
@pytest.mark.parametrize(
    ("pixels", "expected"),
    [
        (BGR, RGB),
        (np.dstack([BGR, GREYS]), RGB),
        (BGR.astype(np.uint16) * 257, RGB),
        (np.dstack([BGR, GREYS]).astype(np.uint16) * 257, RGB),
        (GREYS, GREYS),
        (MILLIMETRES, METRES),
    ],
    ids=["colour", "alpha", "colour of 16 bits", "alpha of 16 bits", "grey", "depth"],
)
def test_files_without_loss_are_what_was_stored(format, codec, pixels, expected):
    found = message(format, encoded(codec, pixels))
    same(decode(found), expected)
    assert notes(found) == ()


def test_grey_of_16_bits_is_told_from_depth_by_the_format():
    data = encoded("png", GREYS.astype(np.uint16) * 257)
    same(decode(message("mono16; png compressed ", data)), GREYS)
    assert decode(message("16UC1; png compressed ", data)).dtype == np.float32


def test_tiff_of_floats_is_depth_in_metres():
    depth = np.array([[0.5, 0, np.nan], [np.inf, -1, 3]], np.float32)
    expected = np.array([[0.5, np.nan, np.nan], [np.nan, np.nan, 3]], np.float32)
    data = encoded("tiff", depth)
    for format in ("32FC1; tiff compressed ", "tiff"):
        same(decode(message(format, data)), expected)


@pytest.mark.parametrize("published", ["rgb8", "bgr8"])
def test_colours_that_the_transport_stores_in_tiff_are_those_that_were_published(published):
    # It hands the pixels to cv::imencode as they are, which takes them for BGR.
    stored = RGB if published == "rgb8" else BGR
    found = message(f"{published}; tiff compressed ", encoded("tiff", stored))
    same(decode(found), RGB)
    assert bool(notes(found)) == (published == "rgb8")


@pytest.mark.parametrize("codec", ["png", "tiff"])
def test_red_and_blue_that_a_publisher_mixed_up_are_set_right_by_the_configuration(codec):
    mixed = encoded(codec, RGB)
    same(decode(message(codec, mixed)), BGR)
    same(decode(message(f"rgb8 as bgr8; {codec}", mixed)), RGB)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("codec", CODECS)
def test_a_mosaic_in_a_file_becomes_colour(photograph, pattern, codec):
    seen = mosaic(photograph, pattern)
    found = message(f"bayer_{pattern}8; {codec} compressed ", encoded(codec, seen))
    assert np.abs(decode(found).astype(int) - photograph).mean() < (12 if codec == "jpeg" else 2)
    assert bool(notes(found)) == (codec == "jpeg")


def test_jpeg_is_rgb(photograph):
    data = file_of(".jpg", photograph[:, :, ::-1], cv2.IMWRITE_JPEG_QUALITY, 95)
    image = decode(message("jpeg", data))
    assert image.dtype == np.uint8
    assert np.abs(image.astype(int) - photograph).max() < 20


def test_grey_jpeg_is_grey(photograph):
    assert decode(message("jpeg", encoded("jpeg", photograph[:, :, 0]))).shape == (64, 64)


def test_progressive_jpeg_and_restart_markers_are_read(noise):
    plain = decode(message("jpeg", file_of(".jpg", noise)))
    for flag, value in ((cv2.IMWRITE_JPEG_PROGRESSIVE, 1), (cv2.IMWRITE_JPEG_RST_INTERVAL, 2)):
        same(decode(message("jpeg", file_of(".jpg", noise, flag, value))), plain)


def test_a_thumbnail_inside_a_jpeg_does_not_end_it(photograph):
    whole, small = file_of(".jpg", photograph), file_of(".jpg", photograph[:8, :8])
    exif = struct.pack(">H", len(small) + 2) + small
    with_thumbnail = whole[:2] + b"\xff\xe1" + exif + whole[2:]
    same(decode(message("jpeg", with_thumbnail)), decode(message("jpeg", whole)))
    cut = with_thumbnail[: len(with_thumbnail) // 2]
    with pytest.raises(ImageError, match="cut off"):
        check(message("jpeg", cut))


def test_palettes_and_few_bits_in_png_are_read():
    palette = png_of(2, 1, 8, 3, b"\0\0\1", (b"PLTE", b"\x0a\x14\x1e\xff\xfe\xfd"))
    same(decode(view("png", palette)), np.array([[[10, 20, 30], [255, 254, 253]]], np.uint8))
    same(decode(view("png", png_of(2, 1, 1, 0, b"\0\x40"))), np.array([[0, 255]], np.uint8))


# Damage


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("part", [0.0, 0.01, 0.1, 0.5, 0.9, 0.97])
def test_a_file_that_is_cut_off_is_refused_by_its_header_alone(noise, codec, part):
    data = encoded(codec, noise)
    for function in (check, decode):
        with pytest.raises(ImageError, match=r"the file is cut off|neither JPEG"):
            function(view(codec, data[: int(len(data) * part)]))


@pytest.mark.parametrize("codec", ["jpeg", "png"])
def test_a_file_without_its_last_byte_is_cut_off(noise, codec):
    data = encoded(codec, noise)
    check(view(codec, data))
    with pytest.raises(ImageError, match="cut off"):
        check(view(codec, data[:-1]))


def tiff_of(fields, pixels=b"", order="<"):
    """A TIFF file whose directory comes before its pixels; fields are tag: number."""
    entries = [struct.pack(f"{order}HHII", tag, 4, 1, value) for tag, value in fields]
    start = (b"II" if order == "<" else b"MM") + struct.pack(f"{order}HI", 42, 8)
    return start + struct.pack(f"{order}H", len(fields)) + b"".join(entries) + bytes(4) + pixels


def grey_tiff(order="<", **changes):
    # Width, height, bits, no compression, black is zero, one channel, one strip.
    fields = {256: 3, 257: 2, 258: 8, 259: 1, 262: 1, 273: 0, 277: 1, 278: 2, 279: 6}
    fields |= {int(tag[1:]): value for tag, value in changes.items()}
    fields[273] = 8 + 2 + 12 * len(fields) + 4
    return tiff_of(list(fields.items()), GREYS.tobytes(), order)


@pytest.mark.parametrize("order", "<>")
def test_a_tiff_whose_pixels_come_last_is_read_and_refused_without_them(order):
    same(decode(view("tiff", grey_tiff(order))), GREYS)
    for function in (check, decode):
        with pytest.raises(ImageError, match="cut off: pixels up to byte 128 are missing"):
            function(view("tiff", grey_tiff(order)[:-1]))


def test_a_tiff_of_integers_of_32_bits_is_no_depth_in_metres():
    data = grey_tiff(t258=32, t339=2, t279=24) + bytes(18)
    check(view("32FC1; tiff", data))
    with pytest.raises(ImageError, match=r"int32|broken"):
        decode(view("32FC1; tiff", data))


def test_a_tiff_of_huge_tiles_is_refused_however_small_its_image_is():
    with pytest.raises(ImageError, match="more than"):
        check(view("tiff", grey_tiff(t322=2**16, t323=2**16)))


def test_a_tiff_that_repeats_a_large_field_is_read_in_no_time():
    entry = struct.pack("<HHII", 273, 1, 500_000, 8)
    data = b"II*\0" + struct.pack("<IH", 8, 60_000) + entry * 60_000
    began = time.perf_counter()
    with pytest.raises(ImageError):
        check(view("tiff", data))
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize("codec", CODECS)
def test_no_part_of_a_file_passes_for_another_image(codec):
    data = encoded(codec, np.random.default_rng(4).integers(0, 255, (9, 9, 3), np.uint8))
    whole = decode(view(codec, data))
    refused = 0
    for length in range(len(data)):
        try:
            same(decode(view(codec, data[:length])), whole)
        except ImageError:
            refused += 1
    # The last bytes of a TIFF file say that no other image follows: none of its pixels need them.
    assert refused >= len(data) - (4 if codec == "tiff" else 0)


@pytest.mark.parametrize("codec", ["jpeg", "png"])
def test_bytes_after_a_file_do_no_harm_and_are_noted(photograph, codec):
    data = encoded(codec, photograph)
    found = view(codec, data + bytes(100))
    same(decode(found), decode(view(codec, data)))
    assert notes(found) == ("100 bytes after the end of the file were left out",)


def test_a_png_whose_pixels_were_changed_on_the_way_is_no_image(noise):
    data = bytearray(encoded("png", noise))
    data[len(data) // 2] ^= 1
    check(view("png", bytes(data)))
    with pytest.raises(ImageError, match="broken"):
        decode(view("png", bytes(data)))


def test_a_tiff_of_numbers_without_meaning_is_no_image():
    data = encoded("tiff", np.zeros((2, 3), np.float64))
    with pytest.raises(ImageError, match=r"\(2, 3\).*float64"):
        decode(view("tiff", data))
    with pytest.raises(ImageError, match="1 channel"):
        check(view("32FC1; tiff", data))


# Sizes that a file claims


def jpeg_that_claims(width, height):
    data = bytearray(JPEG)
    place = data.index(b"\xff\xc0") + 5
    data[place : place + 4] = struct.pack(">HH", height, width)
    return bytes(data)


def tiff_that_claims(width, height):
    data = bytearray(TIFF)
    (place,) = struct.unpack_from("<I", data, 4)
    (entries,) = struct.unpack_from("<H", data, place)
    for entry in range(place + 2, place + 2 + 12 * entries, 12):
        tag = struct.unpack_from("<H", data, entry)[0]
        if tag in (256, 257):
            struct.pack_into("<HII", data, entry + 2, 4, 1, width if tag == 256 else height)
    return bytes(data)


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("png", png_of(40_000, 40_000, 8, 2, b"")),
        ("png", png_of(2**31 - 1, 2**31 - 1, 16, 6, b"")),
        ("jpeg", jpeg_that_claims(65_500, 65_500)),
        ("tiff", tiff_that_claims(2**32 - 1, 2**32 - 1)),
        ("16UC1; compressedDepth png", bytes(12) + png_of(40_000, 40_000, 16, 0, b"")),
        ("16UC1; compressedDepth rvl", bytes(12) + struct.pack("<II", 2**32 - 1, 2**32 - 1)),
        ("16UC1; compressedDepth rvl", bytes(12) + struct.pack("<II", 5000, 5000) + bytes(16)),
    ],
)
def test_a_few_bytes_that_claim_a_huge_image_are_refused_before_memory_is_taken(encoding, data):
    tracemalloc.start()
    try:
        for function in (check, decode):
            with pytest.raises(ImageError, match=r"pixels, more than the \d+ decoded"):
                function(view(encoding, data))
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("png", png_of(0, 5, 8, 2, b"")),
        ("jpeg", jpeg_that_claims(3, 0)),
        ("tiff", tiff_that_claims(0, 2)),
        ("16UC1; compressedDepth rvl", bytes(12) + struct.pack("<II", 0, 5) + bytes(4)),
    ],
)
def test_a_file_without_pixels_is_no_image(encoding, data):
    with pytest.raises(ImageError, match="an empty image"):
        check(view(encoding, data))


def test_a_jpeg_that_goes_over_its_image_without_end_is_refused(noise):
    data = file_of(".jpg", noise, cv2.IMWRITE_JPEG_PROGRESSIVE, 1)
    last = data.rindex(b"\xff\xda")
    endless = data[:last] + data[last:-2] * 100 + data[-2:]
    for function in (check, decode):
        with pytest.raises(ImageError, match="scans"):
            function(view("jpeg", endless))
