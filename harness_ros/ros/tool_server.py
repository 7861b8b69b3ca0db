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

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from harness_ros import action, msg
from harness_ros.contract import HarnessError, Record, Run
from harness_ros.ros.conversion import encodable, parse_arguments, run_to_message
from harness_ros.ros.qos import EVENTS
from harness_ros.ros.threads import in_thread

ArgumentsModel = TypeVar("ArgumentsModel", bound=BaseModel)


class BackendResult(Record):
    """What the backend of a tool believes; it never reaches a judge."""

    success: bool
    message: str = ""


class ToolCancelled(HarnessError):
    """Raised by `RunHandle.check_cancelled` once the run is to be cancelled."""


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
            progress: 0 to 1.
        """
        if self._goal.is_active:
            self._goal.publish_feedback(
                action.ExecuteTool.Feedback(stage=encodable(stage), progress=float(progress))
            )


class ToolServer(Generic[ArgumentsModel]):
    """The action server `tools/<name>` around a blocking function.

    One goal at a time: a second one is rejected, as is one whose arguments the model refuses; the
    log says why. Every accepted goal has a run_id (the goal id in hexadecimal), which the result
    carries whatever the function does, and is told to the evaluator when it starts and when it
    ends. The function runs in a thread of its own, so any executor will do.

    A tool does not move unobserved if that can be helped: the run starts once the evaluator
    listens, or after `evaluator_wait_s` with a warning.

    Args:
        node: the node that the tool lives in.
        name: key under `tools` in eval.yaml.
        arguments: pydantic model of the arguments.
        function: (arguments, run) -> BackendResult.
        action_name: instead of `tools/<name>`.
        evaluator_wait_s: seconds that a run waits for an evaluator.
    """

    def __init__(
        self,
        node: Node,
        name: str,
        arguments: type[ArgumentsModel],
        function: Callable[[ArgumentsModel, RunHandle], BackendResult],
        action_name: str | None = None,
        evaluator_wait_s: float = 5.0,
    ) -> None:
        self._node = node
        self._name = name
        self._model = arguments
        self._function = function
        self._evaluator_wait_s = evaluator_wait_s
        self._busy = threading.Lock()
        self._runs = node.create_publisher(msg.ToolRun, "runs", EVENTS)
        self._server = ActionServer(
            node,
            action.ExecuteTool,
            action_name or f"tools/{name}",
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )

    def destroy(self) -> None:
        """Ends the action server."""
        self._server.destroy()
        self._node.destroy_publisher(self._runs)

    def _on_goal(self, goal: Any) -> GoalResponse:
        try:
            self._validated(goal.arguments)
        except Exception as error:
            # Validators of the model may raise anything, and rclpy would end the node with it.
            shown = error if isinstance(error, HarnessError) else repr(error)
            self._node.get_logger().warning(f"tool '{self._name}' rejects a goal: {shown}")
            return GoalResponse.REJECT
        if not self._busy.acquire(blocking=False):
            self._node.get_logger().warning(
                f"tool '{self._name}' rejects a goal: it is busy, and takes one at a time"
            )
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _await_evaluator(self) -> None:
        topic = self._runs.topic_name
        deadline = time.monotonic() + self._evaluator_wait_s
        while not any(
            info.node_name == "_evaluator"
            for info in self._node.get_subscriptions_info_by_topic(topic)
        ):
            if time.monotonic() > deadline:
                self._node.get_logger().warning(
                    f"tool '{self._name}' runs although no evaluator listens to {topic}"
                )
                return
            time.sleep(0.02)

    def _validated(self, text: str) -> ArgumentsModel:
        arguments = parse_arguments(text)
        try:
            return self._model.model_validate(arguments)
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(str(part) for part in item['loc']) or 'arguments'}: {item['msg']} "
                f"(value: {item['input']!r})"
                for item in error.errors(include_url=False)
            )
            raise ToolArgumentError(problems) from None

    async def _execute(self, goal: ServerGoalHandle) -> Any:
        try:
            request = goal.request
            await in_thread(self._node, self._await_evaluator, f"wait-{self._name}")
            run_id = bytes(goal.goal_id.uuid).hex()
            run = Run(
                run_id=run_id,
                call_id=request.call_id or run_id,
                segment=max(1, request.segment),
                tool_name=self._name,
                arguments=parse_arguments(request.arguments),
                started_at_ns=self._now_ns(),
            )
            handle = RunHandle(run_id, run.call_id, run.segment, goal)
            self._runs.publish(run_to_message(run))
            result = await in_thread(
                self._node, lambda: self._call(request.arguments, handle), f"tool-{self._name}"
            )
            self._runs.publish(
                run_to_message(run.model_copy(update={"ended_at_ns": self._now_ns()}))
            )
        finally:
            self._busy.release()
        self._end(goal, result)
        return action.ExecuteTool.Result(
            run_id=run_id,
            backend_success=result.success,
            backend_message=encodable(result.message),
        )

    def _call(self, arguments: str, handle: RunHandle) -> BackendResult:
        """Runs the function; whatever it does becomes a BackendResult."""
        try:
            result = self._function(self._validated(arguments), handle)
            if isinstance(result, BackendResult):
                return result
            message = f"the backend returned {result!r:.200}, which is no BackendResult"
        except ToolCancelled:
            return BackendResult(success=False, message="cancelled")
        except BaseException as error:
            # SystemExit too: the run has ended, and the node has other tools.
            message = f"the backend failed: {error!r}"
        self._node.get_logger().error(f"run {handle.run_id}: tool '{self._name}': {message}")
        return BackendResult(success=False, message=message)

    @staticmethod
    def _end(goal: ServerGoalHandle, result: BackendResult) -> None:
        if goal.is_cancel_requested:
            goal.canceled()
        elif result.success:
            goal.succeed()
        else:
            goal.abort()

    def _now_ns(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)


class ToolArgumentError(HarnessError):
    """Arguments that the model of a tool refuses."""
