# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the check `marker_pose` says of rendered markers whose poses are known."""

import cv2
import numpy as np
import pytest
from pydantic import ValidationError

from harness_ros.contract import Calibration
from harness_ros.judges import Criterion
from harness_ros.judges.corners import refined_corners
from harness_ros.judges.markers import find_markers
from harness_ros.judges.pose import CalibrationError, Lens, marker_poses

K = (600.0, 0.0, 319.5, 0.0, 600.0, 239.5, 0.0, 0.0, 1.0)
PINHOLE = Calibration(width=640, height=480, k=K)
LENSES = {
    "pinhole": PINHOLE,
    "plumb_bob": PINHOLE.model_copy(update={"d": (-0.28, 0.09, 0.0008, -0.0005, -0.01)}),
    "rational_polynomial": PINHOLE.model_copy(
        update={
            "d": (0.4, -0.1, 0.0004, 0.0003, -0.02, 0.72, -0.07, -0.03),
            "distortion_model": "rational_polynomial",
        }
    ),
    "equidistant": PINHOLE.model_copy(
        update={"d": (-0.04, 0.012, -0.008, 0.002), "distortion_model": "equidistant"}
    ),
}
SIZE_M = 0.05


@pytest.fixture
def seen(scenes):
    """seen((id, size, rotation, place), ...) -> grey image (480, 640), slightly blurred, noisy."""

    def draw(*markers, noise=3.0, calibration=PINHOLE):
        image = np.full((480, 640), 185, np.uint8)
        for number, size, turned, place in markers:
            image = scenes.put_marker(image, number, turned, np.array(place), size, PINHOLE)
        image = cv2.GaussianBlur(_through_the_lens(image, calibration), (0, 0), 0.7)
        grain = np.random.default_rng(7).normal(0, noise, image.shape)
        return np.clip(image + grain, 0, 255).astype(np.uint8)

    return draw


def _through_the_lens(image, calibration):
    """An image without distortion as a lens would show it."""
    if not calibration.d:
        return image
    height, width = image.shape
    columns, rows = np.meshgrid(np.arange(width), np.arange(height))
    pixels = np.stack([columns, rows], axis=2).reshape(-1, 2).astype(np.float64)
    straight = Lens(calibration).straightened(pixels).reshape(height, width, 2).astype(np.float32)
    return cv2.remap(image, straight, None, cv2.INTER_CUBIC, borderValue=185)


@pytest.fixture
def look(scenes, find):
    """look(image, **parameters) -> what the check finds for marker 3 in it."""

    def check(image, calibration=PINHOLE, **parameters):
        observation = scenes.observation(scenes.view("front", image, calibration))
        given = {"view": "front", "id": 3, "size_m": SIZE_M, **parameters}
        return find("marker_pose", observation, **given)

    return check


def around(place, within=0.002):
    """Bounds of x, y and z around a place."""
    names = zip("xyz", place, strict=True)
    return {name: {"min": value - within, "max": value + within} for name, value in names}


# How exact


@pytest.mark.parametrize(("distance", "within"), [(0.3, 0.001), (0.6, 0.003), (0.9, 0.009)])
@pytest.mark.parametrize(
    ("tilt", "about", "turn"), [(0, 0, 0), (20, 90, 45), (40, 200, -100), (60, 30, 170)]
)
def test_a_rendered_marker_is_found_where_it_is(scenes, seen, distance, within, tilt, about, turn):
    rotation = scenes.rotation(tilt, about, turn)
    place = np.array([0.12 * distance, -0.09 * distance, distance])
    image = seen((3, SIZE_M, rotation, place))
    (marker,) = find_markers(image, scenes.APRILTAG)
    corners = refined_corners(image, marker)
    pose, *_ = marker_poses(corners, SIZE_M, Lens(PINHOLE))
    assert np.linalg.norm(pose.translation - place) < within
    normal = np.degrees(np.arccos(np.clip(pose.rotation[:, 2] @ rotation[:, 2], -1, 1)))
    # The corners of a marker that faces the camera hardly move when it is tilted a little.
    assert normal < (12.0 if tilt == 0 else 1.5)


