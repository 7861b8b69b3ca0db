# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The physical tools when nothing goes wrong, and when they are stopped."""

from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from harness_ros.sim import truth
from harness_ros.sim.geometry import BLOCKS, GEOMETRY
from harness_ros.sim.tools import (
    PUSH_SEGMENTS,
    TICK_S,
    PickArguments,
    PlaceArguments,
    PushArguments,
    pick,
)
from harness_ros.sim.world import Tabletop

ZONE_OF = dict(zip(BLOCKS, ("left_zone", "left_zone", "right_zone", "right_zone"), strict=True))


@pytest.mark.parametrize("block", BLOCKS)
def test_a_picked_block_is_held_clear_of_the_table(world: Tabletop, run, block: str) -> None:
    assert run("pick", target=block).success
    assert truth.holds(world, "pick", {"target": block})
    assert world.gripper_width == pytest.approx(GEOMETRY.block, abs=0.003)
    assert world.gripper_force > 6.0


@pytest.mark.parametrize("destination", ["bin", "left_zone", "right_zone"])
def test_a_placed_block_is_where_it_was_meant_to_be(world: Tabletop, run, destination: str) -> None:
    run("pick", target="green_block")
    assert run("place", target="green_block", destination=destination).success
    arguments = {"target": "green_block", "destination": destination}
    assert truth.holds(world, "place", arguments)
    assert not truth.holds(world, "pick", arguments)


def test_a_block_can_be_taken_out_of_the_bin_again(world: Tabletop, run) -> None:
    run("pick", target="red_block")
    run("place", target="red_block", destination="bin")
    run("pick", target="red_block")
    assert truth.holds(world, "pick", {"target": "red_block"})


def test_the_bin_takes_three_blocks(world: Tabletop, run) -> None:
    for block in BLOCKS[:3]:
        run("pick", target=block)
        run("place", target=block, destination="bin")
    for block in BLOCKS[:3]:
        assert truth.holds(world, "place", {"target": block, "destination": "bin"})


def test_a_block_is_not_put_on_top_of_another(world: Tabletop, run) -> None:
    for block in BLOCKS[:2]:
        run("pick", target=block)
        report = run("place", target=block, destination="left_zone")
    assert not report.success
    assert "no room" in report.message
    assert truth.is_held(world, BLOCKS[1])


@pytest.mark.parametrize("block", BLOCKS)
def test_a_push_progresses_and_arrives_within_its_segments(
    world: Tabletop, run, block: str
) -> None:
    arguments = {"target": block, "zone": ZONE_OF[block]}
    segments = 0
    while not truth.holds(world, "push", arguments):
        before = world.position(block)
        assert run("push", **arguments).success
        segments += 1
        assert segments <= PUSH_SEGMENTS
        assert math.dist(world.position(block), before) < 0.065
        arrived = truth.holds(world, "push", arguments)
        assert arrived != truth.progress(world, before, arguments)
    assert segments >= 2
    assert truth.margin(world, block, ZONE_OF[block]) > 0.02


def test_the_gripper_ends_at_home_where_it_leaves_the_table_in_view(world: Tabletop, run) -> None:
    for tool, arguments in (
        ("pick", {"target": "red_block"}),
        ("place", {"target": "red_block", "destination": "bin"}),
        ("push", {"target": "blue_block", "zone": "right_zone"}),
    ):
        run(tool, **arguments)
        assert math.dist(world.tip, GEOMETRY.home) < 0.002
        assert world.at_rest()


def test_a_pick_with_a_block_in_the_hand_puts_that_one_aside_first(world: Tabletop, run) -> None:
    run("pick", target="red_block")
    run("pick", target="blue_block")
    assert truth.is_held(world, "blue_block")
    assert world.on_table("red_block")
    assert world.position("red_block")[2] == pytest.approx(GEOMETRY.block / 2, abs=0.002)


def test_progress_of_the_stages_only_grows(world: Tabletop) -> None:
    stages = []
    for stage in pick(world, PickArguments(target="red_block")):
        stages.append(stage)
        world.step(TICK_S)
    assert [s.progress for s in stages] == sorted(s.progress for s in stages)
    names = list(dict.fromkeys(s.name for s in stages))
    assert names == ["approach", "descend", "close", "lift", "present", "settle"]


def test_a_closed_tool_stops_the_gantry_where_it_is(world: Tabletop) -> None:
    tool = pick(world, PickArguments(target="red_block"))
    for _ in range(30):
        next(tool)
        world.step(TICK_S)
    tool.close()
    world.step(0.3)
    stopped = world.tip
    world.step(0.5)
    assert math.dist(stopped, world.tip) < 0.001
    assert math.dist(stopped, GEOMETRY.home) > 0.01


@pytest.mark.parametrize(
    ("model", "arguments"),
    [
        (PickArguments, {"target": "table"}),
        (PlaceArguments, {"target": "red_block", "destination": "floor"}),
        (PushArguments, {"target": "red_block", "zone": "bin"}),
        (PickArguments, {"target": "red_block", "force": 100}),
    ],
)
def test_arguments_that_name_nothing_on_the_table_are_refused(model, arguments) -> None:
    with pytest.raises(ValidationError):
        model(**arguments)
