# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for a planner: decides the next call from the verdicts on the calls before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from harness_ros.sim.geometry import BIN, BLOCKS, GEOMETRY, ZONES

CALLS: Final = 14
"""How many calls a script makes."""

_SIDE = {"red_block": ZONES[0], "green_block": ZONES[0]} | {
    "blue_block": ZONES[1],
    "yellow_block": ZONES[1],
}
_START, _TABLE = "start", "table"


@dataclass(frozen=True)
class Call:
    """A call of a tool."""

    tool: str
    arguments: dict[str, str]


@dataclass(frozen=True)
class Outcome:
    """A call and the verdict on it."""

    call: Call
    success: bool


class TaskScript:
    """Tidies the table: pushes blocks onto zones, picks and places them, tries again once.

    Args:
        seed: Chooses between calls that are equally sensible.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def next_call(self, history: Sequence[Outcome]) -> Call | None:
        """The next call, or None when all are made. The same history gives the same call."""
        if len(history) >= CALLS:
            return None
        belief = _Belief()
        for outcome in history:
            belief.learn(outcome)
        rng = np.random.default_rng((self._seed, 3, len(history)))
        return belief.retry(history) or belief.choose(rng, history)


class _Belief:
    """Where the planner takes the blocks to be, from successful calls alone."""

    def __init__(self) -> None:
        self.where = dict.fromkeys(BLOCKS, _START)
        self.held: str | None = None
        self.failures = dict.fromkeys(BLOCKS, 0)

    def learn(self, outcome: Outcome) -> None:
        call = outcome.call
        target = call.arguments["target"]
        self.failures[target] = 0 if outcome.success else self.failures[target] + 1
        self.held = None
        if call.tool == "pick":
            if outcome.success:
                self.held, self.where[target] = target, "gripper"
        else:
            goal = call.arguments["destination" if call.tool == "place" else "zone"]
            self.where[target] = goal if outcome.success else _TABLE

    def retry(self, history: Sequence[Outcome]) -> Call | None:
        """Tries a failed call once more; what was misplaced is picked up again."""
        if not history or history[-1].success:
            return None
        call = history[-1].call
        target = call.arguments["target"]
        if self.failures[target] > 1:
            return None
        return _pick(target) if call.tool == "place" else call

    def choose(self, rng: np.random.Generator, history: Sequence[Outcome]) -> Call:
        if self.held is not None:
            return self._place(rng, self.held, history)
        trusted = [b for b in BLOCKS if self.failures[b] < 2] or list(BLOCKS)
        pushable = [b for b in trusted if self.where[b] == _START and self._empty(_SIDE[b])]
        overdue = len(history) > 3 and all(outcome.call.tool != "push" for outcome in history)
        if pushable and (overdue or rng.random() < 0.5):
            target = pushable[int(rng.integers(len(pushable)))]
            return Call("push", {"target": target, "zone": _SIDE[target]})
        loose = [b for b in trusted if self.where[b] in (_START, _TABLE)]
        stored = [b for b in trusted if b not in loose and not _just_moved(b, history)]
        candidates = loose or stored or trusted
        return _pick(candidates[int(rng.integers(len(candidates)))])

    def _place(self, rng: np.random.Generator, target: str, history: Sequence[Outcome]) -> Call:
        goals = [zone for zone in ZONES if self._empty(zone)]
        if sum(place == BIN for place in self.where.values()) < len(GEOMETRY.bin_slots):
            goals.append(BIN)
        goal = goals[int(rng.integers(len(goals)))]
        return Call("place", {"target": target, "destination": goal})

    def _empty(self, zone: str) -> bool:
        return zone not in self.where.values()


def _pick(target: str) -> Call:
    return Call("pick", {"target": target})


def _just_moved(block: str, history: Sequence[Outcome]) -> bool:
    return any(outcome.call.arguments["target"] == block for outcome in history[-2:])
