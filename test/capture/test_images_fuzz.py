# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Whatever arrives, decoding gives the documented array or an ImageError, soon.

HARNESS_FUZZ_SEED and HARNESS_FUZZ_ROUNDS in the environment choose another seed and more rounds.
"""

import os
import random
import time

import numpy as np
import pytest
from image_frames import DTYPES, ENCODINGS, FILES, RAW, frame, kind_of, view

from harness_ros.capture.images import ImageError, check, compressed_encoding, decode, notes

SEED = int(os.environ.get("HARNESS_FUZZ_SEED", "1"))
ROUNDS = int(os.environ.get("HARNESS_FUZZ_ROUNDS", "40"))
SLOWEST_S = 5.0
INTERESTING = (0, 1, 2, 3, 7, 8, 15, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1)
FORMATS = ("", "jpeg", "16UC1; compressedDepth rvl", "32FC1; tiff", "bayer_rggb8; png", "mono16")


def outcome(found):
    """True for an image, False for an ImageError; anything else fails."""
    began = time.perf_counter()
    try:
        image = decode(found)
    except ImageError:
        image = None
    try:
        check(found)
        refused = False
    except ImageError:
        refused = True
    assert time.perf_counter() - began < SLOWEST_S
    if image is None:
        return False
    assert not refused, "refused by its header and decoded all the same"
    assert all(isinstance(note, str) for note in notes(found))
    wanted = [kind_of(found.encoding)] if kind_of(found.encoding) else list(DTYPES)
    dimensions = {2: ("grey", "depth"), 3: ("colour",)}[image.ndim]
    (kind,) = {kind for kind in wanted if kind in dimensions and image.dtype == DTYPES[kind]}
    assert image.size
    if kind == "colour":
        assert image.shape[2] == 3
    if found.encoding in RAW:
        assert image.shape[:2] == (found.height, found.width)
    if kind == "depth":
        assert not (image <= 0).any() and not np.isinf(image).any()
    return True


def mutated(draw, data):
    """Valid data with a few bytes changed, taken out, put in, repeated or cut off."""
    data = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        place = draw.randrange(len(data) + 1)
        length = draw.choice((1, 1, 2, 4, 8, 64))
        what = draw.randrange(6)
        if what == 0:
            data[place : place + 1] = bytes([draw.randrange(256)])
        elif what == 1 and place < len(data):
            data[place] ^= 1 << draw.randrange(8)
        elif what == 2:
            del data[place : place + length]
        elif what == 3:
            data[place:place] = draw.randbytes(length)
        elif what == 4:
            order = draw.choice(("little", "big"))
            size = draw.choice((2, 4))
            number = draw.choice(INTERESTING) % 256**size
            data[place : place + size] = number.to_bytes(size, order)
        elif len(data) > 12:
            del data[draw.randrange(12, len(data)) :]
    return bytes(data)


def changed(draw, found):
    """The same frame with some of its numbers wrong."""
    changes = {}
    for field in ("width", "height", "step"):
        if draw.random() < 0.5:
            near = max(0, getattr(found, field) + draw.randint(-2, 2))
            changes[field] = draw.choice((near, near, draw.choice(INTERESTING)))
    if draw.random() < 0.3:
        changes["is_bigendian"] = True
    return found.model_copy(update=changes)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_valid_frames_that_were_damaged_give_an_image_or_an_image_error(encoding):
    draw = random.Random(f"{SEED} {encoding}")
    numbers = np.random.default_rng(draw.randrange(2**32))
    seen = set()
    for _ in range(ROUNDS):
        size = draw.randint(3, 12), draw.randint(3, 12)
        found = frame(encoding, numbers, *size, bigendian=draw.random() < 0.2)
        if encoding in RAW:
            found = changed(draw, found)
        if draw.random() < (0.3 if encoding in RAW else 0.8):
            found = found.model_copy(update={"data": mutated(draw, found.data)})
        seen.add(outcome(found))
    assert seen == {True, False}


def test_random_bytes_under_any_name_give_an_image_or_an_image_error():
    draw = random.Random(SEED)
    seen = set()
    for _ in range(ROUNDS * 20):
        data = draw.randbytes(draw.choice((0, 1, 7, 12, 13, 40, 200, 4000)))
        encoding = draw.choice((*ENCODINGS, "8UC2", "", "jpeg; compressed"))
        sizes = [draw.choice((draw.randint(0, 12), draw.choice(INTERESTING))) for _ in range(3)]
        seen.add(outcome(view(encoding, data, *sizes, is_bigendian=draw.random() < 0.5)))
    assert seen == {True, False}


def test_headers_before_random_bytes_give_an_image_or_an_image_error():
    draw = random.Random(SEED)
    numbers = np.random.default_rng(SEED)
    for _ in range(ROUNDS * 4):
        encoding = draw.choice(FILES)
        whole = frame(encoding, numbers).data
        kept = draw.randrange(4, len(whole))
        outcome(view(encoding, whole[:kept] + draw.randbytes(draw.randrange(200))))


def test_files_under_a_wrong_format_give_an_image_or_an_image_error():
    draw = random.Random(SEED)
    numbers = np.random.default_rng(SEED)
    seen = set()
    for _ in range(ROUNDS * 4):
        data = frame(draw.choice(FILES), numbers).data
        format = draw.choice((*FORMATS, *FILES))
        seen.add(outcome(view(compressed_encoding(format, data), data)))
    assert seen == {True, False}