def test_corners_are_found_to_a_small_part_of_a_pixel(scenes, seen):
    rotation, place = scenes.rotation(30, 70, 20), np.array([0.02, 0.03, 0.4])
    image = seen((3, SIZE_M, rotation, place))
    (marker,) = find_markers(image, scenes.APRILTAG)
    half = SIZE_M / 2
    square = np.array([(-half, half, 0), (half, half, 0), (half, -half, 0), (-half, -half, 0)])
    true = scenes.project(square @ rotation.T + place, PINHOLE)
    assert np.linalg.norm(np.array(marker.corners) - true, axis=1).mean() > 0.3
    assert np.linalg.norm(refined_corners(image, marker) - true, axis=1).max() < 0.08


@pytest.mark.parametrize("lens", list(LENSES))
def test_each_distortion_model_is_taken_into_account(scenes, seen, look, lens):
    place = (0.14, 0.1, 0.45)
    image = seen((3, SIZE_M, scenes.rotation(25, 40, 10), place), calibration=LENSES[lens])
    finding = look(image, LENSES[lens], **around(place))
    assert finding.holds is True, finding.evidence
    if lens != "pinhole":
        assert look(image, PINHOLE, **around(place)).holds is False


def test_a_compressed_and_noisy_picture_is_measured_to_millimetres(scenes, seen, look):
    place = (0.05, -0.04, 0.5)
    image = seen((3, SIZE_M, scenes.rotation(35, 120, 60), place), noise=6)
    jpeg = cv2.imdecode(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 80])[1], 0)
    assert look(jpeg, **around(place)).holds is True


# What is wanted


def test_a_place_is_told_from_another_half_a_centimetre_away(scenes, seen, look):
    place = (0.05, -0.04, 0.5)
    image = seen((3, SIZE_M, scenes.rotation(20, 0, 0), place))
    assert look(image, **around(place)).holds is True
    for axis in range(3):
        other = [value + 0.005 * (number == axis) for number, value in enumerate(place)]
        finding = look(image, **around(other))
        assert finding.holds is False
        assert finding.evidence.count("does not hold") == 1


def test_evidence_says_what_was_measured_and_what_was_wanted(scenes, seen, look):
    image = seen((3, SIZE_M, scenes.rotation(30.3, 90, 0), (0.05, -0.04, 0.4)))
    finding = look(image, z={"max": 0.3}, max_tilt_deg=45)
    assert finding.holds is False
    assert finding.evidence.startswith("marker 3 in front at (0.050, -0.040, 0.400) m, tilt 30.")
    assert finding.evidence.endswith("wanted z at most 0.3 m (does not hold), tilt at most 45 deg")


def test_near_a_point_is_a_ball(scenes, seen, look):
    image = seen((3, SIZE_M, scenes.rotation(20, 0, 0), (0.05, -0.04, 0.5)))
    assert look(image, near={"point": [0.05, -0.04, 0.47], "within_m": 0.035}).holds is True
    finding = look(image, near={"point": [0.05, -0.04, 0.45], "within_m": 0.035})
    assert finding.holds is False
    assert "0.035 m at most from (0.05, -0.04, 0.45), it is 0.050 m" in finding.evidence


@pytest.mark.parametrize("tilt", [15, 40, 60])
def test_tilt_is_the_angle_to_the_camera_without_a_reference(scenes, seen, look, tilt):
    image = seen((3, SIZE_M, scenes.rotation(tilt, 130, 75), (0.0, 0.0, 0.35)))
    assert look(image, max_tilt_deg=tilt + 3).holds is True
    assert look(image, max_tilt_deg=tilt - 3).holds is False


@pytest.mark.parametrize("turn", [0, 30, 90, 179, -120])
def test_turn_is_counterclockwise_as_the_camera_sees_it(scenes, seen, look, turn):
    image = seen((3, SIZE_M, scenes.rotation(0, 0, turn), (0.0, 0.0, 0.35)))
    assert look(image, turn={"to_deg": turn, "within_deg": 3}).holds is True
    assert look(image, turn={"to_deg": turn + 360, "within_deg": 3}).holds is True
    assert look(image, turn={"to_deg": turn + 10, "within_deg": 3}).holds is False
    assert look(image, turn={"to_deg": -turn - 10, "within_deg": 3}).holds is False


