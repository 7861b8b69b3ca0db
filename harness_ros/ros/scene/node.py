# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `scene_graph`: applies the effects of successes, once each, and tells what it knows.

A message on `verdicts` is only a doorbell: what counts is what the evaluator wrote to the ledger,
so that a forged message changes nothing and a missed one is caught up with. Messages are taken as
bytes, so that one that cannot be read is an error of a callback and not of the executor.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import String
from std_srvs.srv import Trigger
from visualization_msgs.msg import MarkerArray

from harness_ros import msg, srv
from harness_ros.ledger import Ledger
from harness_ros.ros.conversion import encodable
from harness_ros.ros.deferring import Deferred, create_deferring_service
from harness_ros.ros.diagnostics import Diagnostics, Level, Report
from harness_ros.ros.parameters import declare_config, declare_ledger
from harness_ros.ros.qos import EVENTS, LATEST
from harness_ros.ros.scene.markers import markers
from harness_ros.ros.scene.messages import (
    answer_to_response,
    picture_to_response,
    sighting_from_bytes,
)
from harness_ros.scene.brief import brief, to_json
from harness_ros.scene.change import Outcome, SceneChange
from harness_ros.scene.graph import SceneGraph
from harness_ros.scene.layout import lay_out
from harness_ros.scene.picture import confirming_picture
from harness_ros.scene.query import ask
from harness_ros.scene.relation import SceneError
from harness_ros.scene.store import SceneStore

