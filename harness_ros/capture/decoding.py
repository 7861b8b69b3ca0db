# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Serialized messages to views, signals and distances, with the CDR reader of `rosbags`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness_ros.capture import distances, fields, images
from harness_ros.capture.definitions import (
    DefinitionError,
    Definitions,
    difference,
    message_type_of,
)
from harness_ros.capture.sample import Sample, StampError, header_stamp
from harness_ros.config import CameraConfig, DistanceConfig, SignalConfig, SourceConfig
from harness_ros.contract import Calibration, HarnessError, Signal, View

CAMERA_INFO = "sensor_msgs/msg/CameraInfo"
COMPRESSED_IMAGE = "sensor_msgs/msg/CompressedImage"
LASER_SCAN = "sensor_msgs/msg/LaserScan"
HEADER = "std_msgs/msg/Header"
READ_BY_FIELDS = frozenset(
    {
        "action_msgs/msg/GoalStatusArray",
        "harness_ros/msg/ToolRun",
        "harness_ros/msg/Verdict",
        "sensor_msgs/msg/Image",
        "sensor_msgs/msg/Range",
        CAMERA_INFO,
        COMPRESSED_IMAGE,
        LASER_SCAN,
    }
)
"""Types whose fields the code here names; of all others eval.yaml names the field."""


class DecodeError(HarnessError):
    """A message that is no evidence: it cannot be read."""


class Decoder:
    """Reads serialized messages by type name.

    Args:
        definitions: where types are looked up; by default the standard ones of ROS 2 Jazzy and
            those of the packages in AMENT_PREFIX_PATH.
        expected: definitions by type that the code here reads by, where those above came with the
            messages: a type whose fields are others there is not read.
    """

    def __init__(
        self,
        definitions: Definitions | None = None,
        expected: Mapping[str, Any] | None = None,
    ) -> None:
        self.definitions = definitions or Definitions()
        self._expected = expected or {}
        self._with_header: dict[str, bool] = {}
        self._differing: dict[str, str] = {}

    def has_header(self, message_type: str) -> bool:
        """Whether messages of this type start with a std_msgs/Header.

        Raises:
            DefinitionError: the type is not known.
        """
        if message_type not in self._with_header:
            first = next(iter(self.definitions.fields(message_type).values()), (None, None))
            self._with_header[message_type] = first[1] == HEADER
        return self._with_header[message_type]

    def stamp_ns(
        self, source: SourceConfig, message_type: str, cdr: bytes, received_ns: int
    ) -> int:
        """The header stamp; the time of reception for types without, and where that is wanted.

        Raises:
            StampError: the bytes hold no stamp.
        """
        if source.stamp == "receive" or not self.has_header(message_type):
            return received_ns
        return header_stamp(cdr)

    def message(self, message_type: str, cdr: bytes, where: str) -> Any:
        """The deserialized message; `where` says in errors what it is and where it came from.

        Raises:
            DecodeError: the bytes are not such a message.
        """
        try:
            self.definitions.find(message_type)
            differing = self._difference(message_type)
            if differing:
                raise DecodeError(f"{where}: {differing}")
            return self.definitions.typestore.deserialize_cdr(cdr, message_type)
        except DefinitionError as error:
            raise DecodeError(f"{where}: {error}") from None
        except DecodeError:
            raise
        except Exception as error:
            # The reader compiles code from definitions: on damaged bytes it raises what it likes.
            raise DecodeError(
                f"{where}: {len(cdr)} bytes are no {message_type}: {error!r}"
            ) from error

    def _difference(self, message_type: str) -> str:
        """How the definition of a type that is read by its fields differs; empty where it fits."""
        if message_type not in READ_BY_FIELDS:
            return ""
        if message_type not in self._differing:
            self._differing[message_type] = self._compared(message_type)
        return self._differing[message_type]

    def _compared(self, message_type: str) -> str:
        open_, seen = [message_type], set()
        while open_:
            name = open_.pop()
            if name in seen or name not in self._expected:
                continue
            seen.add(name)
            found, expected = self.definitions.fields(name), self._expected[name][1]
            said = difference(name, found.items(), expected)
            if said:
                return f"the definition of {name} that came with it is not used: {said}"
            # What it lacks without a difference is of a later version, and its type not there.
            parts = [message_type_of(field) for wanted, field in expected if wanted in found]
            open_ += filter(None, parts)
        return ""


