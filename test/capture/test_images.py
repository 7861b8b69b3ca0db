# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Raw frames: pixels of every encoding, and everything that publishers get wrong around them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from image_frames import (
    DTYPES,
    ENCODINGS,
    GREY,
    RAW,
    file_of,
    frame,
    kind_of,
    pixels_of,
    raw_view,
    same,
    view,
)

from harness_ros.capture.images import ImageError, check, decode, encode_png, notes, to_rgb

RGB = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3) * 10
GREYS = np.arange(6, dtype=np.uint8).reshape(2, 3) * 40
ALPHA = GREYS[:, :, None]
MILLIMETRES = np.array([[0, 1, 1500], [65535, 300, 2000]], np.uint16)
METRES = np.array([[np.nan, 0.001, 1.5], [65.535, 0.3, 2.0]], np.float32)
RAW_DEPTH = np.array([[0, 0.001, 1.5], [np.inf, np.nan, -np.inf], [-1.0, -0.0, 70]], np.float32)
DEPTH = np.array([[np.nan, 0.001, 1.5], [np.nan] * 3, [np.nan, np.nan, 70]], np.float32)
BGR = RGB[:, :, ::-1]


def wide(pixels):
    """8 bits in 16: 255 becomes 65535."""
    return pixels.astype(np.uint16) * 257


EXAMPLES = {
    "rgb8": (RGB, RGB),
    "bgr8": (BGR, RGB),
    "rgba8": (np.dstack([RGB, ALPHA]), RGB),
    "bgra8": (np.dstack([BGR, ALPHA]), RGB),
    "8UC3": (BGR, RGB),
    "8UC4": (np.dstack([BGR, ALPHA]), RGB),
    "rgb16": (wide(RGB), RGB),
    "bgr16": (wide(BGR), RGB),
    "rgba16": (wide(np.dstack([RGB, ALPHA])), RGB),
    "bgra16": (wide(np.dstack([BGR, ALPHA])), RGB),
    "mono8": (GREYS, GREYS),
    "8UC1": (GREYS, GREYS),
    "mono16": (wide(GREYS), GREYS),
    "16UC1": (MILLIMETRES, METRES),
    "32FC1": (RAW_DEPTH, DEPTH),
}
PLAIN = tuple(EXAMPLES)
WIDE = [name for name in PLAIN if EXAMPLES[name][0].itemsize > 1]


def example(encoding, **changes):
    return raw_view(encoding, EXAMPLES[encoding][0], **changes)


def without_note_of_order(found):
    return [note for note in found if "order of the colours" not in note]


# Pixels


@pytest.mark.parametrize("bigendian", [False, True])
@pytest.mark.parametrize("padding", [0, 1, 7])
@pytest.mark.parametrize("encoding", PLAIN)
def test_raw_pixels_are_read_whatever_padding_and_byte_order(encoding, padding, bigendian):
    frame = example(encoding, padding=padding, bigendian=bigendian)
    same(decode(frame), EXAMPLES[encoding][1])
    assert without_note_of_order(notes(frame)) == []


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("size", [(6, 8), (5, 7), (3, 3), (16, 3)])
def test_every_known_encoding_gives_the_documented_array(encoding, size):
    found = frame(encoding, np.random.default_rng(3), *size)
    check(found)
    image = decode(found)
    kind = kind_of(encoding) or "colour"
    assert image.dtype == DTYPES[kind]
    assert image.shape == (size if kind != "colour" else (*size, 3))


@pytest.mark.parametrize("encoding", WIDE)
def test_the_byte_order_of_a_frame_counts(encoding):
    pixels = pixels_of(encoding, np.random.default_rng(2), 4, 5)
    swapped = raw_view(encoding, pixels).model_copy(update={"is_bigendian": True})
    assert not np.array_equal(decode(swapped), decode(raw_view(encoding, pixels)), equal_nan=True)


