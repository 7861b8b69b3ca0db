# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a perception node says of the scene, said to the process that users start."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builtin_interfaces.msg import Time
from conftest import spinning, until
from geometry_msgs.msg import PoseStamped
from processes import NAMESPACE
from rclpy.node import Node
from rclpy.publisher import Publisher
from scene_world import SceneWorld, scene_world
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker, MarkerArray

from harness_ros import msg, srv
from harness_ros.ros.conversion import to_time
from harness_ros.ros.qos import LATEST

TOPIC = f"{NAMESPACE}/scene/perception"
SECOND = 10**9


@pytest.fixture(scope="module")
def onlooker() -> Iterator[Node]:
    with spinning("perception") as node:
        yield node


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, onlooker: Node) -> Iterator[SceneWorld]:
    perception = {"relations": ["on", "near"], "min_confidence": 0.6, "min_interval_s": 0.0}
    folder = tmp_path_factory.mktemp("perception")
    with scene_world(folder, onlooker, perception=perception) as world:
        yield world


@pytest.fixture
def world(running: SceneWorld) -> SceneWorld:
    """The scene as it began."""
    running.start()
    assert running.ask(Trigger, "reset").success
    return running


@pytest.fixture(scope="module")
def publisher(onlooker: Node) -> Publisher:
    return onlooker.create_publisher(msg.SceneUpdate, TOPIC, 10)


class Eyes:
    """Says what it sees, until it is seen to be heard."""

    def __init__(self, world: SceneWorld, publisher: Publisher) -> None:
        self._world = world
        self._publisher = publisher

    def say(self, **fields: Any) -> None:
        """Publishes once there is a subscription; the stamp is now if none is given."""
        assert until(lambda: self._publisher.get_subscription_count() > 0), self._world.logs()
        defaults = {"source": "eyes", "confidence": 0.8, "stamp": to_time(self._world.now_ns())}
        self._publisher.publish(msg.SceneUpdate(**{**defaults, **fields}))

    def sees(self, *holds: tuple[str, str, str], gone: Any = (), **fields: Any) -> None:
        self.say(
            holds=[_relation(item) for item in holds], gone=[_relation(g) for g in gone], **fields
        )


def _relation(triple: tuple[str, str, str]) -> msg.Relation:
    relation, subject, object_ = triple
    return msg.Relation(relation=relation, subject=subject, object=object_)


@pytest.fixture
def eyes(world: SceneWorld, publisher: Publisher) -> Eyes:
    return Eyes(world, publisher)


def near(world: SceneWorld) -> list[msg.Relation]:
    return list(world.ask(srv.GetRelations, "relations", relation="near").relations)


ROBOT_NEAR_DRAWER = ("near", "robot", "drawer")


def test_what_is_seen_is_told_with_its_source_and_confidence(world: SceneWorld, eyes: Eyes) -> None:
    eyes.sees(ROBOT_NEAR_DRAWER, confidence=0.75)
    assert until(lambda: near(world)), world.logs()
    (seen,) = near(world)
    assert (seen.source, seen.run_id) == (msg.Relation.SOURCE_PERCEPTION, "")
    assert seen.confidence == pytest.approx(0.75)
    assert 0.0 <= seen.age_s < 10.0
    answer = world.ask(srv.GetSceneBrief, "brief")
    assert "near drawer: robot (seen " in answer.brief
    assert answer.revision == 0
    (told,) = [r for r in json.loads(answer.graph)["relations"] if r["relation"] == "near"]
    assert (told["source"], told["confidence"]) == ("perception", pytest.approx(0.75))


def test_what_is_seen_is_there_after_kill_9(world: SceneWorld, eyes: Eyes) -> None:
    eyes.sees(ROBOT_NEAR_DRAWER)
    assert until(lambda: near(world)), world.logs()
    world.nodes.kill("scene_graph")
    world.start()
    (seen,) = near(world)
    assert seen.source == msg.Relation.SOURCE_PERCEPTION


def test_a_picture_older_than_a_verdict_undoes_nothing(world: SceneWorld, eyes: Eyes) -> None:
    before = to_time(world.now_ns())
    world.succeed("stow")
    eyes.sees(("on", "red_block", "table"), ROBOT_NEAR_DRAWER, stamp=before)
    assert until(lambda: near(world)), world.logs()
    drawer = world.ask(srv.GetRelations, "relations", ref="drawer")
    assert drawer.contents == ["red_block"]


