# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The scene graph as visualization_msgs/MarkerArray, for RViz and Foxglove.

Each array is complete and begins with DELETEALL, so that a viewer that comes late, or one that saw
an earlier scene graph, shows what holds now and nothing else. Stamps are zero in the frame of the
scene: a viewer then takes its latest transform, with simulated time as without.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from harness_ros.ros.conversion import to_time
from harness_ros.scene.confidence import Confidence
from harness_ros.scene.graph import SceneGraph
from harness_ros.scene.layout import Box
from harness_ros.scene.perception import XYZ
from harness_ros.scene.relation import Relation, Source
from harness_ros.scene.rules import PLACES

Colour = tuple[float, float, float]

COLOURS: Mapping[Source, Colour] = {
    Source.VERDICT: (0.18, 0.70, 0.36),
    Source.PERCEPTION: (0.16, 0.52, 0.95),
    Source.INITIAL: (0.62, 0.62, 0.65),
}
THING: Colour = (0.86, 0.82, 0.72)
CARRIER: Colour = (0.45, 0.52, 0.62)
LABEL: Colour = (0.95, 0.95, 0.95)
LABEL_HEIGHT = 0.5
"""Of letters, in the size of a usual thing of the scene."""
TEXT_HEIGHT = 0.35
FAINTEST = 0.25
"""Alpha of a relation that nothing is left of."""


def markers(
    graph: SceneGraph, boxes: Mapping[str, Box], confidence: Confidence, now_ns: int
) -> MarkerArray:
    """Everything in the graph, in namespaces `things`, `labels`, `relations`, `relation_labels`.

    Args:
        boxes: where each ref is drawn.
        now_ns: the present time on the clock of the stamps; relations fade with their confidence.
    """
    unit = statistics.median(max(box.size) for box in boxes.values())
    found = [Marker(action=Marker.DELETEALL)]
    for number, box in enumerate(boxes.values()):
        found += [_cube(number, box, graph), _label(number, box, graph, unit)]
    for number, relation in enumerate(graph.relations):
        alpha = FAINTEST + (1 - FAINTEST) * confidence.now(relation, now_ns)
        found += _arrow(number, relation, graph, boxes, alpha, unit)
    return MarkerArray(markers=found)


def _carries(box: Box, graph: SceneGraph) -> bool:
    carriers = {relation.object for relation in graph.relations if relation.relation in PLACES}
    return box.ref in carriers | set(graph.containers)


def _anchor(box: Box, graph: SceneGraph) -> XYZ:
    """Where arrows begin and end: the middle of the top, of carriers the middle of its far edge.

    So the arrows of what lies on a table can be seen, and do not hide in it.
    """
    x, y, _ = box.centre
    return x, y + (box.size[1] / 2 if _carries(box, graph) else 0.0), box.top


def _marker(
    namespace: str, number: int, box: Box, kind: int, colour: Colour, alpha: float
) -> Marker:
    red, green, blue = colour
    stamp = to_time(box.stamp_ns) if box.stamp_ns else Time()
    return Marker(
        header=Header(frame_id=box.frame_id, stamp=stamp),
        ns=namespace,
        id=number,
        type=kind,
        action=Marker.ADD,
        color=ColorRGBA(r=red, g=green, b=blue, a=round(alpha, 2)),
    )


def _cube(number: int, box: Box, graph: SceneGraph) -> Marker:
    # What is inside must be seen.
    colour, alpha = (CARRIER, 0.35) if _carries(box, graph) else (THING, 0.9)
    marker = _marker("things", number, box, Marker.CUBE, colour, alpha)
    x, y, z, w = box.orientation
    marker.pose = Pose(position=_point(box.centre), orientation=Quaternion(x=x, y=y, z=z, w=w))
    marker.scale = Vector3(x=box.size[0], y=box.size[1], z=box.size[2])
    return marker


def _label(number: int, box: Box, graph: SceneGraph, unit: float) -> Marker:
    marker = _marker("labels", number, box, Marker.TEXT_VIEW_FACING, LABEL, 1.0)
    state = graph.state(box.ref)
    text = f"{box.ref} ({state.state})" if state else box.ref
    x, y, z = _anchor(box, graph)
    return _with_text(marker, (x, y, z + 0.5 * unit), text, LABEL_HEIGHT * unit)


def _arrow(
    number: int,
    relation: Relation,
    graph: SceneGraph,
    boxes: Mapping[str, Box],
    alpha: float,
    unit: float,
) -> Iterator[Marker]:
    """An arrow from subject to object and its name; without transforms only inside one frame."""
    subject, object_ = boxes[relation.subject], boxes[relation.object]
    colour = COLOURS[relation.source]
    start = end = _anchor(subject, graph)
    if subject.frame_id == object_.frame_id:
        end = _anchor(object_, graph)
        if math.dist(start, end) > 0.1 * unit:  # RViz cannot draw an arrow without length
            arrow = _marker("relations", number, subject, Marker.ARROW, colour, alpha)
            arrow.pose = Pose(orientation=Quaternion(w=1.0))
            arrow.points = [_point(start), _point(end)]
            # Diameter of the shaft, diameter and length of the head.
            arrow.scale = Vector3(x=0.06 * unit, y=0.16 * unit, z=0.2 * unit)
            yield arrow
    x, y, z = ((a + b) / 2 for a, b in zip(start, end, strict=True))
    text = _marker("relation_labels", number, subject, Marker.TEXT_VIEW_FACING, colour, alpha)
    yield _with_text(text, (x, y, z), relation.relation, TEXT_HEIGHT * unit)


def _with_text(marker: Marker, position: XYZ, text: str, height: float) -> Marker:
    marker.pose = Pose(position=_point(position), orientation=Quaternion(w=1.0))
    marker.scale = Vector3(z=height)
    marker.text = text
    return marker


def _point(xyz: XYZ) -> Point:
    return Point(x=float(xyz[0]), y=float(xyz[1]), z=float(xyz[2]))
