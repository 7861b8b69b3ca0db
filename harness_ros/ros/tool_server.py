# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A physical tool from one function: the action server, its run_id and its ToolRun events.

class PickArguments(BaseModel):
    target: str

def pick(arguments: PickArguments, run: RunHandle) -> BackendResult:
    arm.pick(arguments.target)
    return BackendResult(success=True, message="motion finished")

ToolServer(node, "pick", PickArguments, pick)
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node

from harness_ros import action, msg
from harness_ros.contract import HarnessError, Record, Run
from harness_ros.ros.conversion import (
    MAX_CHARACTERS,
    encodable,
    parse_arguments,
    run_to_message,
)
from harness_ros.ros.goal_server import GoalServer, goal_id_of
from harness_ros.ros.qos import EVENTS

ArgumentsModel = TypeVar("ArgumentsModel", bound=BaseModel)

MESSAGE_LENGTH = 4096
"""Characters of a backend's message that are sent."""
RESERVATION_S = 5.0
"""An accepted goal that did not begin within this never will: rclpy drops a goal whose acceptance
it cannot send, because the client is gone."""


class BackendResult(Record):
    """What the backend of a tool believes; it never reaches a judge."""

    success: bool
    message: str = ""


class ToolCancelled(HarnessError):
    """Raised by `RunHandle.check_cancelled` once the run is to be cancelled."""


class ToolArgumentError(HarnessError):
    """Arguments that the model of a tool refuses."""


@dataclass
class RunHandle:
    """What a tool's function is given beside its arguments."""

    run_id: str
    call_id: str
    segment: int
    """Counts from 1."""
    _goal: ServerGoalHandle

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked to cancel; the tool should make the robot safe and return."""
        return bool(self._goal.is_cancel_requested)

    def check_cancelled(self) -> None:
        """Leaves the tool's function when somebody asked to cancel.

        Raises:
            ToolCancelled: somebody did.
        """
        if self.cancelled:
            raise ToolCancelled(f"run {self.run_id} was cancelled")

    def feedback(self, stage: str, progress: float) -> None:
        """Tells the caller what the tool does now.

        Args:
            stage: the tool's own word.
            progress: 0 to 1; what lies outside is taken as the nearer end, NaN as 0.
        """
        share = 0.0 if math.isnan(progress) else min(1.0, max(0.0, float(progress)))
        if self._goal.is_active:
            self._goal.publish_feedback(
                action.ExecuteTool.Feedback(stage=encodable(stage), progress=share)
            )


class OneAtATime:
    """Lets one goal run and no other; shared by tools that must not move at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder = ""
        self._since = 0.0
        self._begun = False

    def reserve(self, tool_name: str) -> str:
        """Takes the turn for a goal of a tool; the tool that has it, or an empty string."""
        with self._lock:
            stale = not self._begun and time.monotonic() - self._since > RESERVATION_S
            if self._holder and not stale:
                return self._holder
            self._holder, self._since, self._begun = tool_name, time.monotonic(), False
            return ""

    def begin(self, tool_name: str) -> bool:
        """The goal begins; False where its turn has gone to another one."""
        with self._lock:
            if self._begun or self._holder != tool_name:
                return False
            self._begun = True
            return True

    def end(self) -> None:
        """The goal has ended."""
        with self._lock:
            self._holder, self._begun = "", False