def test_a_younger_picture_changes_what_a_verdict_confirmed(world: SceneWorld, eyes: Eyes) -> None:
    world.succeed("pick")
    world.ask(srv.GetSceneBrief, "brief")
    # Holding is not among what perception may change, the place of the other block is.
    gone = (("holding", "robot", "*"), ("on", "blue_block", "*"))
    eyes.sees(("on", "blue_block", "drawer"), gone=gone)
    wanted = "robot holds: red_block\ninside drawer (open): nothing known\non drawer: blue_block"
    assert until(lambda: wanted in world.ask(srv.GetSceneBrief, "brief").brief), world.logs()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"confidence": math.nan}, "confidence nan"),
        ({"stamp": Time()}, "the picture has no stamp"),
        ({"stamp": Time(sec=2**31 - 1)}, "ahead of the clock of the scene graph"),
        ({"holds": [_relation(("on", "green_block", "table"))]}, "unknown ref 'green_block'"),
        ({"holds": [_relation(("on", "red_block", "drawer"))]}, "both on 'drawer' and on 'table'"),
        ({"poses": [msg.ObjectPose(ref="red_block")]}, "pose of 'red_block' has no frame_id"),
    ],
)
def test_a_message_with_something_wrong_is_reported_and_changes_nothing(
    tmp_path: Path, onlooker: Node, world: SceneWorld, eyes: Eyes, fields: Any, words: str
) -> None:
    before = world.ask(srv.GetSceneBrief, "brief")
    refused = world.logs().count("a message is not taken")
    eyes.say(**{"holds": [_relation(ROBOT_NEAR_DRAWER)], **fields})
    # Reports are throttled: what counts is that a good message after it is taken, and alone.
    eyes.sees(("near", "robot", "table"))
    assert until(lambda: near(world)), world.logs()
    assert [item.object for item in near(world)] == ["table"]
    assert world.ask(srv.GetSceneBrief, "brief").revision == before.revision
    if world.logs().count("a message is not taken") > refused:
        assert words in world.logs()


def test_a_flood_of_bad_messages_is_reported_now_and_then(world: SceneWorld, eyes: Eyes) -> None:
    refused = world.logs().count("a message is not taken")
    for _ in range(100):
        eyes.say(confidence=math.nan)
    eyes.sees(ROBOT_NEAR_DRAWER)
    assert until(lambda: near(world)), world.logs()
    assert world.logs().count("a message is not taken") - refused <= 3
    assert "a message is not taken: from 'eyes': confidence nan; 0 to 1 is wanted" in world.logs()


def test_bytes_that_are_no_message_end_nothing(
    world: SceneWorld, eyes: Eyes, publisher: Publisher
) -> None:
    eyes.sees(("near", "robot", "table"))
    for rubbish in (b"", b"\x00", b"\x00\x01\x00\x00" + b"\xff" * 40, b"\x00\x01\x00\x00" * 9):
        publisher.publish(rubbish)
    eyes.sees(ROBOT_NEAR_DRAWER)
    assert until(lambda: len(near(world)) == 2), world.logs()
    assert world.alive()
    assert "Traceback" not in world.logs()


def test_a_thing_is_drawn_where_it_was_seen(world: SceneWorld, eyes: Eyes, onlooker: Node) -> None:
    arrays: list[MarkerArray] = []
    subscription = onlooker.create_subscription(
        MarkerArray, f"{NAMESPACE}/scene/markers", arrays.append, LATEST
    )

    def at() -> tuple[str, float]:
        cubes = [m for m in arrays[-1].markers if m.ns == "things"] if arrays else []
        labels = [m.text for m in arrays[-1].markers if m.ns == "labels"] if arrays else []
        found = [m for m, text in zip(cubes, labels, strict=True) if text == "red_block"]
        return (found[0].header.frame_id, found[0].pose.position.x) if found else ("", 0.0)

    assert until(lambda: at() == ("map", 0.1)), world.logs()
    pose = PoseStamped()
    pose.header.frame_id = "camera"
    pose.header.stamp = to_time(world.now_ns())
    pose.pose.position.x = 0.7
    eyes.say(poses=[msg.ObjectPose(ref="red_block", pose=pose)])
    assert until(lambda: at() == ("camera", 0.7)), world.logs()
    world.succeed("stow")
    world.ask(srv.GetSceneBrief, "brief")
    assert until(lambda: at()[0] == "map"), world.logs()
    (deleting, *others) = arrays[-1].markers
    assert deleting.action == Marker.DELETEALL
    assert {marker.action for marker in others} == {Marker.ADD}
    onlooker.destroy_subscription(subscription)


def test_perception_is_off_unless_the_configuration_says_otherwise(
    tmp_path: Path, onlooker: Node, running: SceneWorld
) -> None:
    running.nodes.stop_all()
    assert until(lambda: onlooker.count_subscribers(TOPIC) == 0)
    with scene_world(tmp_path, onlooker) as world:
        world.ask(srv.GetSceneBrief, "brief")
        assert onlooker.count_subscribers(TOPIC) == 0
