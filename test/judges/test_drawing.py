# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is seen on the pictures of judged Observations."""

import numpy as np
import pytest

from harness_ros.contract import Kind, Status, View
from harness_ros.judges import Criterion, Finding, Observed, ViewParameters, check
from harness_ros.judges.checks import CheckError, draws
from harness_ros.judges.checks.marker_pose import AXES
from harness_ros.judges.drawing import Heading, draw, palette, text
from harness_ros.judges.drawing.depth import DepthRange, Mark, colours, draw_scale
from harness_ros.judges.drawing.labels import Label, draw_labels
from harness_ros.judges.drawing.sheet import MARGIN
from harness_ros.judges.explanation import explain

RED = [{"low": [0, 100, 100], "high": [10, 255, 255]}]
LONG = "Dies ist ein überaus langer Satz — mit Wörtern, die nirgends enden: " + "x" * 300


def sheet(criterion, observation, **heading):
    given = {"status": Status.FAILURE, "kind": Kind.JUDGED, "post_condition": "It is.", **heading}
    parsed = None if criterion is None else Criterion.model_validate({"success": criterion})
    return draw(Heading(**given), explain(parsed, Observed(observation)))


def count(pixels, colour):
    return int(np.all(pixels == np.array(colour), axis=2).sum())


def frame(pixels):
    """The edge of a sheet, which nothing may be drawn on."""
    inside = np.zeros(pixels.shape[:2], bool)
    inside[MARGIN:-MARGIN, MARGIN:-MARGIN] = True
    return pixels[~inside]


def colour_check(**parameters):
    return {"colour": {"view": "top", "ranges": RED, "min_fraction": 0.2, **parameters}}


@pytest.fixture
def half_red():
    image = np.full((240, 320, 3), 128, np.uint8)
    image[:, :160] = (200, 0, 0)
    return image


# The sheet


@pytest.mark.parametrize("shape", [(240, 320), (720, 1280), (640, 480), (40, 30), (30, 900)])
@pytest.mark.parametrize("views", [1, 2, 3, 4])
def test_nothing_is_drawn_beyond_the_edge(observe, shape, views):
    image = np.full((*shape, 3), 128, np.uint8)
    names = [f"camera_{number}" for number in range(views)]
    checks = [{"colour": {"view": name, "ranges": RED, "min_fraction": 0.2}} for name in names]
    drawn = sheet(
        {"all": [*checks, {"signal": {"name": "w" * 200, "min": 0}}]},
        observe(dict.fromkeys(names, image)),
        post_condition=LONG,
        reason=LONG,
        title=LONG,
        note=LONG,
    )
    assert drawn.dtype == np.uint8
    assert (frame(drawn) == palette.PAPER).all()
    assert 800 <= drawn.shape[1] < 1700


def test_small_pictures_are_enlarged_and_large_ones_reduced(observe, half_red):
    for image in (half_red, np.full((720, 1280, 3), 90, np.uint8)):
        drawn = sheet(colour_check(), observe({"top": image}))
        assert drawn.shape[1] == 800 + 2 * MARGIN


def test_views_that_no_check_looks_at_are_left_out(observe, half_red):
    one = sheet(colour_check(), observe({"top": half_red}))
    two = sheet(colour_check(), observe({"top": half_red, "other": half_red}))
    np.testing.assert_array_equal(one, two)


def test_without_a_criterion_every_view_is_shown(observe, half_red):
    drawn = sheet(None, observe({"top": half_red, "other": half_red}))
    assert count(drawn, (200, 0, 0)) > 2 * 300 * 400


def test_a_criterion_of_signals_alone_has_no_views(observe, half_red):
    observation = observe({"top": half_red}, {"width": 0.05})
    drawn = sheet({"signal": {"name": "width", "min": 0.01}}, observation)
    assert drawn.shape[0] < 250
    assert count(drawn, palette.GREEN) > 0


@pytest.mark.parametrize(
    ("status", "kind", "verdict", "colour"),
    [
        (Status.SUCCESS, Kind.JUDGED, "SUCCESS", palette.GREEN),
        (Status.FAILURE, Kind.JUDGED, "FAILURE", palette.RED),
        (Status.FAILURE, Kind.INCONCLUSIVE, "FAILURE (inconclusive)", palette.AMBER),
        (Status.PROCESS, Kind.JUDGED, "PROCESS", palette.AMBER),
        (None, Kind.JUDGED, "NOT JUDGED", palette.AMBER),
    ],
)
def test_the_verdict_stands_at_the_head_in_its_colour(observe, status, kind, verdict, colour):
    assert Heading(status, kind, "It is.").verdict == verdict
    drawn = sheet(None, observe(), status=status, kind=kind)
    assert count(drawn[:60], colour) > 50


