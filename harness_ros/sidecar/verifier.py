# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The outcome verifier: how much of what a session was for it has reached, from 0 to 1.

A verifier is a plain or async function `(session_id: str, end_state: dict) -> float | bool | None`.
None means "cannot be judged yet". Whatever else it answers, raises or never answers is no verdict,
and is logged; whoever calls it goes on.
"""

from __future__ import annotations

import asyncio
import contextvars
import copy
import inspect
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent import futures
from functools import partial
from typing import Any, Protocol

from harness_ros.contract import Record
from harness_ros.sidecar.scores import score_of, shown
from harness_ros.sidecar.threads import THREADS, TooManyHanging

Answer = float | bool | None
EndState = dict[str, Any]

log = logging.getLogger("harness_ros.sidecar")

_LONGEST_WAIT_S = min(threading.TIMEOUT_MAX, 1e7)


class Verifier(Protocol):
    """What can judge how a session ended."""

    def __call__(
        self, session_id: str, end_state: EndState, /
    ) -> float | bool | Awaitable[float | bool | None] | None:
        """From 0 (nothing of it) to 1 (all of it); None where it cannot be judged yet."""


class Verified(Record):
    """What came of one call of a verifier."""

    score: float | None
    """0 to 1; None where there is no verdict."""
    reason: str = ""
    """Why there is no verdict, or what the verifier says of its score."""
    latency_s: float


class _TookTooLong(Exception):
    """An async verifier has not answered in time."""


class _Reasons:
    """What a verifier says beside its answer."""

    def __init__(self) -> None:
        self.text = ""


_REASONS: contextvars.ContextVar[_Reasons | None] = contextvars.ContextVar("reasons", default=None)


def give_reason(text: str) -> None:
    """Called inside of a verifier: says why it answers as it does, such as None."""
    reasons = _REASONS.get()
    if reasons is not None:
        reasons.text = text


async def run_verifier(
    verifier: Verifier, session_id: str, end_state: Mapping[str, Any], timeout_s: float
) -> float | None:
    """What a verifier says of a session, from 0 to 1; None where there is no verdict.

    Nothing that the verifier does is raised here. A plain function runs in a thread and is given up
    after the time; an async one runs in this loop, and must not block it.

    Args:
        verifier: gets a copy of `end_state`, so that it cannot change the caller's.
        timeout_s: wall-clock seconds.
    """
    return (await verify(verifier, session_id, end_state, timeout_s)).score


async def verify(
    verifier: Verifier, session_id: str, end_state: Mapping[str, Any], timeout_s: float
) -> Verified:
    """As `run_verifier`, with the reason and the time that it took."""
    call = _Call(verifier, session_id, timeout_s)
    work = call.work(end_state)
    if work is None:
        return call.result()
    try:
        if _is_async(verifier):
            await _in_this_loop(call, work())
        else:
            await _in_a_thread(call, work)
    except Exception as error:
        call.failed(error)
    return call.result()


def verify_now(
    verifier: Verifier, session_id: str, end_state: Mapping[str, Any], timeout_s: float
) -> Verified:
    """As `verify`, for a thread without event loop; an async verifier gets a loop of its own."""
    call = _Call(verifier, session_id, timeout_s)
    work = call.work(end_state)
    if work is None:
        return call.result()
    try:
        started = THREADS.start(verifier, partial(_with_loop, call, work))
        try:
            # Not `result`: what the verifier raises must not be taken for an exception of here.
            raised = started.answer.exception(call.left_s)
        except futures.TimeoutError:
            raised = _TookTooLong()
        finally:
            started.give_up()
        if isinstance(raised, _TookTooLong):
            call.timed_out()
        elif raised is not None:
            call.failed(raised)
        else:
            call.answered(started.answer.result())
    except TooManyHanging as error:
        call.refused(str(error))
    except Exception as error:
        call.failed(error)
    return call.result()


def verify_here(
    verifier: Verifier, session_id: str, end_state: Mapping[str, Any], timeout_s: float
) -> Verified:
    """As `verify_now`, but in this very thread: it returns when a plain verifier does.

    For whoever has threads already and sees to those that are late; it saves going to another.
    """
    call = _Call(verifier, session_id, timeout_s)
    work = call.work(end_state)
    if work is None:
        return call.result()
    try:
        call.answered(_with_loop(call, work))
    except _TookTooLong:
        call.timed_out()
    except (Exception, SystemExit) as error:
        call.failed(error)
    return call.result()


class _Call:
    """One call of a verifier: what it is given, and what is said of how it ended."""

    def __init__(self, verifier: Verifier, session_id: str, timeout_s: float) -> None:
        self.timeout_s = min(timeout_s, _LONGEST_WAIT_S)
        self._verifier, self._session_id = verifier, session_id
        self._begun = time.monotonic()
        self._reasons = _Reasons()
        self._score: float | None = None
        self._problem = ""

    def work(self, end_state: Mapping[str, Any]) -> Callable[[], Any] | None:
        """The call as a function without arguments; None where it cannot be made."""
        if not callable(self._verifier):
            self.refused(f"{shown(self._verifier)} cannot be called")
            return None
        if not self.timeout_s > 0:
            self.refused(f"timeout_s is {self.timeout_s}; more than 0 is wanted")
            return None
        try:
            given = copy.deepcopy(dict(end_state))
        except Exception as error:
            self.refused(f"end_state cannot be copied: {_words(error)}")
            return None
        context = contextvars.copy_context()
        context.run(_REASONS.set, self._reasons)
        return partial(context.run, self._verifier, self._session_id, given)

    @property
    def reasons(self) -> _Reasons:
        return self._reasons

    @property
    def left_s(self) -> float:
        return max(0.0, self._begun + self.timeout_s - time.monotonic())

    def answered(self, answer: Any) -> None:
        self._score, problem = score_of(answer)
        if problem:
            self._log(problem)
        if self._score is None:
            self._problem = problem

    def timed_out(self) -> None:
        self.refused(f"no answer within {self.timeout_s:g} s")

    def failed(self, error: BaseException) -> None:
        self._problem = f"it failed: {_words(error)}"
        self._log(self._problem, error)

    def refused(self, why: str) -> None:
        self._problem = why
        self._log(why)

    def result(self) -> Verified:
        reason = self._problem or self._reasons.text
        if self._score is None and not reason:
            reason = "the verifier answered None: it cannot be judged yet"
        return Verified(score=self._score, reason=reason, latency_s=time.monotonic() - self._begun)

    def _log(self, what: str, error: BaseException | None = None) -> None:
        name = getattr(self._verifier, "__qualname__", None) or shown(self._verifier)
        log.warning(
            "session %s: verifier %s: %s", shown(self._session_id), name, what, exc_info=error
        )


async def _in_this_loop(call: _Call, awaitable: Awaitable[Any]) -> None:
    """Waits for an awaitable; one that ignores being cancelled is left to itself."""
    task = asyncio.ensure_future(_caught(awaitable, call.reasons))
    try:
        await asyncio.wait({task}, timeout=call.left_s)
    finally:
        task.cancel()
    if not task.done():
        call.timed_out()
    elif task.cancelled():
        call.refused("it cancelled itself")
    else:
        answer, error = task.result()
        if error is None:
            call.answered(answer)
        else:
            call.failed(error)


async def _caught(awaitable: Awaitable[Any], reasons: _Reasons) -> tuple[Any, BaseException | None]:
    _REASONS.set(reasons)
    try:
        return await awaitable, None
    except (Exception, SystemExit) as error:  # SystemExit would end the caller's loop
        return None, error


async def _in_a_thread(call: _Call, work: Callable[[], Any]) -> None:
    try:
        started = THREADS.start(call._verifier, work)
    except TooManyHanging as error:
        call.refused(str(error))
        return
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()

    def wake(_: object) -> None:
        try:
            loop.call_soon_threadsafe(ended.set)
        except RuntimeError:  # the loop has ended, and nobody waits
            return

    started.answer.add_done_callback(wake)
    try:
        await asyncio.wait_for(ended.wait(), call.left_s)
    except asyncio.TimeoutError:
        pass
    finally:
        started.give_up()
    if not started.answer.done():
        call.timed_out()
        return
    raised = started.answer.exception()
    answer = None if raised else started.answer.result()
    if raised is not None:
        call.failed(raised)
    elif inspect.isawaitable(answer):
        await _in_this_loop(call, answer)
    else:
        call.answered(answer)


def _with_loop(call: _Call, work: Callable[[], Any]) -> Any:
    """What a verifier answers in this thread, async or not."""
    answer = work()
    return asyncio.run(_awaited(call, answer)) if inspect.isawaitable(answer) else answer


async def _awaited(call: _Call, awaitable: Awaitable[Any]) -> Any:
    task = asyncio.ensure_future(_caught(awaitable, call.reasons))
    await asyncio.wait({task}, timeout=call.left_s)
    if not task.done():
        raise _TookTooLong
    answer, error = task.result()
    if error is not None:
        raise error
    return answer


def _is_async(verifier: Any) -> bool:
    while isinstance(verifier, partial):
        verifier = verifier.func
    return inspect.iscoroutinefunction(verifier) or inspect.iscoroutinefunction(
        getattr(verifier, "__call__", None)  # noqa: B004
    )


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
