# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which action servers there are, and whether one of them can be given a goal."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any

from action_msgs.msg import GoalInfo
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.node import Node
from rclpy.task import Future

from harness_ros.contract import HarnessError
from harness_ros.ros.threads import ExecutorStopped, in_executor

POLL_S = 0.02
PROBE_S = 0.25
"""How often a server that has not answered yet is asked."""
FORGOTTEN_S = 25.0
"""Fast DDS lists a killed process for 20 s more; its successor of the same name waits for that."""
UNNAMED = "a node whose name is not known yet"


class GoalError(HarnessError):
    """A goal that came to no result."""


class NoServer(GoalError):
    """There is no action server that answers, or more than one."""


class Stopped(GoalError):
    """Whoever waited no longer does."""


class Servers:
    """The servers of one action, as its client sees them.

    Args:
        node: in an executor of one thread (see `in_executor`).
        client: of the action.
        name: of the action, resolved.
    """

    def __init__(self, node: Node, client: ActionClient, name: str) -> None:
        self._node = node
        self._client = client
        self._name = name
        self._answering: bytes | None = None
        """Endpoint of the server that has answered something."""

    def endpoints(self) -> dict[bytes, str]:
        """The full name of the node of each server, by its endpoint on the status topic."""
        return {
            bytes(info.endpoint_gid): _full_name(info.node_namespace, info.node_name)
            for info in self._node.get_publishers_info_by_topic(f"{self._name}/_action/status")
        }

    def await_one(self, timeout_s: float, stop: Callable[[], bool]) -> None:
        """Waits until there is one server and no other, and it answers.

        Two servers of one name would both do what a goal says (rclpy#1057). Two of one node name
        are waited for up to `FORGOTTEN_S`: mostly the first was killed and the second is its
        successor. And a new server is asked something harmless first: it may take a goal before it
        has found this client, and then nobody hears that it did.

        Raises:
            NoServer: there is none, more than one, or one that does not answer; names the nodes.
            Stopped: `stop` said so.
        """
        begun = changed = time.monotonic()
        known: set[bytes] = set()
        probe = _Probe(self._node, self._client)
        while True:
            endpoints = self.endpoints()
            now = time.monotonic()
            if endpoints.keys() != known:
                known, changed = set(endpoints), now
            if len(endpoints) == self._takers(endpoints) == 1 and self._client.server_is_ready():
                (endpoint,) = endpoints
                if endpoint == self._answering or probe.answered():
                    self._answering = endpoint
                    return
            names = sorted(endpoints.values())
            successor = len(names) > 1 and len(set(names)) == 1
            patience_s = max(timeout_s, FORGOTTEN_S) if successor else timeout_s
            if now - changed >= patience_s or now - begun >= timeout_s + FORGOTTEN_S:
                raise NoServer(self._what_is_wrong(names, patience_s))
            if stop():
                raise Stopped(f"nobody waits for the action server {self._name} any longer")
            time.sleep(POLL_S)

    def _takers(self, endpoints: Collection[bytes]) -> int:
        """How many would take a goal: a server's goal service is seen before its status topic."""
        if not hasattr(self._node, "count_services"):  # Humble
            return len(endpoints)
        return int(self._node.count_services(f"{self._name}/_action/send_goal"))

    def _what_is_wrong(self, names: list[str], waited_s: float) -> str:
        if not names:
            return f"no action server {self._name} within {waited_s:g} s"
        if len(names) == 1:
            return f"the action server {self._name} ({names[0]}) answers nothing for {waited_s:g} s"
        return (
            f"{len(names)} action servers {self._name}, in the nodes {' and '.join(names)}: each "
            "would do what a goal says. One must go; a killed process is listed for some seconds "
            "more"
        )


class _Probe:
    """Asks a server for the result of a goal that does not exist, until it answers."""

    def __init__(self, node: Node, client: ActionClient) -> None:
        self._node = node
        self._client = client
        self._asked: list[Future] = []
        self._asked_at = -PROBE_S

    def answered(self) -> bool:
        """Whether it has; asks (again) where it has not."""
        if any(future.done() for future in self._asked):
            for future in self._asked:
                future.cancel()  # what is still unanswered is lost
            return True
        now = time.monotonic()
        if now - self._asked_at > PROBE_S:
            self._asked_at = now
            handle = goal_handle(self._client, goal_id(uuid.uuid4()))
            with suppress(ExecutorStopped):
                self._asked.append(in_executor(self._node, handle.get_result_async))
        return False


def goal_id(identity: uuid.UUID) -> Any:
    """A goal id as the message that holds it."""
    identifier = GoalInfo().goal_id
    identifier.uuid = list(identity.bytes)
    return identifier


def goal_handle(client: ActionClient, identifier: Any) -> ClientGoalHandle:
    """The handle of a goal that its server may not know, to ask about it."""
    return ClientGoalHandle(client, identifier, None)


def _full_name(namespace: str, name: str) -> str:
    return UNNAMED if "UNKNOWN" in name else f"{namespace.rstrip('/')}/{name}"
