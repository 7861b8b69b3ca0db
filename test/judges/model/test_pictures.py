# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the pictures look like that a model is shown."""

import cv2
import numpy as np
import pytest

from harness_ros.capture.images import ImageError
from harness_ros.contract import View
from harness_ros.judges.model import depth_picture
from harness_ros.judges.model.pictures import LEAST_CROP_PX, draw
from harness_ros.judges.model.settings import ModelSettings

YOUNGEST = 5_000_000_000


def settings(**given):
    return ModelSettings(type="model", model="any", **given)


@pytest.fixture
def show(observe):
    """show({view: array}, {view: region}, **settings) -> pictures."""

    def shown(images, regions=None, **given):
        return draw(observe(images).views, regions or {}, 1, settings(**given))

    return shown


def pixels(picture):
    """RGB (H, W, 3)."""
    bgr = cv2.imdecode(np.frombuffer(picture.jpeg, np.uint8), cv2.IMREAD_COLOR)
    return cv2.cvtColor(bgr, cv2.COLOR_BGR2RGB)


def close(found, wanted, tolerance=12):
    return np.abs(np.asarray(found, int) - np.array(wanted)).max() <= tolerance


@pytest.fixture
def halves():
    """Left half red, right half blue, 200x100."""
    image = np.zeros((100, 200, 3), np.uint8)
    image[:, :100], image[:, 100:] = (220, 0, 0), (0, 0, 220)
    return image


# Colour and size


def test_colours_and_size_are_those_of_the_view(show, halves):
    (picture,) = show({"front": halves})
    assert pixels(picture).shape == (100, 200, 3)
    assert close(pixels(picture)[50, 20], (220, 0, 0))
    assert close(pixels(picture)[50, 180], (0, 0, 220))
    assert "200x100 pixels." in picture.caption


@pytest.mark.parametrize("shape", [(720, 1280), (1080, 1920), (3000, 40), (1, 20000), (64, 64)])
@pytest.mark.parametrize("budget", [4096, 100_000, 921_600])
def test_no_picture_has_more_pixels_than_the_budget_and_each_keeps_its_shape(show, shape, budget):
    (picture,) = show({"front": np.full(shape, 90, np.uint8)}, pixel_budget=budget)
    height, width = pixels(picture).shape[:2]
    assert height * width <= budget
    assert (height, width) == shape or height * width > 0.8 * budget or max(shape) > 8192
    assert width / height == pytest.approx(shape[1] / shape[0], rel=0.1) or min(shape) < 50
    assert (f"scaled to {width}x{height}" in picture.caption) == ((height, width) != shape)


def test_default_budget_shows_1280x720_as_it_is(show):
    (picture,) = show({"front": np.zeros((720, 1280, 3), np.uint8)})
    assert pixels(picture).shape == (720, 1280, 3)


def test_a_picture_of_grey_is_grey(show):
    (picture,) = show({"front": np.full((40, 60), 77, np.uint8)})
    assert close(pixels(picture), 77, 3)


@pytest.mark.parametrize("factor", [1.1, 1.7, 2.5, 6])
def test_scaling_down_keeps_the_mean_of_fine_stripes(show, factor):
    image = np.zeros((360, 480), np.uint8)
    image[::2] = 200
    (picture,) = show({"front": image}, pixel_budget=int(360 * 480 / factor**2))
    assert abs(pixels(picture).mean() - 100) < 8


def test_better_quality_is_a_larger_file(show):
    noise = np.random.default_rng(0).integers(0, 255, (120, 160, 3), np.uint8)
    sizes = [len(show({"f": noise}, jpeg_quality=quality)[0].jpeg) for quality in (40, 70, 95)]
    assert sizes == sorted(set(sizes))


# Order, names and stamps


def test_views_come_in_their_order_numbered_and_named(show, halves):
    captions = [item.caption for item in show({"wrist": halves, "front": halves})]
    assert captions[0].startswith('Picture 1: view "wrist", taken with the youngest view, ')
    assert captions[1].startswith('Picture 2: view "front", taken with the youngest view, ')


