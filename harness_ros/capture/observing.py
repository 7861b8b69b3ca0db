# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From the chosen samples of a run to its Observation, live and offline."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from harness_ros.capture import decoding, images
from harness_ros.capture.decoding import DecodeError, Decoder
from harness_ros.capture.fields import FieldError, check
from harness_ros.capture.images import ImageError
from harness_ros.capture.images.layout import RawDecoder
from harness_ros.capture.sample import NANOSECONDS, Sample
from harness_ros.capture.session import CaptureSession, Selection
from harness_ros.config import (
    CameraConfig,
    DistanceConfig,
    EvaluationConfig,
    SignalConfig,
    SourceConfig,
)
from harness_ros.config.sources import CLEARANCE
from harness_ros.contract import Calibration, Clearance, HarnessError, Observation, Run

CAMERA_INFO = ".camera_info"
"""Ends the name of each source of a calibration."""


class SourceError(HarnessError):
    """A source of evidence in eval.yaml that cannot be read."""


class InfoConfig(SourceConfig):
    """The CameraInfo topic that belongs to a camera."""


def message_type(source: SourceConfig) -> str:
    """Type of the messages of a source, `package/msg/Type`."""
    if isinstance(source, (CameraConfig, SignalConfig, DistanceConfig)):
        return source.type
    return decoding.CAMERA_INFO


def all_sources(config: EvaluationConfig) -> dict[str, SourceConfig]:
    """Every configured source by its name: cameras, signals, distances, calibrations.

    A distance is called `clearance.<direction>`, a calibration `<camera>.camera_info`.
    """
    cameras = config.cameras
    return {
        **cameras,
        **config.signals,
        **{f"{CLEARANCE}{name}": item for name, item in config.clearance.directions().items()},
        **{
            f"{name}{CAMERA_INFO}": InfoConfig(topic=camera.info_topic, required=camera.required)
            for name, camera in cameras.items()
            if camera.info_topic is not None
        },
    }


def sources(config: EvaluationConfig, tool_name: str) -> dict[str, SourceConfig]:
    """The sources of a tool's evidence by their names.

    Its cameras and signals in its own order, then distances and calibrations.
    """
    tool = config.tools[tool_name]
    wanted = {*tool.cameras, *tool.signals}
    wanted |= {f"{CLEARANCE}{name}" for name in tool.clearance}
    wanted |= {f"{name}{CAMERA_INFO}" for name in tool.cameras}
    order = [*tool.cameras, *tool.signals]
    found = {name: item for name, item in all_sources(config).items() if name in wanted}
    return {name: found[name] for name in dict.fromkeys([*order, *found])}


def check_sources(config: EvaluationConfig, decoder: Decoder) -> None:
    """Looks at what can be known of the sources before any message: types, fields, encodings.

    Raises:
        SourceError: the text lists key, value and what is allowed, a line each.
    """
    problems = []
    known = [name for name, item in images.DECODERS.items() if isinstance(item, RawDecoder)]
    for name, camera in config.cameras.items():
        raw = camera.encoding is not None and camera.type != decoding.COMPRESSED_IMAGE
        if raw and camera.encoding not in known:
            problems.append(
                f"cameras.{name}.encoding: '{camera.encoding}' is unknown; "
                f"known are {', '.join(known)}"
            )
    for name, signal in config.signals.items():
        try:
            check(decoder.definitions, signal.type, signal.field)
        except FieldError as error:
            problems.append(f"signals.{name}.field: {error}")
        except HarnessError as error:
            problems.append(f"signals.{name}.type: {error}")
    if problems:
        raise SourceError("\n".join(problems))


@dataclass(frozen=True)
class Origins:
    """What the middleware knows of where samples came from; empty for bags."""

    topics: Mapping[str, str] = field(default_factory=dict)
    """Fully qualified topic by source."""
    publishers: Mapping[str, str] = field(default_factory=dict)
    """Node that publishes a camera, by source."""


def observe(
    session: CaptureSession,
    decoder: Decoder,
    config: EvaluationConfig,
    run: Run,
    origins: Origins | None = None,
) -> Observation | None:
    """The Observation of a finished run, once its evidence is complete.

    A chosen sample that cannot be decoded is no evidence: it is rejected, and the next one that
    fits takes its place.

    Returns:
        None as long as the session is not complete.
    """
    while session.complete:
        selection = session.selection()
        try:
            return _Builder(decoder, config, run, origins or Origins()).build(selection)
        except _NoEvidence as error:
            session.reject(error.sample, str(error.reason))
    return None