def view(
    decoder: Decoder,
    camera: CameraConfig,
    sample: Sample,
    topic: str,
    publisher: str = "",
    calibration: Calibration | None = None,
) -> View:
    """A frame as a View, its data as they came.

    Raises:
        DecodeError: the bytes are no image message.
        ImageError: the image in them cannot be decoded.
    """
    where = f"camera '{sample.source}' ({topic})"
    message = decoder.message(camera.type, sample.data, where)
    data = message.data.tobytes()
    if camera.type == COMPRESSED_IMAGE:
        published = message.format
        layout = {"height": 0, "width": 0, "step": 0, "is_bigendian": False}
        encoding = images.compressed_encoding(camera.encoding or published, data)
    else:
        published = message.encoding
        layout = {
            "height": message.height,
            "width": message.width,
            "step": message.step,
            "is_bigendian": bool(message.is_bigendian),
        }
        encoding = camera.encoding or published
    found = View(
        name=sample.source,
        stamp_ns=sample.stamp_ns,
        stamped_on_receipt=camera.stamp == "receive",
        frame_id=message.header.frame_id,
        encoding=encoding,
        published_encoding=published if camera.encoding else "",
        data=data,
        calibration=calibration,
        topic=topic,
        publisher=publisher,
        **layout,
    )
    images.check(found)
    return found


def calibration(decoder: Decoder, sample: Sample, topic: str) -> Calibration | None:
    """The calibration in a CameraInfo; None where its K[0] is 0, which means uncalibrated.

    Raises:
        DecodeError: the bytes are no CameraInfo, or its numbers are no calibration.
    """
    where = f"camera info '{sample.source}' ({topic})"
    info = decoder.message(CAMERA_INFO, sample.data, where)
    if info.k[0] == 0:
        return None
    if info.width <= 0 or info.height <= 0:
        raise DecodeError(f"{where}: calibrated for an image of {info.width}x{info.height} pixels")
    return Calibration(
        width=info.width,
        height=info.height,
        k=tuple(float(value) for value in info.k),
        d=tuple(float(value) for value in info.d),
        distortion_model=info.distortion_model,
    )


def signal(decoder: Decoder, config: SignalConfig, sample: Sample) -> Signal:
    """A sample as a Signal.

    Raises:
        DecodeError: the message cannot be read, or has no such element.
    """
    where = f"signal '{sample.source}' ({config.topic})"
    message = decoder.message(config.type, sample.data, where)
    try:
        value = fields.read(message, config.field)
    except fields.FieldError as error:
        raise DecodeError(f"{where}: {config.type}: {error}") from None
    return Signal(name=sample.source, value=value, unit=config.unit, stamp_ns=sample.stamp_ns)


def distance(decoder: Decoder, config: DistanceConfig, sample: Sample) -> float:
    """A sample as metres from the base to the nearest obstacle; infinite where nothing is near.

    Raises:
        DecodeError: the message cannot be read, or measured nothing in the direction.
    """
    where = f"signal '{sample.source}' ({config.topic})"
    message = decoder.message(config.type, sample.data, where)
    try:
        if config.type == LASER_SCAN and config.sector_deg is not None:
            metres = distances.from_scan(message, config.sector_deg)
        else:
            metres = distances.from_range(message)
    except distances.DistanceError as error:
        raise DecodeError(f"{where}: {error}") from None
    return max(0.0, metres - config.offset_m)


__all__ = [
    "DecodeError",
    "Decoder",
    "StampError",
    "calibration",
    "distance",
    "signal",
    "view",
]
