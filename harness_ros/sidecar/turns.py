# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a turn of a session was worth: score, threshold, integrity, and what scores tell apart."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, Field

from harness_ros.config.sidecar import SidecarConfig
from harness_ros.contract import HarnessError, Record
from harness_ros.sidecar.integrity import Integrity
from harness_ros.sidecar.loading import load_verifier
from harness_ros.sidecar.promotion.records import OUTCOME_METRIC
from harness_ros.sidecar.scores import shown
from harness_ros.sidecar.threads import THREADS
from harness_ros.sidecar.verifier import Verified, Verifier, verify, verify_here, verify_now

log = logging.getLogger("harness_ros.sidecar")

LONGEST_END_STATE = 1_000_000
"""Characters of an end state as JSON."""
NEARLY_ALL = 0.95
"""Share of the scores of a window that may be the same (to 0.01)."""


class EndStateError(HarnessError):
    """An end state that is no object of JSON; the text says why."""


class TurnResult(Record):
    """What a turn was worth: the metric `outcome_correct`, of tier 0."""

    # For the description of the HTTP endpoint.
    model_config = ConfigDict(use_attribute_docstrings=True)

    session_id: str
    """As it was given."""
    turn_index: int
    """As it was given."""
    has_score: bool
    """Without, there is no verdict: neither good nor bad."""
    score: float = Field(ge=0, le=1)
    """0 to 1; 0 where there is none."""
    breached: bool
    """There is a score, and it is below the threshold."""
    reason: str
    """What the verifier says of its score, or why there is none."""
    violations: tuple[str, ...] = ()
    """What the agent has moved; then the score is withheld."""
    latency_s: float = Field(ge=0)
    """Wall-clock seconds from the question to here."""
    metric: str = OUTCOME_METRIC
    """The name of what was measured."""
    tier: int = 0
    """Rank of the metric among others; 0 goes first."""


class TurnVerifier:
    """Asks one verifier about turns; usable from several threads.

    Nothing that a session's end state or the verifier brings about is raised.

    Args:
        threshold: a score below is a breach.
        timeout_s: wall-clock seconds to wait for the verifier.
        integrity: what the agent must not move.
        window: scores that are looked at together for `warning`.
    """

    def __init__(
        self,
        verifier: Verifier,
        threshold: float = 0.9,
        timeout_s: float = 5.0,
        integrity: Integrity | None = None,
        window: int = 50,
    ) -> None:
        self.threshold, self.timeout_s = threshold, timeout_s
        self._verifier, self._integrity = verifier, integrity
        self._lock = threading.Lock()
        self._scores: deque[float] = deque(maxlen=window)
        self._warned = ""

    async def verify(
        self, session_id: str, turn_index: int, end_state: Mapping[str, Any] | str
    ) -> TurnResult:
        """What a turn was worth.

        Args:
            end_state: an object, or the JSON of one.
        """
        turn = _Turn(self, session_id, turn_index)
        given = turn.read(end_state)
        if given is None or not await turn.found_untouched(given):
            return turn.result()
        verified = await verify(self._verifier, session_id, given, self.timeout_s)
        return turn.verified(verified)

    def verify_now(
        self, session_id: str, turn_index: int, end_state: Mapping[str, Any] | str
    ) -> TurnResult:
        """As `verify`, for a thread; it returns soon after `timeout_s` at the latest."""
        turn = _Turn(self, session_id, turn_index)
        given = turn.read(end_state)
        if given is None or not turn.untouched(given):
            return turn.result()
        return turn.verified(verify_now(self._verifier, session_id, given, self.timeout_s))

    def verify_here(
        self, session_id: str, turn_index: int, end_state: Mapping[str, Any] | str
    ) -> TurnResult:
        """As `verify_now`, but in this very thread: it returns when a plain verifier does."""
        turn = _Turn(self, session_id, turn_index)
        given = turn.read(end_state)
        if given is None or not turn.untouched(given):
            return turn.result()
        return turn.verified(verify_here(self._verifier, session_id, given, self.timeout_s))

    @property
    def hanging(self) -> int:
        """Threads of this process in verifiers that were given up and have not returned."""
        return THREADS.hanging

    @property
    def warning(self) -> str:
        """Why the newest scores tell nothing apart; empty where they do, or are still too few."""
        with self._lock:
            return self._told_apart()

    def _keep(self, score: float) -> None:
        with self._lock:
            self._scores.append(round(score, 2))
            warning = self._told_apart()
            new = warning if bool(warning) != bool(self._warned) else ""
            self._warned = warning
        if new:
            log.warning("%s", new)

    def _told_apart(self) -> str:
        seen = len(self._scores)
        if seen < (self._scores.maxlen or 0):
            return ""
        ((score, times),) = Counter(self._scores).most_common(1)
        if times < NEARLY_ALL * seen:
            return ""
        return (
            f"{times} of the last {seen} scores are {score:g}: they tell nothing apart, and no "
            "rule can be seen to help or harm; give partial credit, or easier or harder tasks"
        )

    def _violations(self, end_state: Mapping[str, Any]) -> tuple[str, ...]:
        if self._integrity is None:
            return ()
        try:
            return self._integrity.violations(end_state)
        except Exception as error:
            # What cannot be looked at may have been moved.
            return (f"integrity could not be checked: {type(error).__name__}: {error}",)


