# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Replays through the action `sidecar/replay_case`, which whoever runs the agent serves."""

from __future__ import annotations

import time
from collections.abc import Callable

from action_msgs.msg import GoalStatus
from rclpy.node import Node

from harness_ros import action
from harness_ros.contract import HarnessError
from harness_ros.ros.goals import ActionCaller, GoalLost, SentGoal
from harness_ros.ros.sidecar.messages import replay_goal, replay_outcome
from harness_ros.sidecar.promotion import Case, Rule
from harness_ros.sidecar.promotion.rounds import ReplayLimits, ReplayOutcome

ACTION = "sidecar/replay_case"
ANSWER_S = 10.0
"""How long a server may take to say whether it replays."""
POLL_S = 0.05


class ActionReplayer:
    """A `Replayer` for the threads of a node; see harness_ros.sidecar.promotion.rounds.

    Args:
        ending: whether the node ends; asked again and again.
    """

    def __init__(self, node: Node, ending: Callable[[], bool]) -> None:
        self._caller = ActionCaller(node, action.ReplayCase, ACTION)
        self._ending = ending

    def replay(self, rule: Rule, case: Case, limits: ReplayLimits) -> ReplayOutcome:
        """Replays a case, within the limits; what never began, or ended in nothing, says why."""
        begun = time.monotonic()
        try:
            self._caller.await_server(limits.environment_s, self._ending)
            left_s = max(0.0, begun + limits.environment_s - time.monotonic())
            wanted = replay_goal(rule, case, left_s, limits.replay_s)
            goal = self._caller.send(wanted, ANSWER_S, self._ending)
        except HarnessError as error:
            return _nothing(str(error), started=False)
        return self._await(goal, begun + limits.sum_s)

    def _await(self, goal: SentGoal, deadline: float) -> ReplayOutcome:
        try:
            while not goal.wait(POLL_S):
                if self._ending():
                    goal.cancel()
                    return _nothing("the sidecar ended while the case was replayed")
                if time.monotonic() > deadline:
                    goal.cancel()
                    return _nothing(f"no result in time: goal {goal.goal_id} was cancelled")
        except GoalLost as error:
            return _nothing(str(error))
        status, result = goal.answer
        outcome = replay_outcome(result)
        if status == GoalStatus.STATUS_SUCCEEDED:
            return outcome
        how = "was cancelled" if status == GoalStatus.STATUS_CANCELED else "was aborted"
        said = f": {outcome.reason}" if outcome.reason else ""
        ended = f"the replay {how}{said}"
        return outcome.model_copy(update={"scores": None, "attempts": (), "reason": ended})


def _nothing(reason: str, started: bool = True) -> ReplayOutcome:
    """A replay that is evidence of nothing."""
    return ReplayOutcome(started=started, exercised=False, scores=None, reason=reason)
