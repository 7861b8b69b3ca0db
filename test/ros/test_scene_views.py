# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""config/harness_ros.rviz and config/foxglove_layout.json: their topics are those on the graph.

Neither program runs here; what they would find wrong in these files is looked for instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness_ros.config import EvaluationConfig, load
from harness_ros.ros.deployment import NAMESPACE

CONFIG = Path(__file__).parents[2] / "config"

OF_THE_HARNESS = {
    f"{NAMESPACE}/scene/markers": "visualization_msgs/msg/MarkerArray",
    f"{NAMESPACE}/scene/graph": "std_msgs/msg/String",
    f"{NAMESPACE}/verdicts": "harness_ros/msg/Verdict",
    f"{NAMESPACE}/runs": "harness_ros/msg/ToolRun",
    "/diagnostics": "diagnostic_msgs/msg/DiagnosticArray",
}
SHOWN_BY = {
    "rviz_default_plugins/MarkerArray": {"visualization_msgs/msg/MarkerArray"},
    "rviz_default_plugins/Image": {"sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"},
    "3D": {"visualization_msgs/msg/MarkerArray"},
    "Image": {"sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"},
    "DiagnosticSummary": {"diagnostic_msgs/msg/DiagnosticArray"},
}
"""What a display or panel can show; the others show every type."""
RVIZ_CLASSES = {
    *("rviz_common/Displays", "rviz_common/Views", "rviz_common/Time"),
    *("rviz_default_plugins/Grid", "rviz_default_plugins/TF"),
    *("rviz_default_plugins/MarkerArray", "rviz_default_plugins/Image"),
    *("rviz_default_plugins/Interact", "rviz_default_plugins/MoveCamera"),
    *("rviz_default_plugins/Select", "rviz_default_plugins/FocusCamera"),
    *("rviz_default_plugins/Measure", "rviz_default_plugins/Orbit"),
}
"""From the plugin descriptions of rviz_common and rviz_default_plugins (Jazzy)."""
PANELS = {
    *("3D", "Image", "Table", "StateTransitions", "RawMessages"),
    *("CallService", "DiagnosticSummary"),
}
"""Types of the panels that come with Foxglove and Lichtblick."""


@pytest.fixture(scope="module")
def tabletop() -> EvaluationConfig:
    return load(CONFIG / "tabletop.yaml")


@pytest.fixture(scope="module")
def topics(tabletop: EvaluationConfig) -> dict[str, str]:
    """Every topic that may be shown, with its type."""
    cameras = {f"{NAMESPACE}/{c.topic}": c.type for c in tabletop.cameras.values()}
    return {**OF_THE_HARNESS, **cameras}


@pytest.fixture(scope="module")
def rviz() -> dict[str, Any]:
    return yaml.safe_load((CONFIG / "harness_ros.rviz").read_text())


@pytest.fixture(scope="module")
def layout() -> dict[str, Any]:
    return json.loads((CONFIG / "foxglove_layout.json").read_text())


def classes(section: Any) -> Iterator[str]:
    if isinstance(section, dict):
        if section.get("Class"):
            yield section["Class"]
        for item in section.values():
            yield from classes(item)
    elif isinstance(section, list):
        for item in section:
            yield from classes(item)


def panels_of(node: Any) -> Iterator[str]:
    """Names of the panels that a layout places."""
    if isinstance(node, str):
        yield node
    else:
        assert node["direction"] in ("row", "column")
        assert 0 < node["splitPercentage"] < 100
        assert set(node) == {"direction", "first", "second", "splitPercentage"}
        yield from (*panels_of(node["first"]), *panels_of(node["second"]))


def shown(layout: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Type of the panel and topic of each topic that a Foxglove layout shows."""
    for name, config in layout["configById"].items():
        kind = name.split("!")[0]
        paths = [
            *(topic for topic, options in config.get("topics", {}).items() if options["visible"]),
            *([config["imageMode"]["imageTopic"]] if kind == "Image" else []),
            *(config[key] for key in ("topicPath", "topicToRender") if key in config),
            *(path["value"] for path in config.get("paths", [])),
        ]
        assert paths or kind == "CallService", name
        yield from ((kind, path.split(".")[0]) for path in paths)


def test_rviz_shows_topics_that_there_are_with_displays_of_their_type(
    rviz: dict[str, Any], topics: dict[str, str]
) -> None:
    displays = [d for d in rviz["Visualization Manager"]["Displays"] if "Topic" in d]
    found = {display["Topic"]["Value"]: display["Class"] for display in displays}
    for topic, display in found.items():
        assert topics[topic] in SHOWN_BY[display], topic
    cameras = {topic for topic, kind in topics.items() if kind.startswith("sensor_msgs")}
    assert set(found) == {*cameras, f"{NAMESPACE}/scene/markers"}


def test_rviz_knows_every_class_of_its_configuration(rviz: dict[str, Any]) -> None:
    assert set(classes(rviz)) <= RVIZ_CLASSES
    assert {"rviz_default_plugins/Grid", "rviz_default_plugins/TF"} <= set(classes(rviz))


def test_rviz_asks_for_the_markers_as_they_are_offered(rviz: dict[str, Any]) -> None:
    from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

    from harness_ros.ros.qos import LATEST

    (display,) = [
        d
        for d in rviz["Visualization Manager"]["Displays"]
        if d["Class"] == "rviz_default_plugins/MarkerArray"
    ]
    assert display["Topic"]["Durability Policy"] == "Transient Local"
    assert display["Topic"]["Reliability Policy"] == "Reliable"
    assert LATEST.durability == DurabilityPolicy.TRANSIENT_LOCAL
    assert LATEST.reliability == ReliabilityPolicy.RELIABLE


def test_the_fixed_frame_is_that_of_the_scene(
    rviz: dict[str, Any], layout: dict[str, Any], tabletop: EvaluationConfig
) -> None:
    frame = rviz["Visualization Manager"]["Global Options"]["Fixed Frame"]
    assert frame == layout["configById"]["3D!scene"]["followTf"] == tabletop.scene.frame_id


def test_foxglove_shows_topics_that_there_are_with_panels_of_their_type(
    layout: dict[str, Any], topics: dict[str, str]
) -> None:
    found = list(shown(layout))
    for kind, topic in found:
        assert topics[topic] in SHOWN_BY.get(kind, {topics[topic]}), topic
    assert {topic for _, topic in found} == set(topics)
    assert ("Table", f"{NAMESPACE}/verdicts") in found


def test_foxglove_reads_fields_that_the_verdict_has(layout: dict[str, Any]) -> None:
    from harness_ros import msg

    paths = layout["configById"]["StateTransitions!verdicts"]["paths"]
    fields = {path["value"].split(".", 1)[1] for path in paths}
    assert fields <= set(msg.Verdict.get_fields_and_field_types())


def test_foxglove_asks_the_service_with_a_request_that_it_understands(
    layout: dict[str, Any],
) -> None:
    from harness_ros import srv

    panel = layout["configById"]["CallService!relations"]
    assert panel["serviceName"] == f"{NAMESPACE}/scene/relations"
    srv.GetRelations.Request(**json.loads(panel["requestPayload"]))


def test_the_foxglove_layout_has_the_form_that_foxglove_exports(layout: dict[str, Any]) -> None:
    assert set(layout) == {
        "configById",
        "globalVariables",
        "userNodes",
        "playbackConfig",
        "layout",
    }
    placed = list(panels_of(layout["layout"]))
    assert sorted(placed) == sorted(layout["configById"])
    assert {name.split("!")[0] for name in placed} == PANELS
