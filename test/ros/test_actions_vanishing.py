# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tools, planners and gateways that vanish while a call is on its way.

The gateway follows a simulated clock that nobody publishes: no deadline may depend on it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from conftest import Chain, cancel, ended, spinning, until
from mortals import Mortals
from planner import Planner, config_with
from processes import Nodes
from raw_tool import STARTED, Gate, RawTool
from rclpy.executors import MultiThreadedExecutor
from robot import Target

from harness_ros.contract import ExitCode, Kind, Status
from harness_ros.ros.client import HarnessUnavailable
from harness_ros.ros.deployment import PROFILE_VARIABLE, fastdds_profile
from harness_ros.ros.tool_server import BackendResult, RunHandle

TIMEOUT_S = 90.0
"""Of every tool here: no call waits for it."""
SERVER_TIMEOUT_S = 3.0
CANCEL_TIMEOUT_S = 1.0
WAIT_S = 60.0
FATES = {
    "asked": "dies_when_asked",
    "working": "works",
    "cancelled": "dies_when_cancelled",
    "finished": "dies_after_finished",
    "restarted": "works",
}
"""Tools with a process of their own."""


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    folder = tmp_path_factory.mktemp("vanishing")
    config = config_with(
        folder,
        {name: {"timeout_s": TIMEOUT_S} for name in (*FATES, "leaving", "twofold")},
        judges={"deterministic": {"type": "deterministic", "timeout_s": 30.0}},
    )
    gateway = {
        "server_timeout_s": SERVER_TIMEOUT_S,
        "cancel_timeout_s": CANCEL_TIMEOUT_S,
        "use_sim_time": True,
    }
    made = Nodes(folder, config, {"tool_gateway": gateway})
    yield made
    made.stop_all()


@pytest.fixture(scope="module")
def mortals(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mortals]:
    made = Mortals(tmp_path_factory.mktemp("mortals"))
    for tool, fate in FATES.items():
        made.start(f"{tool}_arm", tool, fate)
    yield made
    made.end()


class Fates:
    """How the calls of this module end; all of them run at the same time."""

    def __init__(self, planner: Planner, mortals: Mortals) -> None:
        self._planner = planner
        self._mortals = mortals

    def asked(self) -> Any:
        return ended(self._start("asked"), WAIT_S)

    def working(self) -> Any:
        handle = self._working("working")
        self._mortals.kill("working_arm")
        return ended(handle, WAIT_S)

    def leaving(self) -> Any:
        gate = Gate()
        with spinning("leaving_arm", MultiThreadedExecutor) as arm:
            tool = RawTool(arm, "leaving")

            def execute(goal: Any) -> Any:
                tool.announce(goal, [STARTED])
                gate.pass_through()
                return tool.result(goal)

            tool.execute = execute
            handle = self._planner.start("leaving")
            assert gate.reached.wait(10.0)
        try:
            return ended(handle, WAIT_S)
        finally:
            gate.open.set()

    def cancelled(self) -> Any:
        handle = self._working("cancelled")
        cancel(handle)
        return ended(handle, WAIT_S)

    def finished(self) -> Any:
        return ended(self._start("finished"), WAIT_S)

    def restarted(self) -> Any:
        handle = self._working("restarted")
        self._mortals.kill("restarted_arm")
        self._mortals.start("restarted_arm", "restarted", "succeeds_at_once")
        return ended(handle, WAIT_S)

    def _start(self, tool: str) -> Any:
        assert self._planner.node.wait_for_node(f"/harness/{tool}_arm", 20.0)
        return self._planner.start(tool)

    def _working(self, tool: str) -> Any:
        handle = self._start(tool)
        if not until(lambda: self._planner.runs_of(tool)):
            reason = ended(handle, WAIT_S).result.verdict.failure_reason
            raise AssertionError(f"{reason}\n{self._mortals.log()}")
        return handle


@pytest.fixture(scope="module")
def fates(mortals: Mortals, started: Chain, planner: Planner) -> dict[str, tuple[Any, float]]:
    """Status and result of each call, and the seconds that it took."""
    names = [*FATES, "leaving"]
    made = Fates(planner, mortals)

    def call(name: str) -> tuple[Any, float]:
        begun = time.monotonic()
        return getattr(made, name)(), time.monotonic() - begun

    with ThreadPoolExecutor(len(names)) as callers:
        return dict(zip(names, callers.map(call, names), strict=True))


