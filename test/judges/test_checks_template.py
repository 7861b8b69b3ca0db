# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the check `template` says of pictures that show the reference, and of others."""

import numpy as np
import pytest
from pydantic import ValidationError

from harness_ros.capture.images import encode_png
from harness_ros.judges import Criterion
from harness_ros.judges.checks.reference import Reference


def uri(picture):
    return Reference(encode_png(picture)).uri


@pytest.fixture
def mark(picture):
    """A picture of a marker on a ground with a gradient, (60, 60, 3)."""
    return picture((3, 320, 240, 44))[210:270, 290:350].copy()


@pytest.fixture
def ground():
    """RGB (240, 320, 3), a gradient with grain."""
    grain = np.random.default_rng(1).normal(0, 3, (240, 320, 3))
    return np.clip(np.linspace(90, 160, 320)[None, :, None] + grain, 0, 255).astype(np.uint8)


def put(ground, picture, x, y, brightness=1.0):
    """The ground with a picture whose top left corner is at (x, y)."""
    image = ground.copy()
    high, wide = picture.shape[:2]
    image[y : y + high, x : x + wide] = np.rint(picture * brightness)
    return image


def similarity(finding):
    return float(finding.evidence.split()[1])


@pytest.fixture
def look(find, observe):
    def check(image, reference, **parameters):
        given = {"view": "panel", "reference": uri(reference), "min_similarity": 0.9, **parameters}
        return find("template", observe({"panel": image}), **given)

    return check


def test_what_the_reference_shows_is_found_where_it_is(look, ground, mark):
    finding = look(put(ground, mark, 123, 57), mark)
    assert finding.holds is True
    assert finding.evidence == (
        "similarity 1.000 to the reference in region [0.00, 0.00, 1.00, 1.00] of panel, "
        "at (123, 57) px, at least 0.9 wanted"
    )


def test_another_thing_is_not_similar(look, ground, mark, picture):
    other = picture((7, 320, 240, 44))[210:270, 290:350]
    finding = look(put(ground, other, 123, 57), mark)
    assert finding.holds is False
    assert similarity(finding) < 0.8


def test_brightness_and_contrast_do_not_count(look, ground, mark):
    assert look(put(ground, mark, 30, 40, brightness=0.5), mark, min_similarity=0.99).holds is True


def test_colour_counts(look, ground):
    red = np.full((40, 40, 3), 60, np.uint8)
    green = red.copy()
    red[10:30, 10:30, 0], green[10:30, 10:30, 1] = 220, 220
    image = put(ground, red, 100, 100)
    assert look(image, red).holds is True
    assert look(image, green).holds is False


def test_the_picture_is_looked_for_in_the_region_alone(look, ground, mark):
    image = put(ground, mark, 200, 100)
    assert look(image, mark, region=[0.5, 0.2, 1, 1]).holds is True
    assert "at (200, 100) px" in look(image, mark, region=[0.5, 0.2, 1, 1]).evidence
    assert look(image, mark, region=[0, 0, 0.5, 1]).holds is False


def test_a_region_of_the_size_of_the_reference_has_one_place(look, ground, mark):
    image = put(ground, mark, 64, 60)
    region = [0.2, 0.25, 0.3875, 0.5]
    assert look(image, mark, region=region, min_similarity=0.999).holds is True


def test_bounds_are_inclusive_and_may_have_an_upper_end(look, ground, mark):
    image = put(ground, mark, 64, 60)
    assert look(image, mark, min_similarity=1.0 - 1e-6).holds is True
    finding = look(image, mark, min_similarity=0.0, max_similarity=0.9)
    assert finding.holds is False
    assert "0 to 0.9 wanted" in finding.evidence


def test_where_the_view_is_flat_nothing_is_similar(look, mark):
    for grey in (0, 77, 255):
        finding = look(np.full((240, 320, 3), grey, np.uint8), mark, min_similarity=0.1)
        assert finding.holds is False
        assert similarity(finding) == 0.0


def test_flat_parts_of_a_view_do_not_hide_what_is_there(look, mark):
    image = np.full((240, 320, 3), 77, np.uint8)
    finding = look(put(image, mark, 150, 80), mark)
    assert finding.holds is True
    assert "at (150, 80) px" in finding.evidence


@pytest.mark.parametrize(("view_channels", "reference_channels"), [(1, 3), (3, 1), (1, 1)])
def test_grey_and_colour_are_compared_in_grey(
    look, ground, mark, view_channels, reference_channels
):
    image = put(ground, mark, 64, 60)
    view = image if view_channels == 3 else np.ascontiguousarray(image[:, :, 0])
    reference = mark if reference_channels == 3 else np.ascontiguousarray(mark[:, :, 0])
    assert look(view, reference).holds is True


def test_a_reference_larger_than_the_region_cannot_be_told(look, ground, mark):
    finding = look(ground, mark, region=[0, 0, 0.1, 0.1])
    assert finding.holds is None
    assert "the reference has 60x60 pixels" in finding.evidence
    assert "of panel only 32x24" in finding.evidence


def test_depth_cannot_be_told(look, mark):
    assert look(np.ones((240, 320), np.float32), mark).holds is None


@pytest.mark.parametrize("value", [0, 128, 255])
def test_a_reference_of_one_colour_is_an_error(value):
    flat = np.full((20, 20, 3), value, np.uint8)
    given = {"view": "panel", "reference": uri(flat), "min_similarity": 0.9}
    with pytest.raises(ValidationError, match="the reference is of one colour"):
        Criterion.model_validate({"success": {"template": given}})


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"min_similarity": 1.1}, "less than or equal to 1"),
        ({"max_similarity": 0.5}, "min_similarity 0.9 is greater than max_similarity 0.5"),
    ],
)
def test_bounds_that_cannot_be_met_are_an_error(mark, parameters, said):
    given = {"view": "panel", "reference": uri(mark), "min_similarity": 0.9, **parameters}
    with pytest.raises(ValidationError, match=said):
        Criterion.model_validate({"success": {"template": given}})
