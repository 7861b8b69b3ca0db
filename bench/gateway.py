# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the gateway adds to calling a tool's action and asking for the verdict oneself.

Both ways call the same tool, which does nothing, in turns, from the same client node: `run_tool`
of HarnessClient, and ExecuteTool followed by `get_verdict`. Beside them an action that does
nothing: that is what one more action costs in rclpy.

What a call waits for the next frame is taken off, by the stamps of the run's end and of its
evidence: it is chance, and it is larger than what is measured. Calls begin at random moments
between two frames, else all would begin where the frame that ended the one before left off. And
there are two pairs a second, which is more than a robot can do: servers keep a goal for ten
seconds, and each status message that they send names all that are kept.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator

from bench.options import Options
from bench.record import Baseline, BenchError, Measurement, Target, spread
from bench.stage import Stage
from bench.world import TOOL, configuration
from harness_ros import action, msg
from harness_ros.contract import Status, Verdict
from harness_ros.messages import to_ns
from harness_ros.ros.client import HarnessClient
from harness_ros.ros.goals import ActionCaller
from harness_ros.ros.qos import EVENTS

AT_MOST_MS = 5.0
CAMERA, CAMERA_RATE_HZ = "front", 100.0
"""One small camera that is quick, so that waiting for its next frame adds little to the spread."""
PAIR_S = 0.5
WARM_UP = 3
PATIENCE_S = 15.0


def measure(options: Options) -> Iterator[Measurement]:
    """Median of the differences of pairs of calls, and the time of an action that does nothing."""
    pairs = options.choose(full=80, quick=20, smoke=2)
    config = configuration(options.folder, cameras=(CAMERA,))
    phases = random.Random(0)
    with Stage(options) as stage:
        stage.evaluator(config)
        stage.node("judge_deterministic")
        stage.node("tool_gateway", config=config)
        stage.actor("tool", CAMERA, CAMERA_RATE_HZ).hear()
        stage.actor("bare_action").hear()
        with HarnessClient(server_timeout_s=PATIENCE_S) as harness:
            direct, nothing = _Action(harness, f"tools/{TOOL}"), _Action(harness, "/bench/nothing")
            stage.settle()
            ends = _Ends(harness)
            through, beside, bare = [], [], []
            for pair in range(pairs + WARM_UP):
                options.tell(f"pair {pair + 1} of {pairs + WARM_UP}")
                begun = time.monotonic()
                time.sleep(phases.uniform(0.0, 1.0 / CAMERA_RATE_HZ))
                with_gateway = ends.without_waiting(lambda: _gateway(harness))
                time.sleep(phases.uniform(0.0, 1.0 / CAMERA_RATE_HZ))
                without = ends.without_waiting(lambda: _expect_success(harness, direct.call()))
                least = _ms(nothing.call)
                time.sleep(max(0.0, begun + PAIR_S - time.monotonic()))
                if pair >= WARM_UP:
                    through.append(with_gateway)
                    beside.append(without)
                    bare.append(least)
    extra = [one - other for one, other in zip(through, beside, strict=True)]
    yield Measurement(
        name="gateway/extra",
        value=spread(extra)["median"],
        unit="ms",
        baseline=Baseline(name="action and get_verdict", value=spread(beside)["median"]),
        target=Target(at_most=AT_MOST_MS),
        details={
            **spread(extra),
            "second_half": spread(extra[len(extra) // 2 :]),
            "run_tool": spread(through),
            "direct": spread(beside),
        },
    )
    yield Measurement(
        name="gateway/action_that_does_nothing",
        value=spread(bare)["median"],
        unit="ms",
        details=spread(bare),
    )


class _Action:
    """An action of type ExecuteTool, called from the client's node."""

    def __init__(self, harness: HarnessClient, name: str) -> None:
        self._action = ActionCaller(harness.node, action.ExecuteTool, name)
        self._action.await_server(PATIENCE_S)

    def call(self) -> str:
        """Sends a goal and waits for its result; the run_id in it."""
        self._action.await_server(PATIENCE_S)
        goal = self._action.send(action.ExecuteTool.Goal(arguments="{}"), PATIENCE_S)
        deadline = time.monotonic() + PATIENCE_S
        while not goal.wait(0.05):
            if time.monotonic() > deadline:
                raise BenchError(f"{self._action.name} gave no result within {PATIENCE_S:g} s")
        return str(goal.answer[1].run_id)


class _Ends:
    """When runs ended, as their tool said."""

    def __init__(self, harness: HarnessClient) -> None:
        self._ended_ns: dict[str, int] = {}
        self._heard = threading.Condition()
        harness.node.create_subscription(msg.ToolRun, "runs", self._on_run, EVENTS)

    def without_waiting(self, call: Callable[[], Verdict]) -> float:
        """Milliseconds of a call without those from the end of its run to its evidence."""
        begun = time.perf_counter()
        verdict = call()
        took_ms = (time.perf_counter() - begun) * 1e3
        with self._heard:
            if not self._heard.wait_for(lambda: verdict.run_id in self._ended_ns, PATIENCE_S):
                raise BenchError(f"nobody said that run {verdict.run_id} ended")
            waited_ns = verdict.observed_at_ns - self._ended_ns.pop(verdict.run_id)
        return took_ms - waited_ns / 1e6

    def _on_run(self, message: msg.ToolRun) -> None:
        if message.phase == msg.ToolRun.FINISHED:
            with self._heard:
                self._ended_ns[message.run_id] = to_ns(message.ended_at)
                self._heard.notify_all()


def _expect_success(harness: HarnessClient, run_id: str) -> Verdict:
    verdict = harness.get_verdict(run_id, PATIENCE_S)
    if verdict is None or verdict.status is not Status.SUCCESS:
        raise BenchError(f"a success was expected: {verdict}")
    return verdict


def _gateway(harness: HarnessClient) -> Verdict:
    outcome = harness.run_tool(TOOL, {})
    if not outcome.succeeded:
        raise BenchError(f"a success was expected: {outcome}")
    return outcome.verdict


def _ms(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return (time.perf_counter() - begun) * 1e3
