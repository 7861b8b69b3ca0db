# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A tabletop to play with, and short ways to run its tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import harness_ros.sim  # noqa: F401  chooses how MuJoCo renders, before mujoco is imported

pytest.importorskip("mujoco", reason="the tabletop needs MuJoCo: pip install 'harness_ros[sim]'")

from harness_ros.sim.cameras import Cameras
from harness_ros.sim.errors import RenderingError
from harness_ros.sim.faults import Fault
from harness_ros.sim.tools import TOOLS, BackendReport, finish
from harness_ros.sim.world import Tabletop

RunTool = Callable[..., BackendReport]


@pytest.fixture
def world() -> Tabletop:
    return Tabletop(seed=3)


@pytest.fixture
def run(world: Tabletop) -> RunTool:
    """Runs one execution of a tool, then lets 0.2 s pass."""

    def run_tool(tool: str, fault: Fault | None = None, **arguments: str) -> BackendReport:
        function, model = TOOLS[tool]
        report = finish(world, function(world, model(**arguments), fault))
        world.step(0.2)
        return report

    return run_tool


@pytest.fixture
def cameras(world: Tabletop) -> Iterator[Cameras]:
    cameras = Cameras(world)
    try:
        cameras.render("wrist")
    except RenderingError as error:
        pytest.skip(str(error))
    yield cameras
    cameras.close()
