# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""harness_ros for planners, in plain calls.

with HarnessClient() as harness:
    outcome = harness.run_tool("pick", {"target": "red_block"})
    if outcome.exit_code is not ExitCode.SUCCESS:
        print(outcome.verdict.failure_reason)
"""

from __future__ import annotations

import atexit
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import rclpy
from action_msgs.msg import GoalStatus
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.task import Future

from harness_ros import action, srv
from harness_ros.contract import Arguments, ExitCode, HarnessError, Record, Status, Verdict
from harness_ros.ros import conversion
from harness_ros.ros.asking import NoVerdict, ask_verdict
from harness_ros.ros.goals import ActionCaller, GoalError, SentGoal
from harness_ros.ros.qos import REQUESTS
from harness_ros.ros.spinning import SPIN_S, events_executor
from harness_ros.ros.threads import ExecutorStopped, wait

POLL_S = 0.05


class HarnessUnavailable(HarnessError):
    """A node of harness_ros is not there, or did not answer in time."""


class NotJson(HarnessError):
    """Arguments that cannot be written as JSON."""


class ToolOutcome(Record):
    """How a tool call ended; the verdict is what counts."""

    exit_code: ExitCode
    verdict: Verdict
    run_ids: tuple[str, ...]
    segments: int
    backend_success: bool
    """What the tool's backend believed: for comparison, not for decisions."""
    backend_message: str

    @property
    def succeeded(self) -> bool:
        """Whether the post-condition was seen to hold."""
        return self.exit_code is ExitCode.SUCCESS


class SceneBrief(Record):
    """The scene graph as an agent reads it."""

    text: str
    graph: dict[str, Any]
    revision: int