@pytest.mark.parametrize(
    ("tool", "kind", "words"),
    [
        ("working", Kind.INTERRUPTED, "(/harness/working_arm) was gone for 3 s"),
        ("leaving", Kind.INTERRUPTED, "was gone for 3 s"),
        ("cancelled", Kind.INTERRUPTED, "not within 1 s after it was asked to cancel"),
        ("restarted", Kind.INTERRUPTED, "which it had accepted: it was restarted"),
    ],
)
def test_tool_that_vanishes_while_it_works_leaves_a_run_that_is_told(
    started: Chain, fates: Any, tool: str, kind: Kind, words: str
) -> None:
    answer, took_s = fates[tool]
    result = answer.result
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert (result.exit_code, result.verdict.kind) == (ExitCode.UNJUDGED, kind.value), (
        result.verdict.failure_reason
    )
    assert words in result.verdict.failure_reason
    assert words in result.backend_message
    (run_id,) = result.run_ids
    assert result.verdict.run_id == run_id
    assert result.verdict.header.stamp.sec == 0  # nobody publishes the clock of the gateway
    # The evaluator waits for the end of this run still; a verdict it will have.
    assert started.harness.get_verdict(run_id, timeout_s=0.0) is None
    assert "waiting for the tool to end" in result.verdict.failure_reason
    # Nobody waits for the time of the tool, nor for a verdict that cannot come (36 s).
    assert took_s < 30.0


def test_tool_that_dies_before_it_answers_the_goal_has_no_run(fates: Any) -> None:
    result = fates["asked"][0].result
    assert (result.exit_code, result.verdict.kind) == (
        ExitCode.UNJUDGED,
        Kind.MISSING_RUN_ID.value,
    )
    assert "did not answer a goal in 3 s" in result.verdict.failure_reason
    assert list(result.run_ids) == []


def test_verdict_counts_where_the_tool_dies_before_its_result(started: Chain, fates: Any) -> None:
    answer, _ = fates["finished"]
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert answer.result.exit_code == ExitCode.SUCCESS
    assert "gave no result" in answer.result.backend_message
    verdict = started.harness.get_verdict(answer.result.run_ids[0])
    assert verdict is not None
    assert verdict.status is Status.SUCCESS


def test_tool_that_came_back_under_its_name_takes_the_next_call(chain: Chain, fates: Any) -> None:
    assert fates["restarted"][0].result.exit_code == ExitCode.UNJUDGED
    outcome = chain.call("restarted")
    assert outcome.exit_code is ExitCode.SUCCESS, (outcome, chain.logs())


def test_two_servers_of_one_tool_are_an_error_that_names_both_nodes(
    chain: Chain, planner: Planner
) -> None:
    with spinning("left_arm", MultiThreadedExecutor) as left:
        servers = [RawTool(left, "twofold")]
        reasons = []
        with spinning("right_arm", MultiThreadedExecutor) as right:
            servers.append(RawTool(right, "twofold"))

            def refused() -> bool:
                # The gateway may hear of the second server later than this process does.
                result = planner.run("twofold").result
                reasons.append(result.verdict.failure_reason)
                return bool(result.verdict.kind == Kind.MISSING_RUN_ID.value)

            assert until(refused)
        assert "/harness/left_arm and /harness/right_arm" in reasons[-1]
        assert sum(len(server.goals) for server in servers) == len(reasons) - 1
        assert planner.run("twofold").result.exit_code == ExitCode.SUCCESS


PLANNER = """
from harness_ros.ros.client import HarnessClient

with HarnessClient(node_name="mortal_planner") as harness:
    harness.run_tool("pick", {"target": "red_block"})
"""


class Held:
    """What `pick` does here: works until the test lets it end."""

    def __init__(self, chain: Chain) -> None:
        self.runs: list[str] = []
        self.let_go = threading.Event()
        self.cancelled = False
        chain.robot.behaviour["pick"] = self._work

    def _work(self, _: Target, run: RunHandle) -> BackendResult:
        self.runs.append(run.run_id)
        assert self.let_go.wait(30.0)
        self.cancelled = run.cancelled
        return BackendResult(success=True)


def test_run_of_a_planner_that_was_killed_gets_its_verdict(chain: Chain) -> None:
    held = Held(chain)
    profile = str(fastdds_profile("tool_gateway"))
    planner = subprocess.Popen(
        [sys.executable, "-c", PLANNER], env={**os.environ, PROFILE_VARIABLE: profile}
    )
    try:
        assert until(lambda: held.runs, 20.0)
    finally:
        planner.kill()
        planner.wait(5.0)
    held.let_go.set()
    verdict = chain.harness.get_verdict(held.runs[0])
    assert verdict is not None
    assert verdict.status is Status.SUCCESS
    assert not held.cancelled
    assert chain.call().succeeded


def test_planner_hears_that_the_gateway_was_restarted_and_the_run_gets_its_verdict(
    chain: Chain,
) -> None:
    held = Held(chain)
    with ThreadPoolExecutor(1) as caller:
        call = caller.submit(chain.call)
        assert until(lambda: held.runs)
        chain.nodes.kill("tool_gateway")
        chain.nodes.start("tool_gateway")
        with pytest.raises(HarnessUnavailable, match="was restarted"):
            call.result(30.0)
    held.let_go.set()
    verdict = chain.harness.get_verdict(held.runs[0])
    assert verdict is not None
    assert verdict.status is Status.SUCCESS
