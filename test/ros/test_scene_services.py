# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The services of the scene graph, asked of the process that users start."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator

import pytest
from conftest import spinning, until
from diagnostic_msgs.msg import DiagnosticArray
from processes import NAMESPACE
from rclpy.node import Node
from scene_world import SceneWorld, picture, scene_world
from std_msgs.msg import String
from std_srvs.srv import Trigger

from harness_ros import msg, srv
from harness_ros.contract import Observation
from harness_ros.ros.qos import EVENTS, LATEST


@pytest.fixture(scope="module")
def onlooker() -> Iterator[Node]:
    with spinning("onlooker") as node:
        yield node


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, onlooker: Node) -> Iterator[SceneWorld]:
    with scene_world(tmp_path_factory.mktemp("scene"), onlooker) as world:
        yield world


@pytest.fixture
def world(running: SceneWorld) -> SceneWorld:
    """The scene as it began."""
    running.start()
    assert running.ask(Trigger, "reset").success
    return running


def triples(answer: srv.GetRelations.Response) -> list[tuple[str, str, str]]:
    return [(item.relation, item.subject, item.object) for item in answer.relations]


def test_relations_of_a_thing_come_with_source_run_age_and_confidence(world: SceneWorld) -> None:
    before_ns = world.now_ns()
    run_id = world.succeed("pick")
    answer = world.ask(srv.GetRelations, "relations", ref="red_block")
    assert answer.found
    (held,) = answer.relations
    assert (held.relation, held.subject, held.object) == ("holding", "robot", "red_block")
    assert (held.source, held.run_id) == (msg.Relation.SOURCE_VERDICT, run_id)
    assert held.confidence == 1.0
    assert 0.0 <= held.age_s <= (world.now_ns() - before_ns) / 1e9
    assert answer.confirmed_at == held.stamp
    assert held.stamp.sec > 0
    assert answer.revision == 1
    (assumed,) = world.ask(srv.GetRelations, "relations", ref="blue_block").relations
    assert (assumed.source, assumed.run_id) == (msg.Relation.SOURCE_INITIAL, "")
    assert (assumed.stamp.sec, assumed.age_s, assumed.confidence) == (0, -1.0, 0.5)


def test_relations_are_asked_for_by_thing_kind_both_or_neither(world: SceneWorld) -> None:
    world.succeed("stow")
    on_table = ("on", "blue_block", "table")
    in_drawer = ("inside", "red_block", "drawer")
    assert triples(world.ask(srv.GetRelations, "relations")) == [on_table, in_drawer]
    assert triples(world.ask(srv.GetRelations, "relations", relation="on")) == [on_table]
    answer = world.ask(srv.GetRelations, "relations", ref="red_block", relation="on")
    assert (answer.found, answer.relations) == (True, [])


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"ref": "sink"}, "unknown ref 'sink'; known are ['blue_block', 'drawer', 'red_block',"),
        ({"relation": "under"}, "unknown relation 'under'; it is one of ['on', 'inside',"),
    ],
)
def test_the_unknown_is_answered_with_what_is_known(
    world: SceneWorld, question: dict[str, str], words: str
) -> None:
    answer = world.ask(srv.GetRelations, "relations", **question)
    assert not answer.found
    assert words in answer.reason


def test_a_container_has_state_and_contents_and_keeps_them_closed(world: SceneWorld) -> None:
    world.succeed("stow")
    world.succeed("close")
    rejected = world.succeed("pick")
    drawer = world.ask(srv.GetRelations, "relations", ref="drawer")
    assert (drawer.state, drawer.contents, drawer.revision) == ("closed", ["red_block"], 2)
    assert "inside drawer (closed): red_block" in world.ask(srv.GetSceneBrief, "brief").brief
    assert f"{rejected} pick: changes nothing in the scene: 'red_block' would be taken out" in (
        world.logs()
    )


def test_the_image_is_the_view_that_confirmed_the_last_change(world: SceneWorld) -> None:
    # Larger than the default shared-memory segment of Fast DDS.
    run_id = world.succeed("pick", views=(picture("top"), picture("front", 720, 1280)))
    answer = world.ask(srv.GetSceneImage, "image", ref="red_block", view="front")
    assert answer.found, answer.reason
    assert (answer.run_id, answer.tool_name) == (run_id, "pick")
    assert answer.evidence == [f"measured in {run_id}"]
    assert (answer.view.name, len(answer.view.data)) == ("front", 720 * 1280 * 3)
    assert set(answer.view.data) == {119}
    assert world.ask(srv.GetSceneImage, "image", ref="robot").view.name == "top"


def test_an_image_that_there_is_not_is_explained(world: SceneWorld) -> None:
    for ref, words in (("sink", "unknown ref 'sink'"), ("drawer", "no verdict has changed")):
        answer = world.ask(srv.GetSceneImage, "image", ref=ref)
        assert not answer.found
        assert words in answer.reason


