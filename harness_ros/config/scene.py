# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The scene in eval.yaml: `scene`, and the properties under `objects` that it knows."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StrictBool

from harness_ros.config.base import Name, Section
from harness_ros.scene.confidence import Confidence
from harness_ros.scene.perception import Perception

Metres = Annotated[float, Field(gt=0)]


class SceneConfig(Section):
    """The scene graph before any verdict, and how far to trust what it holds."""

    relations: tuple[tuple[str, str, str], ...] = ()
    """(relation, subject, object) triples."""
    states: dict[Name, Literal["open", "closed"]] = Field(default_factory=dict)
    """Of containers; one that is not named here may be either."""
    confidence: Confidence = Confidence()
    """What a relation's source is worth, and how long."""
    perception: Perception = Perception()
    """What is taken of the topic `scene/perception`; nothing by default."""
    frame_id: str = Field(default="map", min_length=1)
    """Frame of the poses under `objects`, and of the markers."""


class Thing(Section):
    """Properties of an object that the scene graph and its markers know; it may have others."""

    model_config = ConfigDict(extra="ignore")

    container: StrictBool = False
    """Whether it may be open or closed."""
    pose: tuple[float, float, float] | None = None
    """Where its middle is before any verdict, x y z in metres in `scene.frame_id`."""
    size: tuple[Metres, Metres, Metres] | None = None
    """Of the box that is drawn for it, along x y z in metres."""
