# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The launch files with the real `launch`, where a ROS installation brings it."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from harness_ros.contract import ExitCode
from harness_ros.ros.client import HarnessClient
from harness_ros.ros.deployment import share_folder

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("launch_ros") is None, reason="launch is not installed"
)

LAUNCH_FILES = ("eval.launch.py", "demo.launch.py", "replay.launch.py")


@pytest.mark.parametrize("name", LAUNCH_FILES)
def test_every_launch_argument_is_described_and_has_a_default(name: str) -> None:
    from launch.launch_description_sources import get_launch_description_from_python_launch_file

    path = share_folder() / "launch" / name
    description = get_launch_description_from_python_launch_file(str(path))
    arguments = description.get_launch_arguments()
    assert {
        *("config", "namespace", "use_sim_time", "judge", "log_level", "shm_profile", "rviz"),
    } <= {argument.name for argument in arguments}
    for argument in arguments:
        assert len(argument.description) > 20, argument.name
        assert argument.default_value is not None, argument.name


@pytest.mark.parametrize(("wanted", "installed"), [(False, True), (True, True), (True, False)])
def test_rviz_starts_where_it_is_wanted_and_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: bool, installed: bool
) -> None:
    from launch.actions import LogInfo
    from launch_ros.actions import Node

    from harness_ros.ros.launching import common_arguments, describe
    from launch import LaunchContext

    if installed:
        index = tmp_path / "share" / "ament_index" / "resource_index" / "packages"
        index.mkdir(parents=True)
        (index / "rviz2").touch()
    # Nothing but this package, and the other where it is wanted.
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{share_folder().parents[1]}:{tmp_path}")
    context = LaunchContext()
    arguments = common_arguments("eval.yaml", use_sim_time=False)
    for argument in arguments:
        argument.execute(context)
    context.launch_configurations["rviz"] = str(wanted).lower()
    actions = describe(arguments, lambda _: []).entities[-1].execute(context)
    assert [type(action) for action in actions] == ([Node] if installed else [LogInfo]) * wanted


def test_demo_launch_runs_a_tool_to_its_verdict_and_ends_on_ctrl_c(tmp_path: Path) -> None:
    log = tmp_path / "launch.log"
    with log.open("wb") as output:
        launch = subprocess.Popen(
            [
                "ros2",
                "launch",
                "harness_ros",
                "demo.launch.py",
                "namespace:=/lab",
                "speed:=3.0",
                "seed:=0",
                f"ledger:={tmp_path / '0483'}",
                f"truth:={tmp_path / '123E5'}",
            ],
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "ROS_LOG_DIR": str(tmp_path / "log")},
        )
    try:
        with HarnessClient(namespace="/lab", server_timeout_s=30.0) as harness:
            outcome = harness.run_tool("pick", {"target": "red_block"}, timeout_s=60.0)
        assert outcome.exit_code in (ExitCode.SUCCESS, ExitCode.FAILURE), log.read_text()
        assert "0483" in {path.name for path in tmp_path.iterdir()}
    finally:
        os.killpg(launch.pid, signal.SIGINT)
        deadline = time.monotonic() + 20.0
        while launch.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        if launch.poll() is None:
            os.killpg(launch.pid, signal.SIGKILL)
            raise AssertionError(f"launch did not end on Ctrl-C: {log.read_text()}")
    assert log.read_text().count("process has finished cleanly") == 5, log.read_text()