def test_the_image_is_waited_for_while_it_is_written_and_holds_nobody_up(
    world: SceneWorld,
) -> None:
    run_id = world.succeed("pick")
    answers: list[srv.GetSceneImage.Response] = []
    asking = threading.Thread(
        target=lambda: answers.append(world.ask(srv.GetSceneImage, "image", ref="red_block"))
    )
    asking.start()
    assert "robot holds: red_block" in world.ask(srv.GetSceneBrief, "brief").brief
    assert answers == []
    seen = Observation(run_id=run_id, captured_at_ns=1, views=(picture("front"),))
    world.ledger.record_observation(seen, views_kept=500)
    asking.join(20.0)
    assert answers[0].found, answers[0].reason


def test_a_reset_begins_anew_with_the_configuration(world: SceneWorld) -> None:
    world.succeed("stow")
    world.succeed("close")
    assert world.ask(srv.GetRelations, "relations", ref="drawer").state == "closed"
    answer = world.ask(Trigger, "reset")
    assert (answer.success, answer.message) == (True, "the scene graph began anew with 2 relations")
    drawer = world.ask(srv.GetRelations, "relations", ref="drawer")
    assert (drawer.state, drawer.contents, drawer.revision) == ("open", [], 0)
    assert not world.ask(srv.GetSceneImage, "image", ref="red_block").found


def test_who_listens_to_the_graph_hears_of_a_change_and_of_a_reset(
    world: SceneWorld, onlooker: Node
) -> None:
    heard: list[dict] = []
    subscription = onlooker.create_subscription(
        String, "scene/graph", lambda message: heard.append(json.loads(message.data)), LATEST
    )
    doorbell = onlooker.create_publisher(msg.Verdict, "verdicts", EVENTS)
    assert until(lambda: heard and heard[-1]["revision"] == 0), world.logs()
    world.succeed("pick")
    doorbell.publish(msg.Verdict())
    assert until(lambda: heard[-1]["holding"] == "red_block"), world.logs()
    world.ask(Trigger, "reset")
    assert until(lambda: heard[-1]["holding"] is None), world.logs()
    onlooker.destroy_subscription(subscription)
    onlooker.destroy_publisher(doorbell)


def test_a_killed_scene_graph_answers_the_same_after_a_restart(world: SceneWorld) -> None:
    world.succeed("stow")
    world.succeed("close")
    before = world.ask(srv.GetSceneBrief, "brief")
    world.nodes.kill("scene_graph")
    world.succeed("pick", target="blue_block")
    world.start()
    after = world.ask(srv.GetSceneBrief, "brief")
    assert after.revision == before.revision + 1 == 3
    assert "inside drawer (closed): red_block" in after.brief
    assert "robot holds: blue_block" in after.brief


def test_a_ledger_that_cannot_be_read_is_said_and_ends_nothing(world: SceneWorld) -> None:
    with sqlite3.connect(world.nodes.ledger) as database:
        database.execute("ALTER TABLE scene_event RENAME TO hidden")
    answer = world.ask(srv.GetRelations, "relations")
    assert not answer.found
    assert "no such table" in answer.reason
    assert not world.ask(srv.GetSceneImage, "image", ref="red_block").found
    assert "could not be read" in world.ask(srv.GetSceneBrief, "brief").brief
    assert not world.ask(Trigger, "reset").success
    with sqlite3.connect(world.nodes.ledger) as database:
        database.execute("ALTER TABLE hidden RENAME TO scene_event")
    assert world.ask(srv.GetRelations, "relations").found
    assert world.alive()


def test_a_verdict_that_is_no_message_ends_nothing(world: SceneWorld, onlooker: Node) -> None:
    doorbell = onlooker.create_publisher(msg.Verdict, "verdicts", EVENTS)
    assert until(lambda: onlooker.count_subscribers(f"{NAMESPACE}/verdicts") > 0)
    doorbell.publish(b"\x00\x01\x00\x00rubbish")
    assert world.ask(srv.GetRelations, "relations").found
    assert world.alive()
    onlooker.destroy_publisher(doorbell)


def test_the_scene_graph_says_on_diagnostics_what_did_not_fit(
    world: SceneWorld, onlooker: Node
) -> None:
    levels: list[tuple[str, bytes, str]] = []

    def keep(message: DiagnosticArray) -> None:
        levels.extend((item.name, item.level, item.message) for item in message.status)

    subscription = onlooker.create_subscription(DiagnosticArray, "/diagnostics", keep, 10)
    name = f"{NAMESPACE}/scene_graph: scene"
    assert until(lambda: (name, b"\x00", "every success fits the scene graph") in levels)
    world.succeed("close")
    world.succeed("stow")
    assert until(lambda: any(n == name and level == b"\x01" for n, level, _ in levels)), levels
    assert "'red_block' would be put into 'drawer', which is closed" in levels[-1][2]
    onlooker.destroy_subscription(subscription)
