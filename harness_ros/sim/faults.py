# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which call fails, and how: decided by seed and call number alone, carried out by physics."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

import numpy as np


class FaultKind(str, Enum):
    """A way in which a tool fails without noticing."""

    SLIPPERY = "slippery"
    """The block has hardly any friction and slips out of the fingers while being lifted."""
    BESIDE = "beside"
    """The grasp closes 6 cm beside the block."""
    WRONG_BLOCK = "wrong_block"
    """The tool takes the neighbour for the target."""
    KNOCKED_OFF = "knocked_off"
    """The gripper sweeps the block off the table."""
    MISPLACED = "misplaced"
    """The block is released beside its destination."""
    SHORT_PUSH = "short_push"
    """The push hardly reaches the block, in each segment of the call."""


KINDS: Final[dict[str, tuple[FaultKind, ...]]] = {
    "pick": (FaultKind.SLIPPERY, FaultKind.BESIDE, FaultKind.WRONG_BLOCK),
    "place": (FaultKind.MISPLACED,),
    "push": (FaultKind.SHORT_PUSH,),
}
"""The faults of each tool; `KNOCKED_OFF` comes on top, for one call of a plan at most."""

_FIRST, _LAST = 2, 12
_COUNT = 5


@dataclass(frozen=True)
class Fault:
    """A fault of one call."""

    kind: FaultKind
    choice: int = 0
    """Settles what the kind leaves open, such as on which side."""


class FaultPlan:
    """The faults of a series of calls.

    Five of the calls 2 to 12 fail, never three in a row; one of them, if it is a pick or a push,
    knocks its block off the table. The plan has no memory: asking twice gives the same answer,
    so that all segments of a call share their fault.

    Args:
        seed: Chooses the calls and the kinds.
        enabled: False plans no fault at all.
    """

    def __init__(self, seed: int, enabled: bool = True) -> None:
        self._seed = seed
        rng = np.random.default_rng((seed, 1))
        self.calls: tuple[int, ...] = _spread(rng) if enabled else ()
        """Numbers of the calls that fail, counted from 1."""
        self._knocked_off = int(rng.choice(self.calls)) if self.calls else 0

    def fault(self, call: int, tool: str) -> Fault | None:
        """The fault of a call, or None.

        Args:
            call: Number of the call, counted from 1; segments of one call share it.
            tool: `pick`, `place` or `push`.
        """
        if call not in self.calls:
            return None
        rng = np.random.default_rng((self._seed, 2, call))
        kinds = KINDS[tool]
        kind = kinds[int(rng.integers(len(kinds)))]
        if call == self._knocked_off and tool != "place":
            kind = FaultKind.KNOCKED_OFF
        return Fault(kind, int(rng.integers(4)))


def _spread(rng: np.random.Generator) -> tuple[int, ...]:
    while True:
        calls = sorted(rng.choice(np.arange(_FIRST, _LAST + 1), _COUNT, replace=False).tolist())
        if all(c - a > 2 for a, c in zip(calls, calls[2:], strict=False)):
            return tuple(calls)
