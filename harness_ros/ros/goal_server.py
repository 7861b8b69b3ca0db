# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An action server whose goals are worked on in threads and end in the executor.

For every executor: one with a single thread is held up by no goal, and the EventsExecutor of rclpy
goes on with no coroutine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, Generic, TypeVar

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import GoalEvent, RCLError, ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node

from harness_ros.ros.qos import REQUESTS

Outcome = TypeVar("Outcome")

RESULT_KEPT_S = 10 if find_spec("rclpy.experimental") else 900
"""How long a result can be asked for once its goal has ended; as rclcpp, and rclpy since Kilted.

Each status message names all goals that are kept, three for each goal are sent, and with 80 of them
rclpy takes a millisecond to read one. Before Jazzy the time runs from the start of a goal, so that
a short one loses results (rcl#1103).
"""


class GoalServer(Generic[Outcome]):
    """The server of one action. Goals may be cancelled at any time; `work` looks whether they were.

    Args:
        node: the node that it lives in.
        action_type: the generated action.
        name: of the action; relative names are resolved in the node's namespace.
        work: what a goal wants done, in a thread of its own. It must not raise.
        end: given the goal and what its work came to, in the executor: ends the goal (`succeed`,
            `abort`, `canceled`) and returns the result.
        take: whether a goal (the action's `Goal`) is accepted.
    """

    def __init__(
        self,
        node: Node,
        action_type: Any,
        name: str,
        work: Callable[[ServerGoalHandle], Outcome],
        end: Callable[[ServerGoalHandle, Outcome], Any],
        take: Callable[[Any], bool] = lambda _: True,
    ) -> None:
        self._work = work
        self._end = end
        self._name = name
        self._outcomes: dict[str, Outcome] = {}
        """Of work that is done while its goal has not ended yet."""
        self._server = ActionServer(
            node,
            action_type,
            name,
            execute_callback=self._on_done,
            goal_callback=lambda goal: GoalResponse.ACCEPT if take(goal) else GoalResponse.REJECT,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
            goal_service_qos_profile=REQUESTS,
            result_service_qos_profile=REQUESTS,
            cancel_service_qos_profile=REQUESTS,
            result_timeout=RESULT_KEPT_S,
        )

    def destroy(self) -> None:
        """Ends the action server."""
        self._server.destroy()

    def _on_accepted(self, goal: ServerGoalHandle) -> None:
        with suppress(RCLError):  # cancelled by another thread of the executor in between
            goal._update_state(GoalEvent.EXECUTE)
        threading.Thread(target=self._run, args=[goal], name=self._name, daemon=True).start()

    def _run(self, goal: ServerGoalHandle) -> None:
        self._outcomes[goal_id_of(goal)] = self._work(goal)
        # Where this fails the executor was shut down, and nobody hears the result any more.
        with suppress(InvalidHandle, AttributeError):
            self._server.notify_execute(goal, None)

    def _on_done(self, goal: ServerGoalHandle) -> Any:
        return self._end(goal, self._outcomes.pop(goal_id_of(goal)))


def goal_id_of(goal: ServerGoalHandle) -> str:
    """The goal id in hexadecimal."""
    return bytes(goal.goal_id.uuid).hex()
