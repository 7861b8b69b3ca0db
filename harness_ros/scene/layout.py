# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where to draw the things of a scene graph.

A thing is drawn where it was last seen, or where the configuration puts it, as long as nothing has
moved it since. Otherwise its place follows from the graph: on or in what carries it, side by side
in the order of the names; what nothing carries stands in a row in front. z is up in every frame.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

from harness_ros.config import Thing
from harness_ros.contract import Record
from harness_ros.scene.effects import Triple
from harness_ros.scene.graph import SceneGraph
from harness_ros.scene.perception import XYZ, Quaternion, SeenPose
from harness_ros.scene.relation import Relation
from harness_ros.scene.rules import PLACES

LEAF: XYZ = (0.05, 0.05, 0.05)
CELL = 0.08
"""Least room for one thing on what carries it, metres."""
MARGIN = 0.06
"""Between things on what carries them."""
SUPPORT_HEIGHT = 0.02
CONTAINER_HEIGHT = 0.06
GAP = 0.1
"""Between things that stand in the row, and between the row and what has a place."""


class Box(Record):
    """A thing as it is drawn."""

    ref: str
    frame_id: str
    stamp_ns: int = 0
    """0 stands for the latest transform of the frame (REP 105)."""
    centre: XYZ
    """Metres."""
    size: XYZ
    orientation: Quaternion = (0.0, 0.0, 0.0, 1.0)

    @property
    def top(self) -> float:
        """The z of its upper face."""
        return self.centre[2] + self.size[2] / 2

    @property
    def bottom(self) -> float:
        """The z of its lower face."""
        return self.centre[2] - self.size[2] / 2


def lay_out(
    graph: SceneGraph,
    things: Mapping[str, Thing],
    began_with: Collection[Triple],
    poses: Mapping[str, SeenPose],
    frame_id: str,
) -> dict[str, Box]:
    """A box for every ref of the graph, sorted by ref.

    Args:
        things: properties of objects.
        began_with: the relations for which the configured poses were written.
        poses: where things were seen.
        frame_id: of the configured poses, and of all that has no pose.
    """
    return _Layout(graph, things, began_with, poses, frame_id).boxes()


