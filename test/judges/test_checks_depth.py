# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the check `depth` says of depth images with known distances."""

import numpy as np
import pytest
from pydantic import ValidationError

from harness_ros.judges import Criterion

NEAR, FAR = [0, 0, 0.5, 1], [0.5, 0, 1, 1]


@pytest.fixture
def wall(observe):
    """A wall 0.5 m away at the left and 2 m away at the right, (100, 200)."""
    metres = np.full((100, 200), 2.0, np.float32)
    metres[:, :100] = 0.5
    return lambda: (metres, lambda: observe({"depth": metres}))


def depth(find, observation, **parameters):
    return find("depth", observation, **{"view": "depth", **parameters})


def test_the_median_of_a_region_lies_within_its_bounds(find, wall):
    _, seen = wall()
    finding = depth(find, seen(), region=NEAR, min=0.4, max=0.6)
    assert finding.holds is True
    assert finding.evidence == (
        "depth 0.500 m (quantile 0.5 of region [0.00, 0.00, 0.50, 1.00] in depth, 100% of it "
        "known), 0.4 to 0.6 m wanted"
    )
    assert depth(find, seen(), region=FAR, min=0.4, max=0.6).holds is False
    assert depth(find, seen(), region=FAR, min=1.9).holds is True


def test_bounds_are_inclusive(find, wall):
    _, seen = wall()
    assert depth(find, seen(), region=NEAR, max=0.5).holds is True
    assert depth(find, seen(), region=NEAR, min=0.5).holds is True
    assert depth(find, seen(), region=NEAR, max=0.499).holds is False


@pytest.mark.parametrize(("quantile", "metres"), [(0.0, 1.0), (0.5, 1.5), (1.0, 2.0)])
def test_a_quantile_is_that_of_the_known_pixels(find, observe, quantile, metres):
    image = np.linspace(1.0, 2.0, 101, dtype=np.float32)[None, :].repeat(4, axis=0)
    image[3] = np.nan
    finding = depth(find, observe({"depth": image}), quantile=quantile, max=9)
    assert f"depth {metres:.3f} m" in finding.evidence
    assert "75% of it known" in finding.evidence


def test_a_few_near_pixels_move_the_nearest_and_not_the_median(find, wall):
    metres, seen = wall()
    metres[0, :9] = 0.1
    assert depth(find, seen(), region=NEAR, min=0.4).holds is True
    assert depth(find, seen(), region=NEAR, min=0.4, quantile=0.0).holds is False


def test_too_few_known_pixels_cannot_be_told(find, wall):
    metres, seen = wall()
    metres[:60, :100] = np.nan
    assert depth(find, seen(), region=NEAR, max=0.6, min_known=0.4).holds is True
    finding = depth(find, seen(), region=NEAR, max=0.6)
    assert finding.holds is None
    assert "depth known for 40% of region" in finding.evidence
    assert "at least 50% wanted" in finding.evidence


@pytest.mark.parametrize("unknown", [np.nan, np.inf, 0.0])
def test_a_region_without_any_depth_cannot_be_told(find, wall, unknown):
    metres, seen = wall()
    metres[:] = unknown
    assert depth(find, seen(), min=0.0, min_known=0.01).holds is None


def test_colours_have_no_depth_to_tell(find, observe, picture):
    finding = depth(find, observe({"depth": picture()}), max=1)
    assert finding.holds is None
    assert "view 'depth' holds no depth" in finding.evidence


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({}, "`min` or `max` or both are wanted"),
        ({"min": 2, "max": 1}, "min 2.0 is greater than max 1.0"),
        ({"min": -1}, "greater than or equal to 0"),
        ({"max": float("nan")}, "finite"),
        ({"max": 1, "quantile": 2}, "less than or equal to 1"),
        ({"max": 1, "min_known": 0}, "greater than 0"),
    ],
)
def test_parameters_that_ask_for_nothing_are_an_error(parameters, said):
    with pytest.raises(ValidationError, match=said):
        Criterion.model_validate({"success": {"depth": {"view": "depth", **parameters}}})
