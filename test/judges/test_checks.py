# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What each check says of images with known content and of signals with known values."""

import cv2
import numpy as np
import pytest

from harness_ros.judges.checks import CHECKS, Observed, Rectangle
from harness_ros.judges.checks.marker import DICTIONARY_SIZES
from harness_ros.judges.markers import Marker
from harness_ros.judges.markers import _each_once as each_once

LEFT, RIGHT = [0, 0, 0.5, 1], [0.5, 0, 1, 1]


def find(name, observation, /, **parameters):
    registered = CHECKS[name]
    return registered.function(registered.parameters(**parameters), Observed(observation))


def marker(observation, **parameters):
    return find("marker", observation, **{"view": "front", "id": 3, **parameters})


def test_marker_inside_the_region_holds_and_says_where(observe, picture):
    finding = marker(observe({"front": picture((3, 160, 120, 60))}), region=LEFT)
    assert finding.holds is True
    assert finding.evidence == (
        "marker 3 seen in front at (0.25, 0.25), inside [0.00, 0.00, 0.50, 1.00]"
    )


def test_marker_outside_the_region_does_not_hold(observe, picture):
    finding = marker(observe({"front": picture((3, 160, 120, 60))}), region=RIGHT)
    assert finding.holds is False
    assert "(0.25, 0.25), outside [0.50, 0.00, 1.00, 1.00]" in finding.evidence


def test_the_centre_of_a_marker_counts_not_its_corners(observe, picture):
    observation = observe({"front": picture((3, 310, 240, 80))})
    assert marker(observation, region=LEFT).holds is True
    assert marker(observation, region=RIGHT).holds is False


def test_another_marker_is_not_the_wanted_one(observe, picture):
    observation = observe({"front": picture((4, 160, 120, 60))})
    assert marker(observation).holds is None
    assert marker(observation, unseen="does_not_hold").holds is False
    assert marker(observation, id=4).holds is True


def test_a_marker_of_another_dictionary_is_not_the_wanted_one(observe, picture):
    observation = observe({"front": picture((3, 160, 120, 60), dictionary="DICT_4X4_50")})
    assert marker(observation).holds is None
    assert marker(observation, dictionary="DICT_4X4_50").holds is True


def test_two_copies_inside_and_outside_cannot_be_told(observe, picture):
    observation = observe({"front": picture((3, 160, 120, 60), (3, 480, 360, 60))})
    finding = marker(observation, region=LEFT)
    assert finding.holds is None
    assert "(0.25, 0.25), (0.75, 0.75)" in finding.evidence


def test_a_large_marker_on_white_paper_is_found(observe, picture):
    for side in (80, 120, 200):
        assert marker(observe({"front": picture((3, 320, 240, side))})).holds is True


def test_a_marker_has_one_place_however_many_outlines_it_has():
    first, second = Marker(3, 0.5, 0.5, 60.0), Marker(3, 0.51, 0.5, 58.0)
    other, copy = Marker(4, 0.5, 0.5, 60.0), Marker(3, 0.6, 0.5, 60.0)
    assert each_once([second, other, first, copy], 640, 480) == [first, copy, other]


@pytest.mark.parametrize("shape", [(480, 640), (1080, 1920), (2160, 3840)])
@pytest.mark.parametrize("side", [25, 26, 32, 60])
def test_small_markers_are_found_in_small_and_large_images(observe, picture, shape, side):
    image = picture((3, 160, 120, side), (7, 400, 300, side), shape=shape)
    finding = marker(observe({"front": image}), id=7)
    assert finding.holds is True


@pytest.mark.parametrize(
    ("side", "angle"),
    # The first three are found in the enlarged image alone.
    [(22, 60), (26, 45), (27, 60), *((30, angle) for angle in range(0, 90, 15))],
)
def test_a_turned_and_blurred_small_marker_is_found(observe, picture, side, angle):
    turn = cv2.getRotationMatrix2D((320, 240), angle, 1)
    image = cv2.warpAffine(picture((3, 320, 240, side)), turn, (640, 480), borderValue=(200,) * 3)
    finding = marker(observe({"front": cv2.GaussianBlur(image, (3, 3), 0)}))
    assert finding.holds is True
    assert "at (0.50, 0.50)" in finding.evidence


def test_a_marker_that_is_too_small_to_count_cannot_be_told(observe, picture):
    observation = observe({"front": picture((3, 160, 120, 30))})
    assert marker(observation, min_size_px=28).holds is True
    finding = marker(observation, min_size_px=40, unseen="does_not_hold")
    assert finding.holds is None
    assert "at least 40 wanted" in finding.evidence


def test_a_marker_is_found_in_a_grey_image_and_not_looked_for_in_depth(observe, picture):
    grey = np.ascontiguousarray(picture((3, 160, 120, 60))[:, :, 0])
    assert marker(observe({"front": grey})).holds is True
    with pytest.raises(Exception, match="depth"):
        marker(observe({"front": grey.astype(np.float32)}))


