# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Whatever a verifier does, its caller gets a score or None, in time."""

import asyncio
import logging
import math
import threading
import time
from fractions import Fraction

import numpy as np
import pytest

from harness_ros.sidecar import give_reason, run_verifier
from harness_ros.sidecar.threads import Threads, TooManyHanging
from harness_ros.sidecar.verifier import verify, verify_now

LONG_S = 20.0
SHORT_S = 0.05


@pytest.fixture
def release():
    """Ends what hangs, when the test has ended."""
    event = threading.Event()
    yield event
    event.set()


def plain(answer):
    return lambda session_id, end_state: answer


def coroutine(answer):
    async def verifier(session_id, end_state):
        await asyncio.sleep(0)
        return answer

    return verifier


class Callable:
    def __init__(self, answer):
        self._answer = answer

    async def __call__(self, session_id, end_state):
        return self._answer


def returning_a_coroutine(answer):
    return lambda session_id, end_state: coroutine(answer)(session_id, end_state)


def in_a_loop(verifier, timeout_s=LONG_S, end_state=None):
    return asyncio.run(verify(verifier, "session-1", end_state or {}, timeout_s))


def in_a_thread(verifier, timeout_s=LONG_S, end_state=None):
    return verify_now(verifier, "session-1", end_state or {}, timeout_s)


WAYS = pytest.mark.parametrize("ask", [in_a_loop, in_a_thread])
KINDS = pytest.mark.parametrize("kind", [plain, coroutine, Callable, returning_a_coroutine])


@WAYS
@KINDS
@pytest.mark.parametrize(
    ("answer", "score"),
    [
        (0.25, 0.25),
        (True, 1.0),
        (False, 0.0),
        (1, 1.0),
        (0, 0.0),
        (7, 1.0),
        (-0.1, 0.0),
        (10**400, 1.0),
        (Fraction(1, 4), 0.25),
        (np.float32(0.5), 0.5),
        (np.bool_(True), 1.0),
        (None, None),
        (math.nan, None),
        (math.inf, None),
        (-math.inf, None),
        (np.float64("nan"), None),
        ("0.5", None),
        ([1.0], None),
        ({"score": 1}, None),
        (1j, None),
    ],
    ids=str,
)
def test_an_answer_is_a_score_or_no_verdict(ask, kind, answer, score):
    found = ask(kind(answer))
    assert found.score == score
    assert found.score is None or type(found.score) is float
    assert found.reason or found.score is not None


@WAYS
@pytest.mark.parametrize(
    "answer", [math.nan, "a lot", 7, object()], ids=["nan", "text", "number", "object"]
)
def test_an_answer_that_is_none_is_logged_with_value_and_session(ask, answer, caplog):
    ask(plain(answer))
    assert "session-1" in caplog.text
    assert repr(answer) in caplog.text


@WAYS
def test_none_is_a_normal_answer(ask, caplog):
    found = ask(plain(None))
    assert found.score is None
    assert "cannot be judged yet" in found.reason
    assert caplog.text == ""


@WAYS
@pytest.mark.parametrize("error", [ValueError("no such table"), SystemExit(3), TimeoutError()])
def test_what_a_verifier_raises_is_no_verdict_and_is_logged(ask, error, caplog):
    def raising(session_id, end_state):
        raise error

    async def raising_later(session_id, end_state):
        raise error

    for verifier in (raising, raising_later):
        caplog.clear()
        found = ask(verifier)
        assert found.score is None
        assert type(error).__name__ in found.reason
        assert "session-1" in caplog.text and str(error) in caplog.text


def test_an_interrupt_raised_in_a_verifiers_thread_is_not_the_callers():
    def raising(session_id, end_state):
        raise KeyboardInterrupt

    assert in_a_loop(raising).score is None
    assert in_a_thread(raising).score is None


@WAYS
def test_a_verifier_that_cancels_itself_is_no_verdict(ask):
    async def cancelling(session_id, end_state):
        raise asyncio.CancelledError

    assert ask(cancelling).score is None


@WAYS
def test_a_plain_verifier_that_hangs_is_given_up(ask, release, caplog):
    found = ask(lambda session_id, end_state: release.wait(), SHORT_S)
    assert found.score is None
    assert found.reason == "no answer within 0.05 s"
    assert "session-1" in caplog.text
    assert SHORT_S <= found.latency_s < LONG_S


@WAYS
def test_an_async_verifier_that_hangs_is_cancelled(ask):
    ended = threading.Event()

    async def hanging(session_id, end_state):
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    assert ask(hanging, SHORT_S).reason == "no answer within 0.05 s"
    assert ended.wait(LONG_S)