def test_the_turn_of_a_marker_seen_from_its_edge_cannot_be_told(scenes, seen, look):
    # The reference stands upright on the table, on which the marker lies.
    table, wall = scenes.rotation(-50, 0, 0), scenes.rotation(40, 0, 0)
    image = seen((3, SIZE_M, table, (0.06, 0.05, 0.4)), (0, SIZE_M, wall, (-0.06, 0.0, 0.4)))
    reference = {"id": 0, "size_m": SIZE_M}
    finding = look(image, relative_to=reference, turn={"to_deg": 0, "within_deg": 90})
    assert finding.holds is None
    assert "turn 0 deg within 90 deg (cannot be told)" in finding.evidence


def test_a_frame_of_reference_does_not_depend_on_where_the_camera_stands(scenes, seen, look):
    offset, reference = np.array([0.11, 0.05, 0.03]), {"id": 0, "size_m": 0.08}
    for tilt, about, place in ((35, 10, (-0.06, 0.02, 0.4)), (-45, 60, (-0.02, 0.0, 0.5))):
        table = scenes.rotation(tilt, about, 15)
        turned = table @ cv2.Rodrigues(np.radians([0.0, 0.0, 40.0]))[0]
        image = seen((0, 0.08, table, place), (3, SIZE_M, turned, table @ offset + np.array(place)))
        wanted = {**around(offset), "max_tilt_deg": 3, "turn": {"to_deg": 40, "within_deg": 2}}
        finding = look(image, relative_to=reference, **wanted)
        assert finding.holds is True, finding.evidence
        assert "relative to marker 0, at (0.1" in finding.evidence


def test_markers_outside_of_the_region_do_not_count(scenes, seen, look):
    image = seen((3, SIZE_M, scenes.rotation(20, 0, 0), (-0.1, 0.0, 0.5)))
    assert look(image, z={"min": 0.4}, region=[0, 0, 0.5, 1]).holds is True
    assert look(image, z={"min": 0.4}, region=[0.5, 0, 1, 1]).holds is None


# What cannot be told


def test_two_poses_that_differ_in_the_outcome_cannot_be_told(scenes, seen, look):
    # Both lie on a table that the camera looks down on; only the reference is large enough.
    table = scenes.rotation(-35, 0, 0)
    image = seen((0, 0.4, table, (-0.3, 0.0, 1.6)), (3, SIZE_M, table, (0.1, 0.0, 1.6)), noise=1)
    reference = {"id": 0, "size_m": 0.4}
    finding = look(image, relative_to=reference, max_tilt_deg=20)
    assert finding.holds is None
    assert "has two possible poses, (" in finding.evidence
    assert finding.evidence.count(" px)") == 2
    assert "tilt at most 20 deg (does not hold)" in finding.evidence


def test_two_poses_that_agree_in_the_outcome_are_told(scenes, seen, look):
    table = scenes.rotation(-35, 0, 0)
    image = seen((3, SIZE_M, table, (0.1, 0.0, 1.6)), noise=1)
    assert look(image, z={"min": 1.5, "max": 1.7}).holds is True
    assert look(image, near={"point": [0.1, 0, 1.5], "within_m": 0.05}).holds is False


def test_a_near_marker_has_one_pose(scenes, seen, look):
    table = scenes.rotation(-35, 0, 0)
    image = seen((0, 0.08, table, (-0.08, 0.0, 0.4)), (3, SIZE_M, table, (0.04, 0.0, 0.4)))
    assert look(image, relative_to={"id": 0, "size_m": 0.08}, max_tilt_deg=3).holds is True


def test_corners_that_no_square_has_cannot_be_told(scenes, seen, look):
    image = seen((3, SIZE_M, scenes.rotation(0), (0.0, 0.0, 0.12)))
    squeezed = np.full_like(image, 185)
    squeezed[120:360] = cv2.resize(image, (640, 240), interpolation=cv2.INTER_AREA)
    finding = look(squeezed, z={"min": 0})
    assert finding.holds is None
    assert "no pose explains the corners of marker 3 in front" in finding.evidence
    assert "px off, at most 1 px is wanted" in finding.evidence
    assert look(squeezed, z={"min": 0}, max_error_px=50).holds is True