class ToolServer(Generic[ArgumentsModel]):
    """The action server `tools/<name>` around a blocking function.

    One goal at a time: a second one is rejected, as is one whose arguments the model refuses; the
    log says why. Every accepted goal has a run_id (the goal id in hexadecimal), which the result
    carries whatever the function does, and is told to the evaluator when it starts and when it
    ends. The function runs in a thread of its own, so any executor will do.

    A tool does not move unobserved if that can be helped: the run starts once the evaluator
    listens, or after `evaluator_wait_s` with a warning. A goal that is cancelled by then starts and
    ends without a call of the function.

    Args:
        node: the node that the tool lives in.
        name: key under `tools` in eval.yaml.
        arguments: pydantic model of the arguments.
        function: (arguments, run) -> BackendResult.
        action_name: instead of `tools/<name>`.
        evaluator_wait_s: seconds that a run waits for an evaluator.
        turn: shared by the tools of one arm: one goal at a time between all of them.
    """

    def __init__(
        self,
        node: Node,
        name: str,
        arguments: type[ArgumentsModel],
        function: Callable[[ArgumentsModel, RunHandle], BackendResult],
        action_name: str | None = None,
        evaluator_wait_s: float = 5.0,
        turn: OneAtATime | None = None,
    ) -> None:
        self._node = node
        self._name = name
        self._model = arguments
        self._function = function
        self._evaluator_wait_s = evaluator_wait_s
        self._turn = turn or OneAtATime()
        self._runs = node.create_publisher(msg.ToolRun, "runs", EVENTS)
        self._server = GoalServer(
            node,
            action.ExecuteTool,
            action_name or f"tools/{name}",
            work=self._work,
            end=self._end,
            take=self._takes,
        )

    def destroy(self) -> None:
        """Ends the action server."""
        self._server.destroy()
        self._node.destroy_publisher(self._runs)

    def _takes(self, goal: Any) -> bool:
        try:
            self._validated(goal.arguments)
        except Exception as error:
            # Validators of the model may raise anything, and rclpy would end the node with it.
            shown = error if isinstance(error, HarnessError) else repr(error)
            self._warn(f"tool '{self._name}' rejects a goal: {shown}")
            return False
        holder = self._turn.reserve(self._name)
        if holder:
            self._warn(
                f"tool '{self._name}' rejects a goal: '{holder}' is busy, one goal at a time"
            )
            return False
        return True

    def _work(self, goal: ServerGoalHandle) -> BackendResult:
        run_id = goal_id_of(goal)
        if not self._turn.begin(self._name):
            return self._failed(run_id, "another goal began before this one did")
        try:
            return self._run(goal, run_id)
        except Exception as error:
            return self._failed(run_id, f"the tool server failed: {error!r}")
        finally:
            self._turn.end()

    def _end(self, goal: ServerGoalHandle, result: BackendResult) -> Any:
        if goal.is_cancel_requested:
            goal.canceled()
        elif result.success:
            goal.succeed()
        else:
            goal.abort()
        return action.ExecuteTool.Result(
            run_id=goal_id_of(goal),
            backend_success=result.success,
            backend_message=encodable(result.message[:MESSAGE_LENGTH]),
        )

    def _run(self, goal: ServerGoalHandle, run_id: str) -> BackendResult:
        request = goal.request
        handle = RunHandle(run_id, request.call_id or run_id, max(1, request.segment), goal)
        self._await_evaluator(handle)
        run = Run(
            run_id=run_id,
            call_id=handle.call_id,
            segment=handle.segment,
            tool_name=self._name,
            arguments=parse_arguments(request.arguments),
            started_at_ns=self._now_ns(),
        )
        self._runs.publish(run_to_message(run))
        result = self._call(request.arguments, handle)
        self._runs.publish(run_to_message(run.model_copy(update={"ended_at_ns": self._now_ns()})))
        return result

    def _await_evaluator(self, handle: RunHandle) -> None:
        topic = self._runs.topic_name
        deadline = time.monotonic() + self._evaluator_wait_s
        while not handle.cancelled and not any(
            info.node_name == "_evaluator"
            for info in self._node.get_subscriptions_info_by_topic(topic)
        ):
            if time.monotonic() > deadline:
                self._warn(f"tool '{self._name}' runs although no evaluator listens to {topic}")
                return
            time.sleep(0.02)

    def _validated(self, text: str) -> ArgumentsModel:
        arguments = parse_arguments(text, MAX_CHARACTERS)
        try:
            return self._model.model_validate(arguments)
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(str(part) for part in item['loc']) or 'arguments'}: {item['msg']} "
                f"(value: {item['input']!r:.200})"
                for item in error.errors(include_url=False)
            )
            raise ToolArgumentError(problems) from None

    def _call(self, arguments: str, handle: RunHandle) -> BackendResult:
        """Runs the function; whatever it does becomes a BackendResult."""
        executor = self._node.executor
        try:
            if handle.cancelled:
                return BackendResult(success=False, message="cancelled before it began")
            result = self._function(self._validated(arguments), handle)
            if isinstance(result, BackendResult):
                return result
            message = f"the backend returned {result!r:.200}, which is no BackendResult"
        except ToolCancelled:
            return BackendResult(success=False, message="cancelled")
        except BaseException as error:
            # SystemExit too: the run has ended, and the node has other tools.
            message = f"the backend failed: {error!r}"
        finally:
            self._keep_spinning(executor)
        return self._failed(handle.run_id, message)

    def _keep_spinning(self, executor: Any) -> None:
        """Gives the node back to its executor, where the function has spun it (rclpy#1398)."""
        if executor is None or self._node in executor.get_nodes():
            return
        with suppress(AttributeError):  # an executor that was shut down cannot take it
            executor.add_node(self._node)
            self._warn(
                f"tool '{self._name}' took node {self._node.get_name()} from its executor, as "
                "rclpy.spin_until_future_complete does: wait for the future without spinning"
            )

    def _failed(self, run_id: str, message: str) -> BackendResult:
        text = f"run {run_id}: tool '{self._name}': {message}"
        self._node.get_logger().error(encodable(text))
        return BackendResult(success=False, message=message)

    def _warn(self, text: str) -> None:
        self._node.get_logger().warning(encodable(text))

    def _now_ns(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)