def test_a_view_that_cannot_be_decoded_has_a_panel_that_says_so(observe, half_red):
    broken = View(
        name="top",
        stamp_ns=1,
        frame_id="top",
        height=240,
        width=320,
        encoding="rgb8",
        step=960,
        is_bigendian=False,
        data=b"12",
        topic="/top/image_raw",
    )
    drawn = sheet(colour_check(), observe({"top": broken}))
    assert count(drawn, (228, 228, 226)) > 100_000
    assert (frame(drawn) == palette.PAPER).all()


# Checks


@pytest.mark.parametrize(
    ("parameters", "colour"),
    [({}, palette.GREEN), ({"min_fraction": 0.9}, palette.RED)],
)
def test_the_region_has_the_colour_of_the_outcome(observe, half_red, parameters, colour):
    check_node = colour_check(region=[0.25, 0.25, 0.75, 0.75], **parameters)
    drawn = sheet(check_node, observe({"top": half_red}))
    outline = np.all(drawn == colour, axis=2)
    _, columns = np.nonzero(outline[100:-80])
    # The picture is 800 pixels wide: the region begins at a quarter of it.
    assert abs(columns.min() - (MARGIN + 200)) <= 2
    assert abs(columns.max() - (MARGIN + 600)) <= 2


def test_a_region_that_cannot_be_told_is_amber(observe):
    grey = np.full((240, 320), 128, np.uint8)
    drawn = sheet(colour_check(), observe({"top": grey}))
    assert count(drawn, palette.AMBER) > 2000


def test_the_pixels_that_count_are_striped_and_no_others(observe, half_red):
    plain = sheet(colour_check(min_fraction=0.9), observe({"top": half_red}))
    none = sheet(
        colour_check(ranges=[{"low": [90, 9, 9], "high": [99, 99, 99]}], min_fraction=0.9),
        observe({"top": half_red}),
    )
    height = min(plain.shape[0], none.shape[0]) - 100
    differs = np.any(plain[100:height] != none[100:height], axis=2)
    striped = differs[:, MARGIN + 40 : MARGIN + 360].mean()
    assert 0.15 < striped < 0.5
    assert differs[:, MARGIN + 440 : MARGIN + 790].mean() < 0.01


def test_a_marker_is_outlined_where_it_is_seen(observe, picture):
    image = picture((3, 160, 120, 80))
    drawn = sheet({"marker": {"view": "top", "id": 3}}, observe({"top": image}))
    _, columns = np.nonzero(np.all(drawn == (0, 205, 255), axis=2))
    scale = 800 / 640
    assert abs(columns.min() - (MARGIN + 120 * scale)) < 5
    assert abs(np.median(columns) - (MARGIN + 160 * scale)) < 60


def test_an_outline_is_the_wanted_one_whatever_another_check_looks_for(observe, picture):
    observation = observe({"top": picture((3, 160, 120, 80), (5, 480, 240, 80))})
    three, five = ({"marker": {"view": "top", "id": number}} for number in (3, 5))
    drawn = sheet({"all": [three, five]}, observation)
    again = sheet({"all": [five, three]}, observation)
    seen = (0, 205, 255)
    assert count(drawn, seen) == count(again, seen) > 1.8 * count(sheet(three, observation), seen)


def test_a_pose_has_axes_in_the_colours_of_rviz(scenes):
    observation = scenes.SCENES["marker_pose"]().observation
    pose = {"view": "front", "id": 3, "size_m": 0.06, "z": {"min": 0}}
    drawn = sheet({"marker_pose": pose}, observation)
    assert min(count(drawn, axis) for axis in AXES) > 20


def test_a_check_of_ones_own_is_drawn_by_its_own_function(observe, half_red):
    class BrightParameters(ViewParameters):
        pass

    @check("bright", BrightParameters)
    def bright(parameters, observed):
        return Finding(holds=True, evidence="bright")

    plain = sheet({"bright": {"view": "top"}}, observe({"top": half_red}))
    assert count(plain, palette.GREEN) > 2000

    @draws("bright")
    def draw_bright(parameters, observed, canvas):
        assert (canvas.view, canvas.number, canvas.holds) == ("top", 1, True)
        canvas.line((0, 0), (319, 239), (1, 2, 3), width=4)

    assert count(sheet({"bright": {"view": "top"}}, observe({"top": half_red})), (1, 2, 3)) > 1000
    with pytest.raises(CheckError, match="drawn already"):
        draws("bright")(draw_bright)


