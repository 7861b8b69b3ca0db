# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Frames that cost next to nothing to publish: serialized once, the stamp put into the bytes."""

from __future__ import annotations

import array
import struct
import time

import numpy as np
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image

from bench.world import GREY, Size

STAMP_OFFSET = 4
"""Of the stamp in a serialized message that begins with std_msgs/Header: four bytes say how the
rest is encoded."""


def pixels(size: Size) -> bytes:
    """rgb8 rows of a grey picture with noise, as of a camera: it does not compress to nothing."""
    noise = np.random.default_rng(0).integers(-9, 10, (size.height, size.width, 3))
    return (GREY + noise).astype(np.uint8).tobytes()


class Frame:
    """A serialized sensor_msgs/Image (rgb8)."""

    def __init__(self, size: Size, frame_id: str = "camera") -> None:
        image = Image(
            height=size.height,
            width=size.width,
            encoding="rgb8",
            step=size.width * 3,
            data=array.array("B", pixels(size)),
        )
        image.header.frame_id = frame_id
        self._bytes = bytearray(serialize_message(image))
        self._layout = "<iI" if self._bytes[1] & 1 else ">iI"

    def stamped(self, stamp_ns: int | None = None) -> bytes:
        """The message with a stamp; now by default."""
        stamp_ns = time.time_ns() if stamp_ns is None else stamp_ns
        struct.pack_into(self._layout, self._bytes, STAMP_OFFSET, *divmod(stamp_ns, 1_000_000_000))
        return bytes(self._bytes)