class _Layout:
    def __init__(
        self,
        graph: SceneGraph,
        things: Mapping[str, Thing],
        began_with: Collection[Triple],
        poses: Mapping[str, SeenPose],
        frame_id: str,
    ) -> None:
        self._graph = graph
        self._things = things
        self._poses = poses
        self._frame_id = frame_id
        self._began = {t[1]: t for t in began_with if t[0] in PLACES}
        self._held_before = {t[2] for t in graph.evidence_ns if t[0] == "holding"}
        self._carried: dict[str, Relation] = {}
        for relation in graph.relations:
            if relation.relation in PLACES:
                self._carried.setdefault(relation.subject, relation)
        for relation in graph.relations:
            if relation.relation == "holding":
                self._carried[relation.object] = relation
        self._carriers = {
            ref: _carrier(self._carried[ref]) for ref in graph.refs if not self._stands_alone(ref)
        }
        self._boxes: dict[str, Box] = {}

    def boxes(self) -> dict[str, Box]:
        for ref in self._graph.refs:
            known = self._known(ref)
            if known:
                self._boxes[ref] = known
        for ref in self._graph.refs:
            if ref not in self._boxes and ref not in self._carriers:
                beneath = self._beneath(ref)
                if beneath:
                    self._boxes[ref] = beneath
        self._stand_in_a_row()
        for ref in self._graph.refs:
            self._carry(ref)
        return {ref: self._boxes[ref] for ref in self._graph.refs}

    # Where a thing is known to be

    def _known(self, ref: str) -> Box | None:
        chain = self._chain(ref)
        pose = self._poses.get(ref)
        if pose and all(relation.stamp_ns <= pose.stamp_ns for relation in chain):
            here = pose.frame_id == self._frame_id
            return Box(
                ref=ref,
                frame_id=pose.frame_id,
                stamp_ns=0 if here else pose.stamp_ns,
                centre=pose.position,
                size=self._size(ref),
                orientation=pose.orientation,
            )
        thing = self._things.get(ref, Thing())
        moved = {ref, *(relation.subject for relation in chain)} & self._held_before
        stays = all(self._began.get(item.subject) == item.triple for item in chain)
        if thing.pose and stays and not moved:
            return Box(ref=ref, frame_id=self._frame_id, centre=thing.pose, size=self._size(ref))
        return None

    def _chain(self, ref: str) -> list[Relation]:
        """What carries a thing, what carries that, and so on."""
        chain: list[Relation] = []
        while (relation := self._carried.get(ref)) and relation not in chain:
            chain.append(relation)
            ref = _carrier(relation)
        return chain

    # Where it follows from the graph

    def _stands_alone(self, ref: str) -> bool:
        """Whether nothing carries it, or it carries what carries it: a tray with the robot on."""
        carriers = [_carrier(relation) for relation in self._chain(ref)]
        return not carriers or ref in carriers

    def _how(self, ref: str) -> str:
        return self._carried[ref].relation

    def _children(self, ref: str) -> list[str]:
        return [thing for thing in self._carriers if self._carriers[thing] == ref]

    def _size(self, ref: str) -> XYZ:
        """As configured, else with room for what it carries."""
        thing = self._things.get(ref, Thing())
        if thing.size:
            return thing.size
        on, inside = (
            [self._size(child) for child in self._children(ref) if self._how(child) == relation]
            for relation in PLACES
        )
        if not (on or inside or thing.container):
            return LEAF
        cell = max([CELL, *(max(size[:2]) + MARGIN for size in (*on, *inside))])
        side = cell * max(_columns(len(on) + len(inside)), 2 if thing.container else 1)
        heights = [CONTAINER_HEIGHT, *(size[2] + 0.01 for size in inside)]
        return side, side, max(heights) if inside or thing.container else SUPPORT_HEIGHT

    def _beneath(self, ref: str) -> Box | None:
        """A support under the things on it whose places are known."""
        there = [self._boxes[child] for child in self._children(ref) if child in self._boxes]
        there = [box for box in there if box.frame_id == self._frame_id]
        if not there:
            return None
        (x0, x1), (y0, y1) = (_extent(there, axis) for axis in (0, 1))
        width, depth, height = self._size(ref)
        return Box(
            ref=ref,
            frame_id=self._frame_id,
            centre=((x0 + x1) / 2, (y0 + y1) / 2, min(b.bottom for b in there) - height / 2),
            size=(max(width, x1 - x0 + CELL), max(depth, y1 - y0 + CELL), height),
        )

    def _stand_in_a_row(self) -> None:
        here = [box for box in self._boxes.values() if box.frame_id == self._frame_id]
        x, front = (_extent(here, 0)[0], _extent(here, 1)[0] - GAP) if here else (0.0, 0.0)
        for ref in self._graph.refs:
            if ref not in self._boxes and ref not in self._carriers:
                width, depth, height = size = self._size(ref)
                self._boxes[ref] = Box(
                    ref=ref,
                    frame_id=self._frame_id,
                    centre=(x + width / 2, front - depth / 2, height / 2),
                    size=size,
                )
                x += width + GAP

    def _carry(self, ref: str) -> Box:
        """Puts a thing in or on what carries it."""
        if ref in self._boxes:
            return self._boxes[ref]
        carrier = self._carry(self._carriers[ref])
        placed = [thing for thing in self._children(carrier.ref) if self._known(thing) is None]
        dx, dy = _slot(placed.index(ref), len(placed), carrier.size)
        size = self._size(ref)
        x, y, _ = carrier.centre
        floor = {
            "inside": carrier.bottom,
            "on": carrier.top,
            "holding": carrier.top + LEAF[2],
        }[self._how(ref)]
        self._boxes[ref] = Box(
            ref=ref,
            frame_id=carrier.frame_id,
            stamp_ns=carrier.stamp_ns,
            centre=(x + dx, y + dy, floor + size[2] / 2),
            size=size,
        )
        return self._boxes[ref]


def _carrier(relation: Relation) -> str:
    return relation.subject if relation.relation == "holding" else relation.object


def _columns(number: int) -> int:
    return math.ceil(math.sqrt(max(1, number)))


def _slot(index: int, number: int, size: XYZ) -> tuple[float, float]:
    """Offset of one of so many things that share a face of this size, row by row."""
    columns = _columns(number)
    rows = math.ceil(number / columns)
    row, column = divmod(index, columns)
    return (
        size[0] * ((column + 0.5) / columns - 0.5),
        size[1] * (0.5 - (row + 0.5) / rows),
    )


def _extent(boxes: Iterable[Box], axis: int) -> tuple[float, float]:
    boxes = list(boxes)
    return (
        min(box.centre[axis] - box.size[axis] / 2 for box in boxes),
        max(box.centre[axis] + box.size[axis] / 2 for box in boxes),
    )