def test_stamp_is_told_from_the_youngest_view(observe, halves):
    (view,) = observe({"front": halves}).views
    older = view.model_copy(update={"stamp_ns": YOUNGEST - 33_400_000})
    (picture,) = draw([older], {}, YOUNGEST, settings())
    assert "taken 0.033 s before the youngest view" in picture.caption


# Crops


def test_crop_follows_its_view_and_shows_the_region_at_its_own_resolution(show, halves):
    halves[40:60, 140:160] = (0, 220, 0)
    image = cv2.resize(halves, (2000, 1000), interpolation=cv2.INTER_NEAREST)
    whole, crop, other = show(
        {"front": image, "top": halves}, {"front": (0.7, 0.4, 0.8, 0.6)}, pixel_budget=200_000
    )
    assert pixels(whole).shape[1] < 700
    # 200x200 pixels of the region, and a tenth more on each side.
    assert pixels(crop).shape == (240, 240, 3)
    assert close(pixels(crop)[120, 120], (0, 220, 0))
    assert close(pixels(crop)[4, 4], (0, 0, 220))
    assert crop.caption == (
        'Picture 2: crop of picture 1 (view "front"), the part in which the outcome is to be seen, '
        "69 % to 81 % of its width and 38 % to 62 % of its height, 240x240 pixels."
    )
    assert other.caption.startswith('Picture 3: view "top"')


def test_nothing_is_drawn_over_a_view_that_has_an_outcome_region(show, halves):
    (plain,) = show({"front": halves})
    whole, _ = show({"front": halves}, {"front": (0.1, 0.1, 0.5, 0.5)})
    assert whole.jpeg == plain.jpeg


def test_region_of_a_few_pixels_is_shown_with_what_is_around_it(show, halves):
    _, crop = show({"front": halves}, {"front": (0.5, 0.5, 0.505, 0.51)})
    assert pixels(crop).shape[:2] == (LEAST_CROP_PX + 1, LEAST_CROP_PX + 1)


def test_crop_of_the_whole_view_is_not_sent_again(show, halves):
    assert len(show({"front": halves}, {"front": (0.0, 0.02, 1.0, 1.0)})) == 1


@pytest.mark.parametrize(
    "region",
    [(0.5, 0, 0.5, 1), (0.6, 0, 0.5, 1), (-0.1, 0, 1, 1), (0, 0, 1.1, 1), (0, 0, float("nan"), 1)],
)
def test_region_that_is_none_is_an_error_that_names_it(show, halves, region):
    with pytest.raises(ImageError, match="outcome region is"):
        show({"front": halves}, {"front": region})


# Depth


def ramp(width=400, height=240, near=0.4, far=1.2):
    return np.tile(np.linspace(near, far, width, dtype=np.float32), (height, 1))


def test_near_is_red_far_is_violet_and_unknown_is_grey(show):
    depth = ramp()
    depth[100:140, 140:180] = np.nan
    (picture,) = show({"front": depth}, jpeg_quality=95)
    shown = pixels(picture)
    assert shown[20, 5].argmax() == 0
    assert shown[20, 390].argmax() != 0
    assert shown[20, 390].max() < 140
    unknown = shown[105:135, 145:175].astype(int)
    assert (unknown.max(axis=2) - unknown.min(axis=2)).max() < 40


def test_caption_of_depth_says_how_near_and_far_its_colours_are(show):
    depth = ramp()
    depth[:60] = np.nan
    (picture,) = show({"front": depth})
    assert "depth as colours (turbo)" in picture.caption
    assert "near (0.408 m)" in picture.caption
    assert "far (1.192 m)" in picture.caption
    assert "grey with stripes is unknown, 25 % of it" in picture.caption