def test_a_view_without_calibration_cannot_be_told(scenes, seen, look):
    image = seen((3, SIZE_M, scenes.rotation(0), (0, 0, 0.4)))
    finding = look(image, None, z={"min": 0})
    assert finding.holds is None
    assert "view 'front' (/camera/front/image_raw) has no calibration" in finding.evidence


def test_a_calibration_for_another_size_cannot_be_told(scenes, seen, look):
    image = seen((3, SIZE_M, scenes.rotation(0), (0, 0, 0.4)))
    half = PINHOLE.model_copy(update={"width": 320, "height": 240})
    finding = look(image, half, z={"min": 0})
    assert finding.holds is None
    assert "is for images of 320x240, this one has 640x480" in finding.evidence


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"distortion_model": "fov"}, "distortion model 'fov' is not known, known are plumb_bob"),
        ({"d": (0.1, 0.2)}, "'plumb_bob' has 2 coefficients"),
        ({"k": (0.0, *K[1:])}, "the camera is not calibrated"),
        ({"k": (float("nan"), *K[1:])}, "the camera is not calibrated"),
    ],
)
def test_a_calibration_that_cannot_be_used_is_named(scenes, seen, look, changes, said):
    broken = PINHOLE.model_copy(update=changes)
    with pytest.raises(CalibrationError, match=said):
        Lens(broken)
    finding = look(seen((3, SIZE_M, scenes.rotation(0), (0, 0, 0.4))), broken, z={"min": 0})
    assert finding.holds is None
    assert said in finding.evidence


def test_an_unseen_marker_is_what_the_parameters_say(scenes, seen, look):
    image = seen((4, SIZE_M, scenes.rotation(0), (0, 0, 0.4)))
    assert look(image, z={"min": 0}).holds is None
    assert look(image, z={"min": 0}, unseen="does_not_hold").holds is False


def test_without_its_reference_a_marker_cannot_be_told(scenes, seen, look):
    image = seen((3, SIZE_M, scenes.rotation(0), (0, 0, 0.4)))
    finding = look(image, z={"min": 0}, relative_to={"id": 0, "size_m": 0.08})
    assert finding.holds is None
    assert "marker 0 of relative_to not seen in front" in finding.evidence


def test_copies_of_a_marker_cannot_be_told(scenes, seen, look):
    facing = scenes.rotation(0)
    image = seen((3, SIZE_M, facing, (-0.06, 0, 0.4)), (3, SIZE_M, facing, (0.06, 0, 0.4)))
    finding = look(image, z={"min": 0})
    assert finding.holds is None
    assert "seen 2 times in front" in finding.evidence
    assert look(image, z={"min": 0}, region=[0, 0, 0.5, 1]).holds is True


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({}, "one of `x`, `y`, `z`, `near`, `max_tilt_deg`, `turn` is wanted"),
        ({"x": {}}, "`min` or `max` or both are wanted"),
        ({"x": {"min": 1, "max": 0}}, "min 1.0 is greater than max 0.0"),
        ({"max_tilt_deg": 0}, "greater than 0"),
        ({"turn": {"to_deg": 0}}, "Field required"),
        ({"near": {"point": [0, 0], "within_m": 1}}, "Field required"),
        ({"z": {"min": 0}, "size_m": 0}, "greater than 0"),
        ({"z": {"min": 0}, "id": 587}, "id 587 is not in DICT_APRILTAG_36h11"),
        ({"z": {"min": 0}, "relative_to": {"id": 3, "size_m": 1}}, "has the id 3 of the marker"),
        ({"z": {"min": 0}, "relative_to": {"id": 900, "size_m": 1}}, "id 900 is not in"),
    ],
)
def test_parameters_that_cannot_be_meant_are_an_error(parameters, said):
    given = {"view": "front", "id": 3, "size_m": SIZE_M, **parameters}
    with pytest.raises(ValidationError, match=said):
        Criterion.model_validate({"success": {"marker_pose": given}})


def test_a_reference_may_have_the_same_id_in_another_dictionary():
    reference = {"id": 3, "size_m": 0.1, "dictionary": "DICT_4X4_50"}
    given = {"view": "front", "id": 3, "size_m": SIZE_M, "z": {"min": 0}, "relative_to": reference}
    Criterion.model_validate({"success": {"marker_pose": given}})
