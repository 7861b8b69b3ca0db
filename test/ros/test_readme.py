# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The page "Connect your robot" of the README, as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import rclpy
from processes import Nodes
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import Image

README = Path(__file__).parents[2] / "README.md"


def block(file: str) -> str:
    """The code block that follows the first mention of a file's name."""
    text = README.read_text(encoding="utf-8")
    after = text[text.index(f"`{file}`") :]
    found = re.search(r"```\w+\n(.*?)```", after, re.DOTALL)
    assert found is not None
    return found[1]


class Camera:
    """A workbench camera: a red cup on one side of a grey picture."""

    def __init__(self) -> None:
        self.cup_on_tray = False
        self._context = Context()
        rclpy.init(context=self._context)
        self._node = Node("camera", context=self._context)
        self._publisher = self._node.create_publisher(Image, "/camera/color/image_raw", 10)
        self._node.create_timer(0.05, self._publish)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._executor.spin, daemon=True)
        self._thread.start()

    def _publish(self) -> None:
        image = np.full((240, 320, 3), 150, np.uint8)
        left = 220 if self.cup_on_tray else 40
        image[100:160, left : left + 50] = (210, 20, 20)
        message = Image(height=240, width=320, encoding="rgb8", step=960)
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.data.frombytes(image.tobytes())
        self._publisher.publish(message)

    def close(self) -> None:
        self._executor.shutdown(timeout_sec=2.0)
        self._thread.join(timeout=5.0)
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)


@pytest.fixture
def camera(tmp_path: Path) -> Iterator[Camera]:
    made = Camera()
    for file in ("eval.yaml", "my_robot.py", "planner.py"):
        (tmp_path / file).write_text(block(file), encoding="utf-8")
    nodes = Nodes(tmp_path, tmp_path / "eval.yaml")
    for executable in ("evaluator", "judge_deterministic", "scene_graph", "tool_gateway"):
        nodes.start(executable)
    robot = subprocess.Popen([sys.executable, str(tmp_path / "my_robot.py")])
    yield made
    robot.terminate()
    robot.wait(10)
    nodes.stop_all()
    made.close()


def run_planner(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(folder / "planner.py")], capture_output=True, text=True, timeout=60
    )


def test_readme_page_runs_as_it_stands(camera: Camera, tmp_path: Path) -> None:
    failed = run_planner(tmp_path)
    assert failed.returncode == 1, (failed, (tmp_path / "evaluator.log").read_text())
    assert "backend says: True" in failed.stdout
    assert "verdict: FAILURE red_cup is not on the tray" in failed.stdout
    assert "on table: red_cup" in failed.stdout

    camera.cup_on_tray = True
    succeeded = run_planner(tmp_path)
    assert succeeded.returncode == 0, succeeded
    assert "verdict: SUCCESS" in succeeded.stdout
    assert "on tray: red_cup" in succeeded.stdout