class _Turn:
    """One turn on its way to its result."""

    def __init__(self, turns: TurnVerifier, session_id: str, turn_index: int) -> None:
        self._turns, self._session_id, self._turn_index = turns, session_id, turn_index
        self._begun = time.monotonic()
        self._reason = ""
        self._violations: tuple[str, ...] = ()

    def read(self, end_state: Mapping[str, Any] | str) -> dict[str, Any] | None:
        try:
            return read_end_state(end_state)
        except EndStateError as error:
            self._reason = str(error)
            log.warning("session %s: %s", shown(self._session_id), error)
            return None

    def untouched(self, end_state: Mapping[str, Any]) -> bool:
        """Whether the agent has moved nothing that it must not."""
        self._violations = self._turns._violations(end_state)
        if self._violations:
            self._reason = f"score withheld: {'; '.join(self._violations)}"
            log.warning("session %s: %s", shown(self._session_id), self._reason)
        return not self._violations

    async def found_untouched(self, end_state: Mapping[str, Any]) -> bool:
        """As `untouched`; files are read beside the loop."""
        if self._turns._integrity is None:
            return True
        return await asyncio.to_thread(self.untouched, end_state)

    def verified(self, verified: Verified) -> TurnResult:
        self._reason = verified.reason
        if verified.score is not None:
            self._turns._keep(verified.score)
        return self.result(verified.score)

    def result(self, score: float | None = None) -> TurnResult:
        return TurnResult(
            session_id=self._session_id,
            turn_index=self._turn_index,
            has_score=score is not None,
            score=0.0 if score is None else score,
            breached=score is not None and score < self._turns.threshold,
            reason=self._reason,
            violations=self._violations,
            latency_s=time.monotonic() - self._begun,
        )


def turn_verifier(config: SidecarConfig, offered: Mapping[str, Any] | None = None) -> TurnVerifier:
    """The verifier of a configuration.

    Args:
        offered: what a verifier gets if it has a parameter of that name, such as `ledger`.

    Raises:
        VerifierError: the verifier cannot be used.
        IntegrityError: what is to be guarded cannot be.
    """
    guarded = config.integrity.files or config.integrity.counts
    return TurnVerifier(
        load_verifier(config.verifier, config.options, offered),
        config.outcome_threshold,
        config.verifier_timeout_s,
        Integrity(config.integrity) if guarded else None,
        config.window,
    )


def read_end_state(end_state: Mapping[str, Any] | str) -> dict[str, Any]:
    """An end state as an object.

    Raises:
        EndStateError: it is none.
    """
    if not isinstance(end_state, str):
        if isinstance(end_state, Mapping):
            return dict(end_state)
        raise EndStateError(f"end_state is {shown(end_state)}; an object is wanted")
    if len(end_state) > LONGEST_END_STATE:
        raise EndStateError(
            f"end_state has {len(end_state)} characters; at most {LONGEST_END_STATE} are allowed"
        )
    try:
        read = json.loads(end_state, parse_constant=refuse_constant)
    except RecursionError:
        raise EndStateError("end_state is nested too deeply") from None
    except ValueError as error:
        raise EndStateError(f"end_state is no JSON: {error} (value: {end_state[:80]!r})") from None
    if not isinstance(read, dict):
        raise EndStateError(f"end_state is {shown(read)}; an object is wanted")
    return read


def refuse_constant(name: str) -> None:
    """For `parse_constant` of json.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"{name} is no number of JSON")
