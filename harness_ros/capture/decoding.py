# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Chosen bytes to views and signals, with the CDR reader of `rosbags`, live and offline."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rosbags.typesys import Stores, TypesysError, get_typestore
from rosbags.typesys.store import Typestore

from harness_ros.capture.sample import NANOSECONDS, Sample, header_stamp
from harness_ros.config import CameraConfig, EvaluationConfig, SignalConfig
from harness_ros.contract import HarnessError, Observation, Run, Signal, View

COMPRESSED_IMAGE = "sensor_msgs/msg/CompressedImage"
MAGIC = {b"\xff\xd8\xff": "jpeg", b"\x89PNG": "png"}


class DecodeError(HarnessError):
    """A chosen message that is no evidence: it cannot be read."""


class Decoder:
    """Reads serialized messages by type name.

    Args:
        typestore: definitions; the standard ones of ROS 2 Jazzy by default. Types of other
            packages are registered there by the caller.
    """

    def __init__(self, typestore: Typestore | None = None) -> None:
        self._typestore = typestore or get_typestore(Stores.ROS2_JAZZY)

    def has_header(self, message_type: str) -> bool:
        """Whether messages of this type start with a std_msgs/Header.

        Raises:
            DecodeError: the type is not known.
        """
        try:
            fields = self._typestore.get_msgdef(message_type).fields
        except (KeyError, TypesysError):
            raise DecodeError(f"no definition of {message_type} is known") from None
        return bool(fields) and bool(fields[0][1][1] == "std_msgs/msg/Header")

    def stamp_ns(self, message_type: str, cdr: bytes, received_ns: int) -> int:
        """The header stamp, or the time of reception for types without a header.

        Raises:
            StampError: the bytes hold no stamp.
        """
        return header_stamp(cdr) if self.has_header(message_type) else received_ns

    def message(self, message_type: str, cdr: bytes, where: str) -> Any:
        """The deserialized message; `where` says in errors what it is and where it came from.

        Raises:
            DecodeError: the bytes are not such a message.
        """
        try:
            return self._typestore.deserialize_cdr(cdr, message_type)
        except Exception as error:
            # The reader compiles code from definitions: on damaged bytes it raises what it likes.
            raise DecodeError(
                f"{where}: {len(cdr)} bytes are no {message_type}: {error!r}"
            ) from error


def view(
    decoder: Decoder, camera: CameraConfig, sample: Sample, topic: str, publisher: str
) -> View:
    """A chosen frame as a View.

    Raises:
        DecodeError: the bytes are no image message.
    """
    where = f"camera '{sample.source}' ({topic})"
    message = decoder.message(camera.type, sample.data, where)
    common = {
        "name": sample.source,
        "stamp_ns": sample.stamp_ns,
        "frame_id": message.header.frame_id,
        "data": bytes(message.data),
        "topic": topic,
        "publisher": publisher,
    }
    if camera.type == COMPRESSED_IMAGE:
        encoding = next(
            (name for magic, name in MAGIC.items() if common["data"].startswith(magic)), None
        )
        if encoding is None:
            raise DecodeError(
                f"{where}: format '{message.format}' of {len(message.data)} bytes "
                "is neither JPEG nor PNG"
            )
        return View(**common, height=0, width=0, step=0, is_bigendian=False, encoding=encoding)
    return View(
        **common,
        height=message.height,
        width=message.width,
        encoding=message.encoding,
        step=message.step,
        is_bigendian=bool(message.is_bigendian),
    )


def signal(decoder: Decoder, config: SignalConfig, sample: Sample) -> Signal:
    """A chosen sample as a Signal.

    Raises:
        DecodeError: the field is missing or no number.
    """
    where = f"signal '{sample.source}' ({config.topic}): {config.field} of {config.type}"
    value: Any = decoder.message(config.type, sample.data, where)
    for name, index in re.findall(r"([A-Za-z_]\w*)(?:\[(\d+)\])?", config.field):
        try:
            value = getattr(value, name)
            if index:
                value = value[int(index)]
        except (AttributeError, IndexError, TypeError) as error:
            raise DecodeError(f"{where}: {error}") from None
    if not isinstance(value, (int, float, np.generic)):
        raise DecodeError(f"{where} is {value!r}, which is no number")
    return Signal(
        name=sample.source, value=float(value), unit=config.unit, stamp_ns=sample.stamp_ns
    )


def observation(
    decoder: Decoder,
    config: EvaluationConfig,
    run: Run,
    frames: Sequence[Sample],
    signals: Sequence[Sample],
    topics: Mapping[str, str] | None = None,
    publishers: Mapping[str, str] | None = None,
) -> Observation:
    """The Observation of a finished run from its chosen samples.

    Args:
        topics: fully qualified topic of each camera where it is known.
        publishers: node that publishes each camera where it is known.

    Raises:
        DecodeError: a sample cannot be read.
    """
    topics, publishers = topics or {}, publishers or {}
    views = tuple(
        view(
            decoder,
            config.cameras[sample.source],
            sample,
            topics.get(sample.source, config.cameras[sample.source].topic),
            publishers.get(sample.source, ""),
        )
        for sample in frames
    )
    values = tuple(signal(decoder, config.signals[sample.source], sample) for sample in signals)
    stamps = [sample.stamp_ns for sample in (*frames, *signals)]
    ended_at_ns = run.ended_at_ns or 0
    spread = max(stamps) - min(stamps)
    age = min(stamps) - ended_at_ns
    shown = [f"{item.name} {_finite(item.value)} {item.unit}".strip() for item in values]
    return Observation(
        run_id=run.run_id,
        captured_at_ns=max(stamps),
        views=views,
        signals=values,
        summary=(
            f"views {', '.join(item.name for item in views) or 'none'}; "
            f"signals {', '.join(shown) or 'none'}; "
            f"{age / NANOSECONDS:.3f} s after the end, spread {spread / NANOSECONDS:.3f} s"
        ),
        provenance={
            "settle_ns": config.settle_ns(run.tool_name),
            "slop_ns": round(config.capture.slop_s * NANOSECONDS),
            "age_ns": age,
            "spread_ns": spread,
            "signal_topics": {item.name: config.signals[item.name].topic for item in values},
        },
    )


def _finite(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "not finite"