def test_sixteen_bits_become_eight_by_rounding_over_the_whole_range():
    every = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    same(decode(raw_view("mono16", every)), ((every.astype(int) * 2 + 257) // 514).astype(np.uint8))


def test_millimetres_are_metres_to_the_last_digit_and_zero_is_unknown():
    every = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    expected = np.float32(every.astype(np.float32) / np.float32(1000))
    expected[0, 0] = np.nan
    same(decode(raw_view("16UC1", every)), expected)


@pytest.mark.parametrize("encoding", ["rgb8", "mono8", "8UC1"])
@pytest.mark.parametrize("padding", [0, 5])
def test_what_needs_no_conversion_is_not_copied(encoding, padding):
    found = example(encoding, padding=padding)
    assert np.shares_memory(decode(found), np.frombuffer(found.data, np.uint8))


# Sizes


@pytest.mark.parametrize("encoding", RAW)
def test_data_beyond_the_last_row_are_left_out_and_noted(encoding):
    whole = frame(encoding, np.random.default_rng(1))
    longer = whole.model_copy(update={"data": whole.data + b"more!"})
    check(longer)
    same(decode(longer), decode(whole))
    assert without_note_of_order(notes(whole)) == []
    assert without_note_of_order(notes(longer)) == [
        "5 bytes of data after the last row were left out"
    ]


@pytest.mark.parametrize("encoding", PLAIN)
def test_missing_padding_of_the_last_row_loses_no_pixel_and_is_noted(encoding):
    padded = example(encoding, padding=4)
    short = padded.model_copy(update={"data": padded.data[:-4]})
    same(decode(short), EXAMPLES[encoding][1])
    assert any("4 bytes of padding" in note for note in notes(short))


@pytest.mark.parametrize("encoding", RAW)
def test_a_step_of_zero_means_tightly_packed_rows_and_is_noted(encoding):
    whole = frame(encoding, np.random.default_rng(1))
    unsaid = whole.model_copy(update={"step": 0})
    check(unsaid)
    same(decode(unsaid), decode(whole))
    (note,) = without_note_of_order(notes(unsaid))
    assert note == f"step 0: taken as tightly packed rows of {whole.step} bytes"


@pytest.mark.parametrize("encoding", RAW)
@pytest.mark.parametrize("step", [None, 0])
def test_data_one_byte_short_are_no_image_and_the_error_has_the_numbers(encoding, step):
    whole = frame(encoding, np.random.default_rng(1))
    size = len(whole.data)
    step = whole.step if step is None else step
    short = whole.model_copy(update={"data": whole.data[:-1], "step": step})
    for function in (check, notes, decode):
        with pytest.raises(ImageError) as caught:
            function(short)
        for words in (
            "/top/image_raw",
            f"'{encoding}'",
            f"8x6, step {step}",
            f"{size - 1} bytes of data",
            f"at least {size} bytes of data are needed, 1 are missing",
        ):
            assert words in str(caught.value)


@pytest.mark.parametrize("encoding", RAW)
def test_a_step_smaller_than_a_row_is_an_error_that_says_which_would_do(encoding):
    whole = frame(encoding, np.random.default_rng(1))
    for step in {1, whole.step - 1}:
        with pytest.raises(ImageError) as caught:
            decode(whole.model_copy(update={"step": step}))
        assert f"a row needs a step of at least {whole.step} bytes" in str(caught.value)
        assert f"as long as rows of {whole.step} bytes" in str(caught.value)


def test_a_step_that_is_too_large_for_the_data_is_an_error_that_says_which_would_do():
    found = raw_view("rgb8", RGB).model_copy(update={"step": 12})
    with pytest.raises(ImageError, match=r"3 are missing; the data are as long as rows of 9 bytes"):
        decode(found)


@given(
    encoding=st.sampled_from(PLAIN),
    width=st.integers(0, 6),
    height=st.integers(0, 6),
    step=st.integers(0, 60),
    length=st.integers(0, 400),
)
@settings(deadline=None, derandomize=True, max_examples=500)
def test_a_frame_is_decoded_exactly_if_its_last_pixel_is_there(
    encoding, width, height, step, length
):
    pixel = EXAMPLES[encoding][0][0, 0].nbytes
    data = np.random.default_rng(length).integers(0, 256, length, np.uint8).tobytes()
    found = view(encoding, data, width, height, step)
    row = width * pixel
    apart = step or row
    enough = apart * (height - 1) + row <= length
    if width and height and apart >= row and enough:
        image = decode(found)
        check(found)
        last = apart * (height - 1) + (width - 1) * pixel
        alone = decode(view(encoding, data[last : last + pixel], 1, 1, 0))
        np.testing.assert_array_equal(image[-1, -1], alone[0, 0])
        noted = " ".join(notes(found))
        assert ("step 0" in noted) == (step == 0)
        assert ("left out" in noted) == (length > apart * height)
    else:
        for function in (check, notes, decode):
            with pytest.raises(ImageError):
                function(found)


# Errors


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data": b""}, ["0 bytes of data", "at least 18"]),
        ({"step": 8}, ["step 8", "at least 9"]),
        ({"height": 0}, ["3x0", "empty"]),
        ({"width": 0}, ["0x2", "empty"]),
        ({"height": 2**32 - 1}, ["4294967295", "at least 38654705655"]),
        ({"height": 2**32 - 1, "width": 2**32 - 1, "step": 0}, ["at least 553402321"]),
        (
            {"encoding": "bayer_rggb"},
            ["'bayer_rggb'", "closest known", "'bayer_rggb8'", "docs/images.md"],
        ),
        ({"encoding": "RGB8"}, ["'RGB8'", "spelt 'rgb8'"]),
        ({"encoding": "16uc1"}, ["'16uc1'", "spelt '16UC1'"]),
        ({"encoding": ""}, ["encoding ''", "unknown", "docs/images.md"]),
        ({"encoding": "8UC2"}, ["2 channel(s) of unsigned integers of 8 bits", "'encoding:'"]),
        ({"encoding": "16UC3"}, ["3 channel(s) of unsigned integers of 16 bits", "rgb16"]),
        ({"encoding": "16SC1"}, ["1 channel(s) of signed integers of 16 bits"]),
        ({"encoding": "32FC4"}, ["4 channel(s) of floating-point numbers of 32 bits"]),
        ({"encoding": "64FC1"}, ["1 channel(s) of floating-point numbers of 64 bits"]),
        ({"encoding": "nv16"}, ["'nv16'", "closest known", "'nv1"]),
        ({"encoding": "x" * 5000}, ["unknown"]),
    ],
)
def test_a_frame_that_is_no_image_is_an_error_with_topic_and_numbers(changes, words):
    broken = raw_view("rgb8", RGB).model_copy(update=changes)
    for function in (check, notes, decode):
        with pytest.raises(ImageError) as caught:
            function(broken)
        for word in ("/top/image_raw", *words):
            assert word in str(caught.value)


