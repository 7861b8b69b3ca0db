# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Reference pictures as parameters: what is one, and how it is written."""

import cv2
import numpy as np
import pytest
from pydantic import ValidationError

from harness_ros.capture.images import encode_png
from harness_ros.judges import Criterion
from harness_ros.judges.checks.reference import PictureError, Reference


@pytest.fixture
def picture_of_noise():
    return np.random.default_rng(0).integers(0, 256, (12, 16, 3), np.uint8)


def criterion(reference):
    given = {"view": "tray", "reference": reference, "min_fraction": 0.1}
    return Criterion.model_validate({"success": {"changed": given}})


def reference_in(written):
    (check,) = written.checks()
    return check.parameters.reference


def test_a_criterion_with_a_picture_reads_back_from_its_json(picture_of_noise):
    read = criterion(Reference(encode_png(picture_of_noise)).uri)
    again = Criterion.model_validate_json(read.model_dump_json())
    assert again == read
    np.testing.assert_array_equal(reference_in(again).pixels, picture_of_noise)
    assert '"data:image/png;base64,' in read.model_dump_json()


def test_two_checks_with_other_pictures_are_two_checks(picture_of_noise):
    first, second = (
        criterion(Reference(encode_png(picture)).uri)
        for picture in (picture_of_noise, picture_of_noise[::-1])
    )
    assert repr(first) != repr(second)
    assert len(repr(first)) < 500


def test_jpeg_is_a_picture_too(picture_of_noise):
    data = cv2.imencode(".jpg", picture_of_noise)[1].tobytes()
    reference = reference_in(criterion(Reference(data).uri))
    assert reference.encoding == "jpeg"
    assert reference.pixels.shape == (12, 16, 3)


def test_a_picture_of_16_bit_is_no_reference():
    deep = cv2.imencode(".png", np.full((4, 4), 900, np.uint16))[1].tobytes()
    with pytest.raises(PictureError, match="8 bit"):
        Reference(deep)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("drawer.png", "a picture is wanted: `file:` and the path"),
        ("file:drawer.png", "a picture is wanted: `file:` and the path"),
        (3, "a picture is wanted"),
        ("data:text/plain,hello", "begins with `data:image/png;base64,`"),
        ("data:image/png;base64,####", "begins with `data:image/png;base64,`"),
        ("data:image/png;base64,abc", "no picture: "),
        ("data:image/png;base64,aGVsbG8=", "no picture: 5 bytes .* are neither PNG nor JPEG"),
        ("data:image/png;base64,iVBORw0KGgoAAAA=", "no picture: "),
    ],
)
def test_what_is_no_picture_is_an_error_that_says_what_is_wanted(value, said):
    with pytest.raises(ValidationError, match=said):
        criterion(value)