def test_scale_in_metres_stands_below_the_depth(show):
    (picture,) = show({"front": ramp()})
    shown = pixels(picture)
    assert shown.shape == (240 + depth_picture.SCALE_HEIGHT, 400, 3)
    # The bar has the colours of the ramp above it.
    bar = shown[240 + 4 + 6]
    coloured = np.flatnonzero(bar.astype(int).max(axis=1) - bar.min(axis=1) > 60)
    assert bar[coloured[0]].argmax() == 0
    assert len(coloured) > 150


def test_depth_that_is_unknown_everywhere_says_so(show):
    (picture,) = show({"front": np.full((240, 320), np.nan, np.float32)})
    assert "depth, unknown in every pixel" in picture.caption


@pytest.mark.parametrize(
    "shape", [(1, 1), (3, 2000), (2000, 3), (48, 64), (480, 640), (1080, 1920)]
)
@pytest.mark.parametrize("budget", [4096, 60_000, 921_600])
def test_depth_fits_into_the_budget_and_has_a_scale_where_its_numbers_can_be_read(
    show, shape, budget
):
    depth = np.random.default_rng(1).uniform(0.2, 3, shape).astype(np.float32)
    (picture,) = show({"front": depth}, pixel_budget=budget)
    height, width = pixels(picture).shape[:2]
    assert height * width <= budget
    has_scale = "the bar below it has the scale" in picture.caption
    assert width >= depth_picture.SCALE_WIDTH or not has_scale
    assert has_scale or budget < 100_000 or shape == (2000, 3)


def test_small_depth_is_enlarged_until_its_scale_can_be_read(show):
    (picture,) = show({"front": ramp(64, 48)})
    assert pixels(picture).shape == (6 * 48 + depth_picture.SCALE_HEIGHT, 384, 3)
    assert "64x48 pixels, shown as 384x288" in picture.caption


def test_scaled_depth_has_no_distances_that_were_not_measured(observe):
    depth = np.full((600, 600), 0.5, np.float32)
    depth[:, ::2] = 2.0
    drawn = depth_picture.draw(depth, 60_000)
    colours = {tuple(pixel) for pixel in drawn.pixels[: drawn.size[1]].reshape(-1, 3)}
    assert len(colours) <= 2


def test_crop_of_depth_has_a_scale_of_its_own(show):
    depth = ramp(640, 480)
    depth[200:280, 300:380] = 0.31
    _, crop = show({"front": depth}, {"front": (0.48, 0.43, 0.58, 0.57)})
    assert "with a scale of its own" in crop.caption
    assert "near (0.310 m)" in crop.caption
    assert "far (0.8" in crop.caption


# Errors and digests


def broken(data=b"12", encoding="rgb8"):
    return View(
        name="front",
        stamp_ns=1,
        frame_id="front",
        height=240,
        width=320,
        encoding=encoding,
        step=960,
        is_bigendian=False,
        data=data,
        topic="/front/image_raw",
    )


def test_view_that_cannot_be_decoded_is_an_error_that_names_its_topic():
    with pytest.raises(ImageError, match="/front/image_raw"):
        draw([broken()], {}, 1, settings())


def test_digest_is_that_of_the_published_frame_and_of_how_it_is_shown(show, observe, halves):
    (one,), (same,) = show({"front": halves}), show({"other": halves})
    assert one.digest == same.digest
    padded = observe({"front": halves}).views[0]
    padded = padded.model_copy(update={"data": padded.data + b"\0"})
    (longer,) = draw([padded], {}, 1, settings())
    assert longer.jpeg == one.jpeg
    others = [
        longer,
        *show({"front": halves}, jpeg_quality=86),
        *show({"front": halves}, pixel_budget=10_000),
        show({"front": halves}, {"front": (0, 0, 0.5, 0.5)})[1],
        show({"front": halves}, {"front": (0, 0, 0.6, 0.5)})[1],
    ]
    assert len({one.digest, *(item.digest for item in others)}) == 6


def test_digest_does_not_depend_on_a_budget_that_the_view_fits(show, halves):
    assert show({"f": halves})[0].digest == show({"f": halves}, pixel_budget=100_000)[0].digest