def test_an_error_names_the_encoding_that_the_configuration_overrides():
    broken = raw_view("mono8", GREYS, published_encoding="8UC2").model_copy(update={"data": b""})
    with pytest.raises(ImageError) as caught:
        decode(broken)
    assert "'mono8', set by the configuration where the publisher says '8UC2'" in str(caught.value)


@pytest.mark.parametrize(("encoding", "order"), [("8UC3", "BGR"), ("8UC4", "BGRA")])
def test_an_encoding_that_says_nothing_of_the_order_of_colours_is_noted(encoding, order):
    (note,) = notes(example(encoding))
    assert f"read as {order}," in note


# Pictures to look at


def test_colour_is_shown_as_it_is_and_grey_in_three_channels():
    same(to_rgb(RGB), RGB)
    same(to_rgb(GREYS), np.dstack([GREYS] * 3))


def test_depth_is_shown_with_the_nearest_white_and_the_unknown_black():
    shown = to_rgb(np.array([[1.0, 2.0, 3.0, np.nan]], np.float32))
    nearest, middle, farthest, unknown = shown[0, :, 0].tolist()
    assert nearest == 255 > middle > farthest > unknown == 0
    assert shown.shape == (1, 4, 3)


@pytest.mark.parametrize("value", [1.5, np.nan])
def test_depth_that_is_the_same_everywhere_can_be_shown(value):
    shown = to_rgb(np.full((2, 2), value, np.float32))
    assert set(shown.ravel().tolist()) == ({255} if value == 1.5 else {0})


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_png_of_a_frame_shows_what_was_decoded(encoding):
    found = frame(encoding, np.random.default_rng(5))
    shown = decode(view("png", encode_png(found)))
    same(shown, to_rgb(decode(found)))
    assert encode_png(decode(found)) == encode_png(found)


def test_png_of_a_grey_frame_is_not_mistaken_for_depth():
    assert kind_of("mono16") == GREY
    assert decode(view("png", encode_png(example("mono16")))).dtype == np.uint8
    assert file_of(".png", GREYS)[:4] == encode_png(example("mono16"))[:4]
