# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the check `changed` says of pictures of which a known part differs."""

import numpy as np
import pytest
from pydantic import ValidationError

from harness_ros.capture.images import encode_png
from harness_ros.judges import Criterion
from harness_ros.judges.checks.reference import Reference


def uri(picture):
    return Reference(encode_png(picture)).uri


@pytest.fixture
def before():
    """RGB (100, 200, 3), a gradient."""
    columns = np.linspace(60, 160, 200).astype(np.uint8)
    return np.ascontiguousarray(np.broadcast_to(columns[None, :, None], (100, 200, 3)))


def with_patch(image, rows, columns, value=230):
    changed = image.copy()
    changed[rows, columns] = value
    return changed


@pytest.fixture
def look(find, observe):
    def check(image, reference, **parameters):
        given = {"view": "tray", "reference": uri(reference), "blur_px": 0, **parameters}
        if not {"min_fraction", "max_fraction"} & given.keys():
            given["min_fraction"] = 0.1
        return find("changed", observe({"tray": image}), **given)

    return check


def test_the_fraction_of_the_region_that_differs(look, before):
    now = with_patch(before, slice(0, 50), slice(0, 40))
    finding = look(now, before, region=[0, 0, 0.5, 1])
    assert finding.holds is True
    assert finding.evidence == (
        "0.2 of region [0.00, 0.00, 0.50, 1.00] in tray differs from the reference by more than "
        "30 levels, light x1.00, at least 0.1 wanted"
    )
    assert look(now, before, region=[0.5, 0, 1, 1]).holds is False
    assert look(now, before, region=[0.5, 0, 1, 1], max_fraction=0.0).holds is True


def test_bounds_are_inclusive(look, before):
    now = with_patch(before, slice(0, 50), slice(0, 40))
    assert look(now, before, min_fraction=0.1).holds is True
    assert look(now, before, min_fraction=0.101).holds is False
    assert look(now, before, max_fraction=0.1).holds is True
    assert look(now, before, max_fraction=0.099).holds is False


def test_a_small_difference_is_none(look, before):
    now = with_patch(before, slice(None), slice(0, 50), before[:, :50] + 20)
    assert look(now, before, same_light=True, max_fraction=0.0).holds is True
    assert look(now, before, same_light=True, min_fraction=0.25, threshold=19).holds is True


def test_one_channel_is_enough(look, before):
    now = before.copy()
    now[:50, :40, 2] += 80
    assert look(now, before, min_fraction=0.1).holds is True


@pytest.mark.parametrize("brighter", [0.6, 1.5])
def test_other_light_is_no_change(look, before, brighter):
    now = np.rint(before * brighter).astype(np.uint8)
    finding = look(now, before, max_fraction=0.0)
    assert finding.holds is True
    assert f"light x{brighter:.2f}" in finding.evidence
    assert look(now, before, min_fraction=0.3, same_light=True).holds is True


def test_a_change_in_other_light_is_found(look, before):
    now = with_patch(np.rint(before * 1.5).astype(np.uint8), slice(0, 50), slice(0, 40), 10)
    finding = look(now, before, min_fraction=0.09, max_fraction=0.11)
    assert finding.holds is True, finding.evidence


def test_the_light_is_that_of_the_whole_view_where_the_region_is_all_changed(look, before):
    now = with_patch(before, slice(0, 50), slice(0, 40))
    region = [0, 0, 0.2, 0.5]
    assert look(now, before, region=region, min_fraction=1.0).holds is True


def test_blur_leaves_grain_out(look, before):
    noise = np.random.default_rng(0).normal(0, 15, before.shape)
    now = np.clip(before + noise, 0, 255).astype(np.uint8)
    assert look(now, before, max_fraction=0.02).holds is False
    assert look(now, before, max_fraction=0.02, blur_px=1.5).holds is True


def test_the_reference_may_be_of_the_region_alone(look, before):
    now = with_patch(before, slice(0, 50), slice(0, 40))
    region = [0, 0, 0.5, 1]
    whole = look(now, before, region=region, same_light=True)
    part = look(now, before[:, :100], region=region, same_light=True)
    assert part == whole


def test_a_reference_of_another_size_cannot_be_told(look, before):
    finding = look(before, before[:, :150], region=[0, 0, 0.5, 1])
    assert finding.holds is None
    assert "the reference has 150x100 pixels; view 'tray' has 200x100" in finding.evidence
    assert "[0.00, 0.00, 0.50, 1.00] 100x100" in finding.evidence


def test_grey_and_colour_are_compared_in_grey(look, before):
    grey = np.ascontiguousarray(with_patch(before, slice(0, 50), slice(0, 40))[:, :, 0])
    assert look(grey, before, min_fraction=0.1, max_fraction=0.1).holds is True


def test_a_dark_reference_says_nothing_of_the_light(look):
    dark = np.zeros((100, 200, 3), np.uint8)
    finding = look(with_patch(dark, slice(0, 50), slice(0, 40)), dark, min_fraction=0.1)
    assert finding.holds is True
    assert "light x1.00" in finding.evidence


def test_depth_cannot_be_told(look, before):
    assert look(np.ones((100, 200), np.float32), before).holds is None


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({}, "`min_fraction` or `max_fraction` or both are wanted"),
        ({"min_fraction": 0.5, "max_fraction": 0.4}, "min_fraction 0.5 is greater than"),
        ({"min_fraction": 0.5, "threshold": 0}, "greater than or equal to 1"),
        ({"min_fraction": 0.5, "blur_px": -1}, "greater than or equal to 0"),
    ],
)
def test_parameters_that_ask_for_nothing_are_an_error(before, parameters, said):
    given = {"view": "tray", "reference": uri(before), **parameters}
    with pytest.raises(ValidationError, match=said):
        Criterion.model_validate({"success": {"changed": given}})