class _NoEvidence(Exception):
    def __init__(self, sample: Sample, reason: Exception) -> None:
        super().__init__(str(reason))
        self.sample = sample
        self.reason = reason


class _Builder:
    def __init__(
        self, decoder: Decoder, config: EvaluationConfig, run: Run, origins: Origins
    ) -> None:
        self._decoder = decoder
        self._config = config
        self._run = run
        self._origins = origins
        self._sources = sources(config, run.tool_name)

    def build(self, selection: Selection) -> Observation:
        """The Observation of a selection."""
        config, run = self._config, self._run
        by_name = {sample.source: sample for sample in selection.signals}
        views = tuple(self._view(frame, by_name) for frame in selection.frames)
        signals = tuple(
            self._read(sample, decoding.signal, source)
            for name, sample in by_name.items()
            if isinstance(source := self._sources[name], SignalConfig)
        )
        distances = {
            name.removeprefix(CLEARANCE): self._read(sample, decoding.distance, source)
            for name, sample in by_name.items()
            if isinstance(source := self._sources[name], DistanceConfig)
        }
        stamps = [
            sample.stamp_ns
            for sample in (*selection.frames, *selection.signals)
            if not sample.source.endswith(CAMERA_INFO)
        ]
        spread, age = max(stamps) - min(stamps), min(stamps) - (run.ended_at_ns or 0)
        shown = [f"{item.name} {_finite(item.value)} {item.unit}".strip() for item in signals]
        shown += [
            f"clearance {name} " + (f"{metres:.4g} m" if math.isfinite(metres) else "free")
            for name, metres in distances.items()
        ]
        return Observation(
            run_id=run.run_id,
            captured_at_ns=max(stamps),
            views=views,
            signals=signals,
            clearance=_clearance(distances),
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
                "signal_topics": {item.name: config.signals[item.name].topic for item in signals},
                **self._remarks(selection, [(view.name, images.notes(view)) for view in views]),
            },
        )

    def _view(self, frame: Sample, by_name: Mapping[str, Sample]) -> Any:
        camera = self._config.cameras[frame.source]
        topic = self._origins.topics.get(frame.source, camera.topic)
        publisher = self._origins.publishers.get(frame.source, "")
        calibration = None
        if camera.calibration is not None:
            calibration = Calibration(**camera.calibration.model_dump())
        info = by_name.get(f"{frame.source}{CAMERA_INFO}")
        if info is not None:
            try:
                calibration = decoding.calibration(self._decoder, info, camera.info_topic or topic)
            except (DecodeError, ValidationError) as error:
                raise _NoEvidence(info, error) from None
        try:
            return decoding.view(self._decoder, camera, frame, topic, publisher, calibration)
        except (DecodeError, ImageError) as error:
            raise _NoEvidence(frame, error) from None

    def _read(self, sample: Sample, read: Any, source: SourceConfig) -> Any:
        try:
            return read(self._decoder, source, sample)
        except DecodeError as error:
            raise _NoEvidence(sample, error) from None

    def _remarks(
        self, selection: Selection, notes: list[tuple[str, tuple[str, ...]]]
    ) -> dict[str, Any]:
        """What a reader of the Observation should know; keys only where there is something."""
        on_receipt = [
            sample.source
            for sample in (*selection.frames, *selection.signals)
            if self._stamped_on_receipt(self._sources[sample.source])
        ]
        remarks = {
            "absent": list(selection.absent),
            "stamped_on_receipt": on_receipt,
            "notes": {name: list(lines) for name, lines in notes if lines},
        }
        return {key: value for key, value in remarks.items() if value}

    def _stamped_on_receipt(self, source: SourceConfig) -> bool:
        return source.stamp == "receive" or not self._decoder.has_header(message_type(source))


def _clearance(distances: Mapping[str, float]) -> Clearance | None:
    """NaN where a direction was not measured."""
    if not distances:
        return None
    directions = ("front", "left", "right", "rear")
    return Clearance(**{name: distances.get(name, math.nan) for name in directions})


def _finite(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "not finite"