def test_markers_are_looked_for_once_a_view_and_dictionary(observe, picture, monkeypatch):
    from harness_ros.judges import markers

    searched = []
    search = markers.find_markers
    monkeypatch.setattr(
        markers, "find_markers", lambda *given: searched.append(given[1:]) or search(*given)
    )
    observed = Observed(observe({"front": picture((3, 160, 120, 60), (4, 480, 120, 60))}))
    registered = CHECKS["marker"]
    for number in (3, 4, 3):
        parameters = registered.parameters(view="front", id=number)
        assert registered.function(parameters, observed).holds is True
    assert searched == [("DICT_APRILTAG_36h11", 1)]


def test_sizes_of_the_dictionaries_are_those_of_opencv():
    aruco = cv2.aruco
    get = getattr(aruco, "getPredefinedDictionary", None) or aruco.Dictionary_get
    sizes = {name: get(getattr(aruco, name)).bytesList.shape[0] for name in DICTIONARY_SIZES}
    assert sizes == DICTIONARY_SIZES


def colour(observation, **parameters):
    red = [{"low": [0, 100, 100], "high": [10, 255, 255]}]
    given = {"view": "top", "ranges": red, "min_fraction": 0.05, **parameters}
    return find("colour", observation, **given)


def painted(rgb, rows, columns):
    image = np.full((100, 200, 3), 128, np.uint8)
    image[rows, columns] = rgb
    return image


def test_colour_is_the_fraction_of_the_region(observe):
    observation = observe({"top": painted((255, 0, 0), slice(0, 50), slice(0, 40))})
    finding = colour(observation, region=[0, 0, 0.5, 1])
    assert finding.holds is True
    assert finding.evidence == (
        "colour covers 0.2 of region [0.00, 0.00, 0.50, 1.00] in top, at least 0.05 wanted"
    )
    assert colour(observation, region=[0.5, 0, 1, 1]).holds is False


def test_colour_has_inclusive_bounds(observe):
    observation = observe({"top": painted((255, 0, 0), slice(0, 50), slice(0, 40))})
    assert colour(observation, min_fraction=0.1).holds is True
    assert colour(observation, min_fraction=0.101).holds is False
    assert colour(observation, max_fraction=0.1).holds is True
    assert colour(observation, max_fraction=0.099).holds is False


def test_red_and_blue_are_not_confused(observe):
    observation = observe({"top": painted((0, 0, 255), slice(0, 50), slice(0, 40))})
    assert colour(observation).holds is False
    blue = [{"low": [110, 100, 100], "high": [130, 255, 255]}]
    assert colour(observation, ranges=blue).holds is True


def test_ranges_add_up_for_a_hue_that_wraps(observe):
    image = painted((255, 0, 0), slice(0, 50), slice(0, 10))
    image[50:, :10] = (255, 0, 20)
    observation = observe({"top": image})
    low, high = ({"low": [h, 9, 9], "high": [k, 255, 255]} for h, k in ((0, 9), (170, 180)))
    assert "covers 0.025 of" in colour(observation, ranges=[low]).evidence
    assert "covers 0.025 of" in colour(observation, ranges=[high]).evidence
    assert "covers 0.05 of" in colour(observation, ranges=[low, high], max_fraction=1).evidence


def test_the_smallest_region_still_has_a_pixel(observe):
    image = painted((255, 0, 0), slice(99, 100), slice(199, 200))
    finding = colour(observe({"top": image}), region=[0.9999, 0.9999, 1, 1])
    assert "covers 1 of" in finding.evidence


def test_a_region_that_ends_between_two_pixels_has_no_part_of_the_next():
    # 0.29 * 100 is a little less than 29, and 0.07 * 100 a little more than 7.
    pixels = np.arange(100)[None, :]
    assert Rectangle(0.29, 0, 1, 1).crop(pixels)[0, 0] == 29
    assert Rectangle(0, 0, 0.07, 1).crop(pixels)[0, -1] == 6
    assert Rectangle(0.295, 0, 0.705, 1).crop(pixels)[0, [0, -1]].tolist() == [29, 70]


def test_grey_has_no_colour_to_tell(observe):
    with pytest.raises(Exception, match="'top' has no colour"):
        colour(observe({"top": np.zeros((4, 4), np.uint8)}))


@pytest.mark.parametrize(
    ("value", "bounds", "holds", "evidence"),
    [
        (0.0498, {"min": 0.03, "max": 0.06}, True, "width 0.0498 m, within [0.03, 0.06]"),
        (0.03, {"min": 0.03}, True, "width 0.03 m, at least 0.03"),
        (0.06, {"max": 0.06}, True, "width 0.06 m, at most 0.06"),
        (0.0299, {"min": 0.03, "max": 0.06}, False, "width 0.0299 m, below 0.03"),
        (0.0601, {"max": 0.06}, False, "width 0.0601 m, above 0.06"),
        (float("nan"), {"min": 0.0}, None, "width nan m, which is no measurement"),
        (float("inf"), {"min": 0.0}, None, "width inf m, which is no measurement"),
        (float("-inf"), {"min": 0.0}, None, "width -inf m, which is no measurement"),
    ],
)
def test_signal_lies_within_its_bounds(observe, value, bounds, holds, evidence):
    finding = find("signal", observe(signals={"width": value}), name="width", **bounds)
    assert (finding.holds, finding.evidence) == (holds, evidence)