def test_an_async_verifier_that_will_not_be_cancelled_holds_up_nobody():
    async def main():
        let_go = asyncio.Event()

        async def stubborn(session_id, end_state):
            while not let_go.is_set():
                try:
                    await let_go.wait()
                except asyncio.CancelledError:
                    continue

        found = await verify(stubborn, "session-1", {}, SHORT_S)
        let_go.set()
        return found

    assert asyncio.run(main()).score is None


def test_one_that_hangs_holds_up_no_other(release):
    async def main():
        begun = time.monotonic()
        hanging = [
            asyncio.create_task(run_verifier(lambda s, e: release.wait(), "hangs", {}, LONG_S))
            for _ in range(20)
        ]
        found = await asyncio.gather(
            *(run_verifier(plain(number / 50), "goes on", {}, LONG_S) for number in range(50))
        )
        took_s = time.monotonic() - begun
        assert not any(task.done() for task in hanging)
        release.set()
        await asyncio.gather(*hanging)
        return found, took_s

    found, took_s = asyncio.run(main())
    assert found == [number / 50 for number in range(50)]
    assert took_s < LONG_S / 2


@WAYS
def test_a_verifier_that_always_hangs_is_not_called_for_ever(ask, release, monkeypatch):
    monkeypatch.setattr("harness_ros.sidecar.verifier.THREADS", Threads(hanging_allowed=3))
    called = []

    def hanging(session_id, end_state):
        called.append(session_id)
        release.wait()

    reasons = [ask(hanging, SHORT_S).reason for _ in range(5)]
    assert len(called) == 3
    assert "3 earlier calls" in reasons[-1]
    assert ask(plain(1.0)).score == 1.0


def test_a_thread_that_returns_at_last_counts_no_more(release):
    threads = Threads(hanging_allowed=1)
    call = threads.start(plain, release.wait)
    call.give_up()
    assert threads.hanging == 1
    with pytest.raises(TooManyHanging):
        threads.start(plain, release.wait)
    release.set()
    call.answer.result(LONG_S)
    assert threads.hanging == 0
    assert threads.start(plain, lambda: 5).answer.result(LONG_S) == 5


def test_threads_are_used_again():
    names = set()

    def noting(session_id, end_state):
        names.add(threading.get_ident())
        return 1.0

    for _ in range(200):
        verify_now(noting, "session-1", {}, LONG_S)
    assert len(names) < 20


@WAYS
def test_a_verifier_cannot_change_the_callers_end_state(ask):
    end_state = {"files": ["a"]}

    def spoiling(session_id, given):
        given["files"].append("b")
        return 1.0

    assert ask(spoiling, end_state=end_state).score == 1.0
    assert end_state == {"files": ["a"]}


@WAYS
def test_a_reason_that_a_verifier_gives_is_passed_on(ask):
    def saying(session_id, end_state):
        give_reason("the build still runs")

    async def saying_later(session_id, end_state):
        await asyncio.sleep(0)
        give_reason("the build still runs")

    for verifier in (saying, saying_later):
        assert ask(verifier).reason == "the build still runs"
    assert "still runs" not in ask(plain(None)).reason


@WAYS
@pytest.mark.parametrize("timeout_s", [0, -1.0, math.nan])
def test_a_time_that_is_none_is_no_verdict(ask, timeout_s):
    assert "timeout_s" in ask(plain(1.0), timeout_s).reason


@WAYS
def test_any_long_time_will_do(ask):
    assert ask(plain(1.0), math.inf).score == 1.0
    assert ask(coroutine(1.0), math.inf).score == 1.0


@WAYS
def test_what_cannot_be_called_is_no_verdict(ask):
    assert "cannot be called" in ask(5).reason


def test_an_async_verifier_runs_in_the_callers_loop():
    async def main():
        loop = asyncio.get_running_loop()

        async def here(session_id, end_state):
            return asyncio.get_running_loop() is loop

        return await run_verifier(here, "session-1", {}, LONG_S)

    assert asyncio.run(main()) == 1.0


def test_a_caller_that_is_cancelled_stays_cancelled(release):
    async def main():
        begun = asyncio.Event()
        loop = asyncio.get_running_loop()

        def hanging(session_id, end_state):
            loop.call_soon_threadsafe(begun.set)
            release.wait()

        task = asyncio.create_task(run_verifier(hanging, "session-1", {}, LONG_S))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_logging_is_quiet_of_what_goes_well(caplog):
    with caplog.at_level(logging.DEBUG):
        assert asyncio.run(run_verifier(plain(0.5), "session-1", {}, LONG_S)) == 0.5
    assert [item for item in caplog.records if item.name == "harness_ros.sidecar"] == []