class HarnessClient:
    """Calls tools and reads verdicts and the scene; has a node and a thread of its own.

    Calls block and may be made from any thread, also in a callback of somebody else's executor
    (which it holds up). It uses its own rclpy context, so it neither needs nor disturbs the
    caller's `rclpy.init()`. Every call raises `HarnessUnavailable` once the client is closed.

    Args:
        namespace: of the harness nodes.
        server_timeout_s: seconds to wait for a node of harness_ros to be there.
        node_name: of the node on the graph.
    """

    def __init__(
        self,
        namespace: str = "/harness",
        server_timeout_s: float = 10.0,
        node_name: str = "harness_client",
    ) -> None:
        self._server_timeout_s = server_timeout_s
        self._name = node_name
        self._closed = threading.Event()
        self._died: Exception | None = None
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self._node = Node(node_name, namespace=namespace, context=self._context)
        self._run_tool = ActionCaller(self._node, action.RunTool, "run_tool")
        self._get_verdict = self._node.create_client(
            srv.GetVerdict, "get_verdict", qos_profile=REQUESTS
        )
        self._get_brief = self._node.create_client(
            srv.GetSceneBrief, "scene/brief", qos_profile=REQUESTS
        )
        self._executor = events_executor(self._context)
        self._executor.add_node(self._node)
        self._ending = Future()
        self._thread = threading.Thread(target=self._spin, name=node_name, daemon=True)
        self._thread.start()
        # An executor that still runs when the interpreter ends may end the process with a crash.
        atexit.register(self.close)

    def __enter__(self) -> HarnessClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def node(self) -> Node:
        """The client's node, for looking at the graph; leave spinning it to the client."""
        return self._node

    def ready(self) -> bool:
        """Whether gateway, evaluator and scene graph are there now."""
        self._check()
        return bool(
            self._run_tool.server_is_ready()
            and self._get_verdict.service_is_ready()
            and self._get_brief.service_is_ready()
        )

    def close(self) -> None:
        """Ends the node; calls that still wait end with HarnessUnavailable. Twice does no harm."""
        if self._closed.is_set():
            return
        self._closed.set()
        atexit.unregister(self.close)
        self._ending.set_result(None)
        self._executor.wake()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=2.0)
        self._executor.shutdown(1.0)
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def run_tool(
        self,
        tool_name: str,
        arguments: Arguments,
        timeout_s: float | None = None,
        on_progress: Callable[[int, str, float], None] | None = None,
    ) -> ToolOutcome:
        """Runs a tool to its verdict, segments included.

        Args:
            tool_name: key under `tools` in eval.yaml.
            arguments: what the tool takes; must be JSON.
            timeout_s: seconds after which the call is cancelled; None leaves it to the gateway,
                whose every wait has a deadline of its own.
            on_progress: called with (segment, stage, progress 0 to 1), in the thread of this call
                and a few times a second at most. What it raises cancels the call and is raised
                here.

        Returns:
            The outcome; an unjudged or cancelled call is an outcome too.

        Raises:
            HarnessUnavailable: there is no gateway or more than one, it did not answer, or it was
                restarted while the call ran. Runs that had begun get their verdicts all the same.
            NotJson: the arguments are no JSON.
        """
        goal = action.RunTool.Goal(
            tool_name=_sendable(tool_name), arguments=_json(tool_name, arguments)
        )
        with self._available():
            self._run_tool.await_server(self._server_timeout_s, self._closed.is_set)
            sent = self._run_tool.send(goal, self._server_timeout_s, self._closed.is_set)
            try:
                if not self._wait(sent, timeout_s, on_progress):
                    sent.cancel()
                    self._wait(sent, None, on_progress)
            except HarnessError:
                raise
            except BaseException:
                # Ctrl-C stays Ctrl-C, also when the goal can no longer be cancelled.
                with suppress(Exception):
                    sent.cancel(timeout_s=1.0)
                raise
            return _outcome(*sent.answer)

    def get_verdict(self, run_id: str, timeout_s: float = 10.0) -> Verdict | None:
        """The verdict of a run; None when there is none within the time, or no such run.

        Raises:
            HarnessUnavailable: there is no evaluator.
        """
        with self._available():
            self._need(self._get_verdict)
            try:
                return ask_verdict(
                    self._get_verdict,
                    _sendable(run_id),
                    timeout_s,
                    run_exists=False,
                    stop=self._closed.is_set,
                )
            except NoVerdict:
                self._check()
                return None

    def scene_brief(self) -> SceneBrief:
        """The scene as far as verdicts have confirmed it.

        Raises:
            HarnessUnavailable: there is no scene graph, or it did not answer.
        """
        with self._available():
            answer = self._ask(self._get_brief, srv.GetSceneBrief.Request(), self._server_timeout_s)
        return SceneBrief(
            text=answer.brief, graph=json.loads(answer.graph), revision=answer.revision
        )

    def _ask(self, client: Any, request: Any, timeout_s: float) -> Any:
        self._need(client)
        future = client.call_async(request)
        if not wait(future, timeout_s):
            client.remove_pending_request(future)
            raise HarnessUnavailable(
                f"service {client.srv_name} did not answer within {timeout_s:g} s"
            )
        return future.result()

    def _need(self, client: Any) -> None:
        if not client.wait_for_service(self._server_timeout_s):
            raise HarnessUnavailable(
                f"no service {client.srv_name} within {self._server_timeout_s:g} s: "
                "is harness_ros running?"
            )

    def _wait(
        self,
        sent: SentGoal,
        timeout_s: float | None,
        on_progress: Callable[[int, str, float], None] | None,
    ) -> bool:
        """Waits in short steps, so that Ctrl-C is heard and a vanished gateway is noticed."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            ended = sent.wait(POLL_S)
            feedback = sent.feedback()
            if on_progress is not None and feedback is not None:
                on_progress(feedback.segment, feedback.stage, feedback.progress)
            if ended:
                return True
            self._check()
            if deadline is not None and time.monotonic() > deadline:
                return False

    @contextmanager
    def _available(self) -> Iterator[None]:
        """What goes wrong on the way is HarnessUnavailable; what stops the client says so."""
        self._check()
        try:
            yield
        except HarnessUnavailable:
            raise
        except Exception as error:
            # A client that is closed in the middle may raise anything.
            self._check()
            if isinstance(error, (GoalError, ExecutorStopped, InvalidHandle)):
                raise HarnessUnavailable(f"{error}: is harness_ros running?") from None
            raise

    def _check(self) -> None:
        """Raises where a call could not end."""
        name = self._name
        if threading.current_thread() is self._thread:
            raise HarnessUnavailable(
                f"a call of {name} in a callback of its own node would wait for itself: make it in "
                "another thread"
            )
        if self._closed.is_set():
            raise HarnessUnavailable(f"the client {name} was closed")
        if not self._thread.is_alive():
            raise HarnessUnavailable(f"the client {name} has stopped: {self._died!r}")
        if self._node not in self._executor.get_nodes():
            raise HarnessUnavailable(
                f"node {name} was taken from its executor, as rclpy.spin and "
                "rclpy.spin_until_future_complete do: the client spins it already"
            )

    def _spin(self) -> None:
        try:
            while not self._ending.done():
                self._executor.spin_until_future_complete(self._ending, SPIN_S)
        except ExternalShutdownException:
            pass
        except Exception as error:
            self._died = error


def _json(tool_name: str, arguments: Arguments) -> str:
    try:
        return json.dumps(arguments)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJson(f"arguments of tool '{tool_name}' are no JSON: {error}") from None


def _sendable(text: str) -> str:
    """A name as a message holds it: it would end at a NUL, and be another name."""
    return conversion.encodable(text).replace("\0", "\\0")


def _outcome(status: int, answer: Any) -> ToolOutcome:
    """The outcome of a call.

    Raises:
        HarnessUnavailable: the result says nothing; an empty one has exit code 0.
    """
    try:
        verdict, exit_code = (
            conversion.verdict_from_message(answer.verdict),
            ExitCode(answer.exit_code),
        )
    except (conversion.ConversionError, ValueError) as error:
        raise HarnessUnavailable(f"the result of run_tool cannot be read: {error}") from None
    succeeded = (
        status == GoalStatus.STATUS_SUCCEEDED,
        exit_code is ExitCode.SUCCESS,
        verdict.status is Status.SUCCESS,
    )
    if len(set(succeeded)) > 1:
        raise HarnessUnavailable(
            f"the result of run_tool contradicts itself (goal status {status}, exit code "
            f"{exit_code.value}, verdict {verdict.status.name.lower()}): the gateway's log says "
            "what went wrong"
        )
    return ToolOutcome(
        exit_code=exit_code,
        verdict=verdict,
        run_ids=tuple(answer.run_ids),
        segments=answer.segments,
        backend_success=answer.backend_success,
        backend_message=answer.backend_message,
    )