def test_a_drawing_that_fails_says_so_and_ends_nothing(observe, half_red):
    class DimParameters(ViewParameters):
        pass

    @check("dim", DimParameters)
    def dim(parameters, observed):
        return Finding(holds=True, evidence="dim")

    plain = sheet({"dim": {"view": "top"}}, observe({"top": half_red}))

    @draws("dim")
    def draw_dim(parameters, observed, canvas):
        raise ZeroDivisionError("division by zero")

    drawn = sheet({"dim": {"view": "top"}}, observe({"top": half_red}))
    assert drawn.shape == plain.shape
    assert np.any(drawn != plain)


# Depth


def test_depth_is_coloured_from_near_to_far_and_unknown_is_grey():
    depth = np.array([[0.5, 1.0, 1.5, np.nan]], np.float32)
    near, middle, far, unknown = colours(depth, DepthRange(0.5, 1.5))[0].astype(int)
    assert near[0] > near[2]
    assert middle[1] == max(middle)
    assert far[2] > far[0]
    assert np.ptp(unknown) <= 6


def test_a_few_wild_pixels_do_not_widen_the_scale():
    depth = np.random.default_rng(0).uniform(0.5, 1.0, (100, 100)).astype(np.float32)
    depth[0, :20] = 60.0
    near, far = DepthRange.of(depth)
    assert 0.49 < near < 0.52
    assert 0.98 < far < 1.0


@pytest.mark.parametrize("depth", [np.nan, 0.7])
def test_depth_that_is_nowhere_or_everywhere_the_same_has_a_scale(depth):
    image = np.full((10, 10), depth, np.float32)
    scale = DepthRange.of(image)
    assert scale.near < scale.far
    assert colours(image, scale).shape == (10, 10, 3)


def test_the_mark_lies_on_the_scale_where_the_value_is():
    scale = DepthRange(1.0, 2.0)

    def place(value):
        strip = draw_scale(scale, [Mark(1, True, value, 1.2, None)], 600)
        # Without the number at the left and the value in words at the right.
        left = text.width_of("0", 13, bold=True) + 2
        right = 600 - text.width_of("00.000 m", 13, bold=True) - 1
        dots = np.all(strip[:, left:right] == palette.GREEN, axis=2)
        return np.nonzero(dots)[1].mean()

    first, middle, last = place(1.0), place(1.5), place(2.0)
    assert middle == pytest.approx((first + last) / 2, abs=1.5)
    assert last - first > 400
    assert place(7.0) == pytest.approx(last, abs=1)


# Words


def test_lines_are_no_wider_than_asked_for_and_lose_no_word():
    for width in (120, 300, 800):
        lines = text.wrap(LONG, width, 16)
        assert max(text.width_of(line, 16) for line in lines) <= width
        assert "".join(lines).replace(" ", "") == text.plain(LONG).replace(" ", "")


def test_letters_that_the_font_lacks_are_replaced():
    assert text.plain("Würfel → 30° ≥ é\n  日") == "Wurfel -> 30 deg >= e ?"


def test_words_are_cut_off_at_the_edge_of_a_picture():
    pixels = np.full((20, 40, 3), 250, np.uint8)
    for at in ((-30, -5), (30, 10), (100, 100), (-500, 0)):
        text.put(pixels, "words", at, (0, 0, 0), 16)
    assert (pixels < 250).any()


def test_labels_of_one_place_do_not_cover_each_other():
    pixels = np.zeros((480, 640, 3), np.uint8)
    labels = [Label(f"marker {number}", 320, 240, palette.RED) for number in range(12)]
    boxes = draw_labels(pixels, labels)
    shared = [a.shared(b) for n, a in enumerate(boxes) for b in boxes[n + 1 :]]
    assert max(shared) == 0


@pytest.mark.parametrize("place", [(0, 0), (639, 0), (0, 479), (639, 479), (-50, 900)])
def test_labels_stay_inside_of_the_picture(place):
    pixels = np.zeros((480, 640, 3), np.uint8)
    for box in draw_labels(pixels, [Label("x" * 300, *place, palette.RED)]):
        assert box.left >= 0 and box.top >= 0
        assert box.right <= 640 and box.bottom <= 480
