# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Goals sent to an action server and awaited, from any thread but the executor's own.

The gateway calls tools with this, planners call the gateway. No wait is without an end: a server
that is gone, was restarted, or answers nothing is an error that says so. The status topic decides
nothing; results alone do (rcl#1155, rclpy#790).
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.task import Future

from harness_ros.ros.action_servers import (
    POLL_S,
    GoalError,
    NoServer,
    Servers,
    Stopped,
    goal_handle,
    goal_id,
)
from harness_ros.ros.qos import REQUESTS
from harness_ros.ros.threads import ExecutorStopped, done_event, in_executor

__all__ = [
    "ActionCaller",
    "GoalError",
    "GoalLost",
    "NoServer",
    "Rejected",
    "SentGoal",
    "Stopped",
    "Unanswered",
]

LOOK_S = 0.5
"""How often the graph is looked at while a goal runs."""
ASK_AGAIN_S = 5.0
"""A result is asked for again after this: an answer may be lost, and servers keep what they have
answered for ten seconds (rclcpp, and `goal_server`)."""
ASK_A_SUCCESSOR_S = 1.0
"""The same while there is a server that was not there when the goal was sent."""


class Unanswered(GoalError):
    """The server neither accepted nor rejected the goal in time."""


class Rejected(GoalError):
    """The server rejected the goal."""


class GoalLost(GoalError):
    """The server is gone, or does not know the goal that it accepted: it was restarted."""


class ActionCaller:
    """The client of one action.

    Args:
        node: in an executor of one thread (see `in_executor`).
        action_type: the generated action.
        name: of the action; relative names are resolved in the node's namespace.
    """

    def __init__(
        self, node: Node, action_type: Any, name: str, callback_group: CallbackGroup | None = None
    ) -> None:
        self.node = node
        self.name = str(node.resolve_service_name(name))
        self._client = ActionClient(
            node,
            action_type,
            name,
            callback_group=callback_group,
            goal_service_qos_profile=REQUESTS,
            result_service_qos_profile=REQUESTS,
            cancel_service_qos_profile=REQUESTS,
        )
        self._servers = Servers(node, self._client, self.name)

    def server_is_ready(self) -> bool:
        """Whether there is a server now."""
        return bool(self._client.server_is_ready())

    def servers(self) -> dict[bytes, str]:
        """The full name of the node of each server, by its endpoint on the status topic."""
        return self._servers.endpoints()

    def await_server(self, timeout_s: float, stop: Callable[[], bool] = lambda: False) -> None:
        """Waits until there is one server and no other, and it answers.

        Args:
            timeout_s: seconds to wait.
            stop: whether to wait no longer; asked again and again.

        Raises:
            NoServer: there is none, more than one, or one that does not answer; names the nodes.
            Stopped: `stop` said so.
        """
        self._servers.await_one(timeout_s, stop)

    def send(
        self, goal: Any, timeout_s: float, stop: Callable[[], bool] = lambda: False
    ) -> SentGoal:
        """Sends a goal; call `await_server` before.

        A goal that is accepted after all is cancelled then.

        Args:
            timeout_s: seconds to wait for the answer.
            stop: whether to wait no longer; asked again and again.

        Raises:
            Unanswered: within `timeout_s`.
            Rejected: the server does not take it.
            Stopped: `stop` said so.
        """
        sent = SentGoal(self, timeout_s)
        answer = in_executor(
            self.node,
            lambda: self._client.send_goal_async(
                goal, feedback_callback=sent.on_feedback, goal_uuid=sent.uuid
            ),
        )
        answer.add_done_callback(sent.on_answered)
        answered = done_event(answer)
        deadline = time.monotonic() + timeout_s
        while not answered.wait(POLL_S):
            stopped = stop()
            if stopped or time.monotonic() > deadline:
                answer.add_done_callback(_cancel_if_accepted)
                with suppress(ExecutorStopped):
                    in_executor(self.node, goal_handle(self._client, sent.uuid).cancel_goal_async)
                if stopped:
                    raise Stopped(f"nobody waits for {self.name} to answer any longer")
                raise Unanswered(
                    f"the action server {self.name} did not answer a goal in {timeout_s:g} s "
                    f"(goal {sent.goal_id}, cancelled should it be taken late)"
                )
        if not answer.result().accepted:
            raise Rejected(f"the action server {self.name} rejected the goal")
        return sent


class SentGoal:
    """A goal on its way; `ActionCaller.send` makes it."""

    def __init__(self, caller: ActionCaller, patience_s: float) -> None:
        identity = uuid.uuid4()
        self.goal_id = identity.hex
        """The goal id in hexadecimal."""
        self.uuid = goal_id(identity)
        self._caller = caller
        self._patience_s = patience_s
        self._takers = caller.servers()
        self._handle: Any = None
        self._done = threading.Event()
        self._answer: Any = None
        self._feedback: Any = None
        self._cancelling: Future | None = None
        self._looked = self._seen = self._asked = time.monotonic()

    def on_answered(self, answer: Future) -> None:
        """Asks for the result of a goal that was accepted; for the executor."""
        handle = answer.result()
        if handle is not None and handle.accepted:
            self._handle = handle
            self._ask()

    def on_feedback(self, message: Any) -> None:
        """Keeps the newest feedback; for the executor, which a flood must not hold up."""
        self._feedback = message.feedback

    def feedback(self) -> Any:
        """The newest feedback that was not given yet, or None."""
        feedback, self._feedback = self._feedback, None
        return feedback

    def wait(self, timeout_s: float) -> bool:
        """Waits for the result, in short steps; whether it is there.

        Raises:
            GoalLost: it will never be.
        """
        if not self._done.wait(timeout_s):
            self._look()
            return False
        if self._answer.status == GoalStatus.STATUS_UNKNOWN:
            raise GoalLost(
                f"the action server {self._caller.name} does not know goal {self.goal_id}, "
                "which it had accepted: it was restarted"
            )
        return True

    @property
    def answer(self) -> tuple[int, Any]:
        """Status (GoalStatus) and result, once `wait` has returned True."""
        return int(self._answer.status), self._answer.result

    def cancel(self, timeout_s: float = 10.0) -> None:
        """Asks the server to cancel; asking twice does no harm."""
        with suppress(ExecutorStopped):
            self._cancelling = in_executor(
                self._caller.node, self._handle.cancel_goal_async, timeout_s
            )

    @property
    def refuses_to_cancel(self) -> bool:
        """Whether the server has answered that it goes on."""
        if self._cancelling is None or not self._cancelling.done() or self._done.is_set():
            return False
        return not self._cancelling.result().goals_canceling

    def _ask(self) -> None:
        """Asks for the result; in the executor."""
        self._asked = time.monotonic()
        self._handle.get_result_async().add_done_callback(self._on_result)

    def _on_result(self, asked: Future) -> None:
        if self._answer is None:
            self._answer = asked.result()
            self._done.set()

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._looked < LOOK_S:
            return
        self._looked = now
        if self._cancelling is not None and not self._cancelling.done():
            self.cancel()  # the request, or its answer, may be lost
        servers = self._caller.servers()
        for endpoint in servers.keys() & self._takers.keys():
            # The name of a new node may have been unknown at first.
            self._takers[endpoint] = servers[endpoint]
            self._seen = now
        if now - self._seen > self._patience_s:
            raise GoalLost(
                f"the action server {self._caller.name} ({', '.join(self._takers.values())}) was "
                f"gone for {self._patience_s:g} s while goal {self.goal_id} ran"
            )
        successor = servers.keys() - self._takers.keys()
        if now - self._asked > (ASK_A_SUCCESSOR_S if successor else ASK_AGAIN_S):
            with suppress(ExecutorStopped):
                in_executor(self._caller.node, self._ask)


def _cancel_if_accepted(answer: Future) -> None:
    """A goal accepted after its caller gave up must not move the robot any further."""
    handle = answer.result()
    if handle is not None and handle.accepted:
        handle.cancel_goal_async()
