# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The tabletop as physics."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from harness_ros.sim.geometry import BLOCKS, GEOMETRY
from harness_ros.sim.world import Tabletop


def test_time_passes_in_whole_physics_steps_and_loses_nothing(world: Tabletop) -> None:
    for _ in range(1000):
        world.step(0.0007)
    assert world.time_s == pytest.approx(0.7, abs=GEOMETRY.timestep)
    assert world.time_ns == round(world.time_s * 1e9)


def test_same_seed_gives_the_same_physics_step_by_step() -> None:
    one, two = Tabletop(7), Tabletop(7)
    for world in (one, two):
        world.command_tip((0.07, -0.10, 0.05))
        world.step(1.0)
    assert np.array_equal(one.data.qpos, two.data.qpos)
    assert np.array_equal(one.data.qvel, two.data.qvel)


def test_another_seed_puts_the_blocks_elsewhere() -> None:
    assert Tabletop(0).position("red_block") != Tabletop(1).position("red_block")


@pytest.mark.parametrize("seed", range(10))
def test_blocks_start_apart_from_each_other_and_at_rest(seed: int) -> None:
    world = Tabletop(seed)
    before = {block: world.position(block) for block in BLOCKS}
    for a, b in itertools.combinations(before.values(), 2):
        assert math.dist(a, b) > GEOMETRY.block * math.sqrt(2)
    world.step(0.5)
    assert world.at_rest()
    for block in BLOCKS:
        assert math.dist(world.position(block), before[block]) < 0.001


def test_the_gripper_starts_open_and_without_force(world: Tabletop) -> None:
    world.step(0.1)
    assert world.gripper_width == pytest.approx(GEOMETRY.open_width, abs=0.002)
    assert world.gripper_force < 0.5


def test_a_gripper_closed_on_nothing_has_no_width_and_no_force(world: Tabletop) -> None:
    world.command_width(0.0)
    world.step(1.0)
    assert world.gripper_width < 0.002
    assert world.gripper_force < 0.5


def test_a_block_pushed_over_the_edge_lies_on_the_floor_and_is_remembered_on_the_table(
    world: Tabletop,
) -> None:
    first = world.model.joint("red_block").qposadr[0]
    world.data.qpos[first : first + 3] = (0.0, GEOMETRY.table_y[0] - 0.03, 0.025)
    world.step(0.02)
    world.step(1.5)
    assert not world.on_table("red_block")
    assert world.position("red_block")[2] < GEOMETRY.floor_z + 0.1
    assert world.last_seen("red_block")[2] > 0.0


def test_friction_is_back_after_a_while(world: Tabletop) -> None:
    geom = world.model.geom("red_block").id
    with world.friction("red_block", 0.05):
        assert world.model.geom_friction[geom][0] == 0.05
    assert world.model.geom_friction[geom][0] == GEOMETRY.block_friction
