# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The scene graph as a process, beside a ledger that the test writes as the evaluator would."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from processes import NAMESPACE, Nodes
from rclpy.node import Node

from harness_ros.contract import Observation, Status, Verdict, View
from harness_ros.ledger import Ledger
from harness_ros.ros.threads import wait

TOOL = {
    "post_condition": "the world is as wanted",
    "judge": "deterministic",
    "cameras": ["front"],
    "criterion": {"success": {"marker": {"view": "front", "id": 1}}},
    "arguments": {"target": {"one_of": ["red_block", "blue_block"]}},
}
EVERYWHERE = [["holding", "robot", "*"], ["on", "{target}", "*"], ["inside", "{target}", "*"]]
CONFIG: dict[str, Any] = {
    "version": 1,
    "cameras": {"front": {"topic": "/front"}},
    "judges": {"deterministic": {}},
    "objects": {
        "red_block": {"pose": [0.1, 0.0, 0.025]},
        "blue_block": {},
        "drawer": {"container": True},
    },
    "tools": {
        "pick": {
            **TOOL,
            "effects": {"delete": EVERYWHERE, "add": [["holding", "robot", "{target}"]]},
        },
        "stow": {
            **TOOL,
            "effects": {"delete": EVERYWHERE, "add": [["inside", "{target}", "drawer"]]},
        },
        "close": {**TOOL, "arguments": {}, "effects": {"state": {"drawer": "closed"}}},
    },
    "scene": {
        "relations": [["on", "red_block", "table"], ["on", "blue_block", "table"]],
        "states": {"drawer": "open"},
    },
}


class SceneWorld:
    """A scene graph node, its ledger, and a client of its services."""

    def __init__(self, folder: Path, onlooker: Node, **scene: Any) -> None:
        config = folder / "eval.yaml"
        config.write_text(yaml.safe_dump({**CONFIG, "scene": {**CONFIG["scene"], **scene}}))
        self.node = onlooker
        self.nodes = Nodes(folder, config)
        self.ledger = Ledger(self.nodes.ledger)
        self._runs = 0

    def start(self) -> None:
        self.nodes.start("scene_graph")

    def logs(self) -> str:
        return self.nodes.running["scene_graph"].text()

    def alive(self) -> bool:
        return self.nodes.running["scene_graph"].process.poll() is None

    def now_ns(self) -> int:
        return int(self.node.get_clock().now().nanoseconds)

    def succeed(self, tool: str, target: str = "red_block", views: tuple[View, ...] = ()) -> str:
        """Records a success as the evaluator does; no message announces it."""
        self._runs += 1
        run_id = f"run-{self._runs}"
        stamp_ns = self.now_ns()
        verdict = Verdict(
            run_id=run_id,
            call_id=run_id,
            tool_name=tool,
            arguments={} if tool == "close" else {"target": target},
            segment=1,
            status=Status.SUCCESS,
            evidence=(f"measured in {run_id}",),
            given_at_ns=stamp_ns,
            observed_at_ns=stamp_ns,
        )
        self.ledger.record_verdict(verdict)
        if views:
            seen = Observation(run_id=run_id, captured_at_ns=stamp_ns, views=views)
            self.ledger.record_observation(seen, views_kept=500)
        return run_id

    def ask(self, service_type: Any, name: str, **fields: Any) -> Any:
        """The answer of a service of the scene graph.

        It is asked again after a while: discovery remembers a killed node for some seconds, and
        what that one was asked nobody answers.
        """
        for _ in range(6):
            client = self.node.create_client(service_type, f"{NAMESPACE}/scene/{name}")
            try:
                assert client.wait_for_service(20.0), f"no scene/{name}: {self.logs()}"
                future = client.call_async(service_type.Request(**fields))
                if wait(future, 5.0):
                    return future.result()
            finally:
                self.node.destroy_client(client)
        raise AssertionError(f"scene/{name} did not answer: {self.logs()}")

    def close(self) -> None:
        self.nodes.stop_all()
        self.ledger.close()


@contextmanager
def scene_world(folder: Path, onlooker: Node, **scene: Any) -> Iterator[SceneWorld]:
    """A running scene graph; `scene` is put into that section of the configuration."""
    world = SceneWorld(folder, onlooker, **scene)
    world.start()
    try:
        yield world
    finally:
        world.close()


def picture(name: str, height: int = 2, width: int = 2) -> View:
    """A grey image."""
    return View(
        name=name,
        stamp_ns=time.time_ns(),
        frame_id=name,
        height=height,
        width=width,
        encoding="rgb8",
        step=width * 3,
        is_bigendian=False,
        data=bytes([119]) * (height * width * 3),
        topic=f"/{name}",
    )
