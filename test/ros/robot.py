# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot for the tests: real topics and real action servers, a world that the test draws."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
import rclpy
from pydantic import BaseModel
from rclpy.context import Context
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import Image, JointState

from harness_ros.ros.tool_server import BackendResult, RunHandle, ToolServer

RATE_HZ = 25.0
SIZE = (240, 320)


class Target(BaseModel):
    target: str


def marker_image(marker: int, x: float, y: float, side: int = 72) -> np.ndarray:
    """rgb8 (240, 320, 3) with one AprilTag, its centre at fractions of width and height."""
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11)
    tag = cv2.copyMakeBorder(
        cv2.aruco.generateImageMarker(dictionary, marker, side),
        10,
        10,
        10,
        10,
        cv2.BORDER_CONSTANT,
        value=255,
    )
    image = np.full((*SIZE, 3), 120, np.uint8)
    top, left = int(y * SIZE[0]) - tag.shape[0] // 2, int(x * SIZE[1]) - tag.shape[1] // 2
    image[top : top + tag.shape[0], left : left + tag.shape[1]] = tag[:, :, None]
    return image


class Robot:
    """Publishes two cameras and a gripper at 25 Hz; tools do what the test says."""

    def __init__(self) -> None:
        self.views: dict[str, np.ndarray] = {}
        self.width = 0.0
        self.silent: set[str] = set()
        """Topics that have stopped: front, top, gripper."""
        self.stamp_offset_s = 0.0
        self.behaviour: dict[str, Callable[[Target, RunHandle], Any]] = {}
        """What each tool does; may return what it likes."""
        self.reset()
        self._context = Context()
        rclpy.init(context=self._context)
        self.node = Node("robot", namespace="/harness", context=self._context)
        self._images = {
            name: self.node.create_publisher(Image, f"/robot/{name}/image_raw", 10)
            for name in self.views
        }
        self._gripper = self.node.create_publisher(JointState, "/robot/gripper", 10)
        self.servers = {name: self._tool(name) for name in self.behaviour}
        self.node.create_timer(1.0 / RATE_HZ, self._publish)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._executor.spin, daemon=True)
        self._thread.start()

    def reset(self) -> None:
        """Held and lying in the left half is the red block; all is published; tools do nothing."""
        self.views = {"front": marker_image(1, 0.5, 0.25), "top": marker_image(1, 0.25, 0.5)}
        self.width = 0.05
        self.silent = set()
        self.stamp_offset_s = 0.0
        self.behaviour = {name: self.done for name in ("pick", "push")}

    @staticmethod
    def done(_: Target, __: RunHandle) -> Any:
        return BackendResult(success=True, message="motion finished")

    def _tool(self, name: str) -> ToolServer[Target]:
        return ToolServer(
            self.node, name, Target, lambda arguments, run: self.behaviour[name](arguments, run)
        )

    def camera_subscribers(self) -> int:
        return sum(self.node.count_subscribers(p.topic_name) for p in self._images.values())

    def close(self) -> None:
        self._executor.shutdown(timeout_sec=2.0)
        self._thread.join(timeout=5)
        # A server that nobody ends answers to wait_for_server of the next module.
        for server in self.servers.values():
            server.destroy()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def _publish(self) -> None:
        now = self.node.get_clock().now() + Duration(seconds=self.stamp_offset_s)
        stamp = now.to_msg()
        for name, image in self.views.items():
            if name in self.silent:
                continue
            message = Image(height=SIZE[0], width=SIZE[1], encoding="rgb8", step=SIZE[1] * 3)
            message.header.stamp = stamp
            message.header.frame_id = name
            message.data.frombytes(image.tobytes())
            self._images[name].publish(message)
        if "gripper" not in self.silent:
            state = JointState(name=["gripper"], position=[self.width], effort=[1.0])
            state.header.stamp = stamp
            self._gripper.publish(state)