PERCEPTION = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Fits every publisher."""
CATCH_UP_S = 1.0
MARKERS_S = 0.2
"""Least time between two arrays of markers while poses come in."""
PICTURE_WAIT_S = 3.0


class SceneGraphNode(Node):
    """Node `scene_graph`."""

    def __init__(self, **options: Any) -> None:
        super().__init__("scene_graph", **options)
        self._config = declare_config(self)
        self._ledger = Ledger(declare_ledger(self))
        self._store = SceneStore(self._ledger, self._config)
        if self._store.warning:
            self.get_logger().warning(self._store.warning)
        self._published: SceneGraph | None = None
        self._shown = MarkerArray()
        self._moved = False
        """Poses have come in since the markers were published."""
        self._last_rejection: SceneChange | None = None
        self._refused = 0
        self._diagnostics = Diagnostics(self, self._reports)
        self._graph = self.create_publisher(String, "scene/graph", LATEST)
        self._markers = self.create_publisher(MarkerArray, "scene/markers", LATEST)
        self._listen()
        self._serve()
        with self._diagnostics.guard("scene graph"):
            self._catch_up()

    def destroy_node(self) -> None:
        """Closes the ledger."""
        self._ledger.close()
        super().destroy_node()

    def _listen(self) -> None:
        guarded = self._diagnostics.guarded
        self.create_subscription(
            msg.Verdict, "verdicts", guarded("a verdict")(self._on_verdict), EVENTS, raw=True
        )
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(CATCH_UP_S, guarded("scene graph")(self._catch_up), clock=steady)
        if self._config.scene.perception.on:
            self.create_subscription(
                msg.SceneUpdate,
                "scene/perception",
                guarded("a SceneUpdate")(self._on_perception),
                PERCEPTION,
                raw=True,
            )
            self.create_timer(MARKERS_S, guarded("markers")(self._show_moved), clock=steady)

    def _serve(self) -> None:
        self.create_service(srv.GetSceneBrief, "scene/brief", self._on_brief)
        self.create_service(srv.GetRelations, "scene/relations", self._on_relations)
        self.create_service(Trigger, "scene/reset", self._on_reset)
        create_deferring_service(self, srv.GetSceneImage, "scene/image", self._on_image)

    def _now_ns(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    # What changes the graph

    def _on_verdict(self, _: bytes) -> None:
        self._catch_up()

    def _catch_up(self) -> None:
        for change in self._store.catch_up():
            where = f"run {change.run_id[:8]} {change.tool_name}"
            if change.outcome is Outcome.REJECTED:
                self._last_rejection = change
                self.get_logger().error(f"{where}: changes nothing in the scene: {change.reason}")
            elif change.outcome is Outcome.APPLIED:
                new = [*change.effects.add, *change.effects.state]
                self.get_logger().info(f"{where}: scene now {new}")
        self._tell()

    def _on_perception(self, data: bytes) -> None:
        try:
            change = self._store.perceive(sighting_from_bytes(data), self._now_ns())
        except SceneError as error:
            self._refused += 1
            self.get_logger().warning(
                f"scene/perception: a message is not taken: {encodable(str(error))}",
                throttle_duration_sec=5.0,
            )
            return
        self._moved = True
        if change is not None:
            self.get_logger().info(
                f"'{change.seen_by}' saw: gone {list(change.effects.delete)}, "
                f"now {list(change.effects.add)}",
                throttle_duration_sec=1.0,
            )
            self._tell()

    def _on_reset(self, _: Any, response: Any) -> Any:
        def failed(error: Exception) -> None:
            response.success, response.message = False, encodable(f"{error}")

        with self._diagnostics.guard("scene/reset", failed):
            self._store.reset(self._now_ns())
            self._last_rejection = None
            self._tell()
            number = len(self._store.graph.relations)
            response.message = f"the scene graph began anew with {number} relations"
            self.get_logger().warning(f"scene/reset: {response.message}")
            response.success = True
        return response

    # What tells of it

    def _tell(self) -> None:
        graph = self._store.graph
        if graph is not self._published:
            text = to_json(graph, self._config.scene.confidence)
            if self._published is None or graph != self._published:
                self._graph.publish(String(data=text))
            self._published = graph
        self._show()

    def _show_moved(self) -> None:
        if self._moved:
            self._show()

    def _show(self) -> None:
        self._moved = False
        graph, scene = self._store.present, self._config.scene
        poses = self._store.sightings.poses
        boxes = lay_out(graph, self._config.things, scene.relations, poses, scene.frame_id)
        shown = markers(graph, boxes, scene.confidence, self._now_ns())
        if shown != self._shown:
            self._shown = shown
            self._markers.publish(shown)

    def _on_brief(self, _: Any, response: Any) -> Any:
        def failed(error: Exception) -> None:
            response.brief = encodable(f"the scene graph could not be read: {error}")
            response.graph = "{}"

        with self._diagnostics.guard("scene/brief", failed):
            # A planner asks right after its verdict: what it was told must be in here.
            self._catch_up()
            confidence = self._config.scene.confidence
            response.brief = brief(self._store.present, confidence, self._now_ns())
            response.graph = to_json(self._store.graph, confidence)
            response.revision = self._store.graph.revision
        return response

    def _on_relations(self, request: Any, response: Any) -> Any:
        def failed(error: Exception) -> None:
            response.found, response.reason = False, encodable(f"{error}")

        with self._diagnostics.guard("scene/relations", failed):
            self._catch_up()
            graph, now_ns = self._store.present, self._now_ns()
            response.revision = graph.revision
            try:
                answer = ask(graph, request.ref, request.relation)
            except SceneError as error:
                failed(error)
                return response
            answer_to_response(answer, self._config.scene.confidence, now_ns, response)
        return response

    def _on_image(self, request: Any, response: Any) -> Any:
        def failed(error: Exception) -> None:
            response.found, response.reason = False, encodable(f"{error}")

        deferred = Deferred()

        def answer() -> None:
            with self._diagnostics.guard("scene/image", failed):
                try:
                    picture = confirming_picture(
                        self._ledger, graph, request.ref, request.view, wait_s=PICTURE_WAIT_S
                    )
                    picture_to_response(picture, response)
                except SceneError as error:
                    failed(error)
            with suppress(InvalidHandle):  # the node has ended since
                deferred.answer(response)

        with self._diagnostics.guard("scene/image", failed):
            self._catch_up()
            graph = self._store.graph
            threading.Thread(target=answer, name="scene/image", daemon=True).start()
            return deferred
        return response

    def _reports(self) -> Iterator[Report]:
        graph = self._store.graph
        values = {
            "relations": len(graph.relations),
            "confirmed changes": graph.revision,
            "perception": ", ".join(self._config.scene.perception.relations) or "off",
            "perception messages not taken": self._refused,
        }
        rejection = self._last_rejection
        if rejection is None:
            yield Report("scene", Level.OK, "every success fits the scene graph", values)
        else:
            text = f"run {rejection.run_id[:8]} {rejection.tool_name} did not fit the scene graph"
            yield Report("scene", Level.WARN, f"{text}: {rejection.reason}", values)
