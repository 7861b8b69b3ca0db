# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the evaluator costs while a tool runs, and whether it gets every frame.

Three 1280x720 cameras at 30 Hz. In turns, one at a time: the evaluator armed for a run, and the
subscribers of bench.actors.subscriber.

The baseline is the cheapest subscriber that could be made: raw bytes, dropped, memory kept. One
that leaves its memory to the C library costs the same or three times as much, as its pages happen
to fall; that would be no measure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from bench.options import Options
from bench.processes import Process
from bench.record import Baseline, Measurement, Target, against, spread
from bench.runs import Runs
from bench.stage import Stage
from bench.status import EvaluatorStatus
from bench.world import CAMERAS, HD, RATE_HZ, configuration

AT_MOST_TIMES = 1.2
KINDS = ("raw", "raw_plain", "usual")
LATE_S = 0.1
"""A frame that is published later than this: the turn is taken again."""
FRAMES_TIMEOUT_S = 0.5
"""How long the evaluator waits for frames that do not come: nobody is to judge here."""


@dataclass(frozen=True)
class Turn:
    """Seconds of processor time and frames of all cameras in one turn of one subscriber."""

    cpu_s: float
    published: int
    received: int
    seconds: float
    worst_delay_s: float
    """Of the cameras: how late a frame was published at worst."""
    how: str = ""
    """What the subscriber does."""

    @property
    def share(self) -> float:
        """Percent of a core."""
        return 100.0 * self.cpu_s / self.seconds

    @property
    def disturbed(self) -> bool:
        """Whether the cameras could not keep their rate."""
        return self.worst_delay_s > LATE_S

    @property
    def lost(self) -> int:
        """Frames that were published and not received."""
        return self.published - self.received


def measure(options: Options) -> Iterator[Measurement]:
    """Processor time by that of the bare subscriber, and frames lost with and without profiles."""
    turns = options.choose(full=6, quick=3, smoke=1)
    seconds = options.choose(full=5.0, quick=3.0, smoke=0.5)
    attempts = options.choose(full=4, quick=3, smoke=1)
    armed: list[Turn] = []
    others: dict[str, list[Turn]] = {kind: [] for kind in KINDS}
    with Stage(options) as stage:
        cameras = _Cameras(stage, seconds)
        evaluator = _Evaluator(stage)
        for turn in range(turns):
            options.tell(f"turn {turn + 1} of {turns}")
            armed.append(_undisturbed(lambda: evaluator.turn(cameras), attempts))
            for kind in KINDS:
                take = partial(_subscriber_turn, stage, cameras, kind)
                others[kind].append(_undisturbed(take, attempts))
    yield _cpu("armed/cpu", armed, others["raw"], AT_MOST_TIMES, seconds_a_turn=seconds)
    for kind in ("raw_plain", "usual"):
        yield _cpu(
            f"armed/cpu_{kind}_subscriber", others[kind], others["raw"], how=others[kind][0].how
        )
    options.tell("with the default profile of the middleware")
    with Stage(options, shipped_profiles=False) as stage:
        default = _Evaluator(stage).turn(_Cameras(stage, seconds))
    yield _lost(armed, others, default)


def _undisturbed(take: Callable[[], Turn], attempts: int) -> Turn:
    """A turn in which the cameras kept their rate; the last one tried where none did.

    Cameras that are late themselves say that the machine has no time left: then frames are lost
    whoever subscribes.
    """
    turn = take()
    while turn.disturbed and attempts > 1:
        attempts -= 1
        turn = take()
    return turn


class _Cameras:
    """The cameras of one stage."""

    def __init__(self, stage: Stage, seconds: float) -> None:
        self._actor = stage.actor("cameras", "--width", HD.width, "--height", HD.height)
        self._actor.hear()
        self._stage = stage
        self._frames = max(1, round(seconds * RATE_HZ))
        self._warm_up = min(round(RATE_HZ), self._frames)

    def turn(self, process: Process, received: Callable[[], int]) -> Turn:
        """Publishes to whoever has subscribed; what warms up is not in the processor time."""
        published, late_first_s = self._publish(self._warm_up)
        cpu_s = process.cpu_s()
        more, late_s = self._publish(self._frames)
        self._stage.rest(0.2)
        cpu_s = process.cpu_s() - cpu_s
        published += more
        return Turn(cpu_s, published, received(), self._frames / RATE_HZ, max(late_first_s, late_s))

    def _publish(self, frames: int) -> tuple[int, float]:
        self._actor.say(frames=frames, subscriptions=1)
        self._actor.hear()
        # What is spun here is little, and it would hold nobody up.
        said = self._actor.hear(timeout_s=30.0 + frames / RATE_HZ)
        return said["published"] * len(CAMERAS), said["late_s"]


class _Evaluator:
    """The evaluator of one stage, armed for a turn by a run that nobody judges."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._process = stage.evaluator(configuration(stage.folder, FRAMES_TIMEOUT_S))
        self._runs = Runs(stage)
        self._status = EvaluatorStatus(stage)
        self._runs.await_evaluator()
        stage.settle()

    def turn(self, cameras: _Cameras) -> Turn:
        """Arms it, lets the cameras publish, and ends the run once they have."""
        with self._armed():
            return cameras.turn(self._process, lambda: sum(self._status.received(CAMERAS).values()))

    @contextmanager
    def _armed(self) -> Iterator[None]:
        self._runs.await_subscriptions(wanted=False)
        run_id = self._runs.start()
        self._runs.await_subscriptions(wanted=True)
        yield
        self._runs.finish(run_id)
        self._runs.verdict(run_id)
        self._runs.await_subscriptions(wanted=False)


def _subscriber_turn(stage: Stage, cameras: _Cameras, kind: str) -> Turn:
    """A turn of a subscriber of this kind."""
    subscriber = stage.actor("subscriber", kind)
    how = str(subscriber.hear()["how"])

    def received() -> int:
        subscriber.say(count=True)
        return sum(subscriber.hear()["received"].values())

    turn = cameras.turn(subscriber, received)
    stage.stop(subscriber)
    return replace(turn, how=how)


def _cpu(
    name: str, turns: list[Turn], bare: list[Turn], at_most: float | None = None, **details: Any
) -> Measurement:
    return against(
        name,
        "% of a core",
        [turn.share for turn in turns],
        "bare raw subscriber",
        [turn.share for turn in bare],
        at_most,
        **details,
    )


def _lost(armed: list[Turn], others: dict[str, list[Turn]], default: Turn) -> Measurement:
    """Frames lost by the evaluator, with the shipped profile on both sides and without."""
    lost = [float(turn.lost) for turn in armed]
    return Measurement(
        name="armed/frames_lost",
        value=sum(lost),
        unit="frames",
        baseline=Baseline(name="default profile, one turn", value=default.lost),
        target=Target(at_most=0.0),
        details={
            **spread(lost),
            "published": sum(turn.published for turn in armed),
            "default_profile_published": default.published,
            "lost_by_others": {
                kind: sum(turn.lost for turn in turns) for kind, turns in others.items()
            },
            "disturbed_turns": sum(turn.disturbed for turn in armed),
            "worst_delay_of_a_camera_s": round(max(turn.worst_delay_s for turn in armed), 3),
        },
    )
