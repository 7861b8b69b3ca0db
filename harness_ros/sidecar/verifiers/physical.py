# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`physical_outcome`: which share of the session's physical subgoals a verdict has confirmed."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field, ValidationError, model_validator

from harness_ros.contract import UNJUDGED_KINDS, HarnessError, Record, Run, Status, Verdict
from harness_ros.sidecar.verifier import give_reason

log = logging.getLogger("harness_ros.sidecar")

LEDGER_VARIABLE = "HARNESS_ROS_LEDGER"
"""Environment variable with the path of the ledger, where nobody hands one in."""

Id = Annotated[str, Field(min_length=1)]


class VerdictLookup(Protocol):
    """Where runs and verdicts are found; a Ledger is one."""

    def run(self, run_id: str) -> Run | None:
        """The run, or None."""

    def verdicts_of(self, run_ids: Iterable[str]) -> list[Verdict]:
        """The verdicts of these runs in the order in which they were given."""

    def run_ids_of_call(self, call_id: str) -> list[str]:
        """The runs of a call."""


class Subgoal(Record):
    """One thing that was to be reached, and the runs that served it, retries included.

    An empty list says that nothing was tried.
    """

    name: str = ""
    """For people."""
    run_ids: tuple[Id, ...] = ()
    call_ids: tuple[Id, ...] = ()
    """Calls of a tool; each stands for all of its segments."""

    @model_validator(mode="after")
    def _named(self) -> Subgoal:
        if not {"run_ids", "call_ids"} & self.model_fields_set:
            raise ValueError("neither `run_ids` nor `call_ids`")
        return self

    def __str__(self) -> str:
        return self.name or ", ".join([*self.run_ids, *self.call_ids]) or "no name"


class _Unjudged(Exception):
    """Why a subgoal has no verdict yet."""


class _Ended(Record):
    subgoals: tuple[Subgoal, ...] = ()
    run_ids: tuple[Id, ...] = ()
    call_ids: tuple[Id, ...] = ()

    def all(self) -> list[Subgoal]:
        """Every subgoal; a run or call that is named alone is one of its own."""
        return [
            *self.subgoals,
            *(Subgoal(run_ids=(name,)) for name in dict.fromkeys(self.run_ids)),
            *(Subgoal(call_ids=(name,)) for name in dict.fromkeys(self.call_ids)),
        ]


def physical_outcome(
    session_id: str,
    end_state: dict[str, Any],
    *,
    ledger: str | Path | None = None,
    verdicts: VerdictLookup | None = None,
    unjudged: Literal["failure", "none"] = "failure",
) -> float | None:
    """The share of the subgoals whose last verdict is success; None while one is still running.

    Args:
        end_state: `subgoals`, a list of objects with `run_ids`, `call_ids` and perhaps a `name`;
            or `run_ids` or `call_ids` itself, each then a subgoal of its own. Other keys are not
            looked at.
        ledger: path of the ledger; `HARNESS_ROS_LEDGER` of the environment where it is not given,
            then `~/.ros/harness_ros/ledger.sqlite`.
        verdicts: where runs and verdicts are found, instead of in a ledger.
        unjudged: what a last verdict is that nobody could judge, such as `judge_unavailable`: a
            failure like any other, or, with `none`, a reason to give no score.
    """
    try:
        known = {key: end_state[key] for key in _Ended.model_fields if key in end_state}
        subgoals = _Ended.model_validate(known).all()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        give_reason(f"end_state.{where}: {first['msg']} (value: {str(first['input'])[:120]!r})")
        return None
    if not subgoals:
        give_reason("end_state names no run: `subgoals`, `run_ids` or `call_ids` is wanted")
        return None
    try:
        lookup = _ledger(ledger) if verdicts is None else verdicts
        last = [_last_verdict(lookup, subgoal) for subgoal in subgoals]
    except (_Unjudged, HarnessError) as error:
        give_reason(str(error))
        log.info("session %s: %s", session_id, error)
        return None
    return _score(subgoals, last, unjudged)


def _score(subgoals: list[Subgoal], last: list[Verdict | None], unjudged: str) -> float | None:
    missed, unseen = [], []
    for subgoal, verdict in zip(subgoals, last, strict=True):
        if verdict is None:
            missed.append(f"'{subgoal}': nothing was tried")
        elif verdict.status is not Status.SUCCESS:
            why = verdict.failure_reason or verdict.kind.value or "failure"
            missed.append(f"'{subgoal}': {why}")
            if verdict.kind in UNJUDGED_KINDS:
                unseen.append(f"nobody could judge '{subgoal}': {verdict.kind.value}")
    if unseen and unjudged == "none":
        give_reason("; ".join(unseen))
        return None
    reached = len(subgoals) - len(missed)
    give_reason("; ".join([f"{reached} of {len(subgoals)} subgoals reached", *missed]))
    return reached / len(subgoals)


def _last_verdict(lookup: VerdictLookup, subgoal: Subgoal) -> Verdict | None:
    """The last verdict of a subgoal's runs; None where there are no runs."""
    run_ids = list(subgoal.run_ids)
    for call_id in subgoal.call_ids:
        of_call = lookup.run_ids_of_call(call_id)
        if not of_call:
            raise _Unjudged(f"call '{call_id}' is not known")
        run_ids += of_call
    given = lookup.verdicts_of(run_ids)
    for run_id in set(run_ids) - {verdict.run_id for verdict in given}:
        known = lookup.run(run_id) is not None
        raise _Unjudged(
            f"run '{run_id}' has no verdict yet" if known else f"run '{run_id}' is not known"
        )
    if not given:
        return None
    last = given[-1]
    if last.status is Status.PROCESS:
        raise _Unjudged(f"run '{last.run_id}' is still in process: another segment should follow")
    return last


_ledgers: dict[Path, tuple[tuple[int, int], Any]] = {}
_ledgers_lock = threading.Lock()


def _ledger(path: str | Path | None) -> VerdictLookup:
    """The ledger of a file, opened once for as long as it is the same file."""
    from harness_ros.ledger import Ledger

    default = "~/.ros/harness_ros/ledger.sqlite"
    found = Path(path or os.environ.get(LEDGER_VARIABLE) or default).expanduser()
    try:
        status = found.stat()
    except OSError as error:
        # Not left to Ledger, which makes a file that is missing.
        raise _Unjudged(f"ledger {found}: {error.strerror or error}") from None
    same_file = (status.st_dev, status.st_ino)
    with _ledgers_lock:
        kept = _ledgers.get(found)
        if kept is None or kept[0] != same_file:
            # One that is replaced may be in use; it is closed when nobody holds it any more.
            kept = (same_file, Ledger(found))
            _ledgers[found] = kept
        lookup: VerdictLookup = kept[1]
        return lookup
