# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Offline grading: it costs what its runs cost, however long the bags are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import bags
from bench.bags import Messages, Recording
from bench.options import Effort, Options
from bench.processes import Process, actor_command
from bench.record import Baseline, BenchError, Measurement, Target, against, spread
from harness_ros.bag.reading import Bag
from harness_ros.bag.storage import Storage
from harness_ros.capture.decoding import Decoder
from harness_ros.capture.definitions import Definitions
from harness_ros.capture.memory import keep_freed_memory
from harness_ros.config import load

LONG_BY_SHORT_AT_MOST = 1.3
TIMES_LONGER = 10
READING_AT_MOST = 1 / 20
"""Of the time that reading every message takes."""
TWO_WORKERS_AT_MOST = 1 / 1.7
"""Of the time that one takes."""
COUNT = 60_000_000
"""About two seconds of counting."""
MEMORY_AT_MOST_MB = 500.0
FIRST_RESULT_AT_MOST_S = 2.0
RUN_EVERY_S = 3.9
"""In the short bag: a run, and what is seen after it."""
PATIENCE_S = 600.0
NOT_LARGE = {"target_is_for": "a bag of 1.5 GB, with the full effort"}


@dataclass(frozen=True)
class _Size:
    runs: int
    rounds: int
    bags: int
    """That workers share."""
    runs_a_bag: int
    worker_rounds: int


def measure(options: Options) -> Iterator[Measurement]:
    """Times of the command and of its reading, its memory, what a second worker brings."""
    size = options.choose(
        full=_Size(runs=20, rounds=5, bags=16, runs_a_bag=24, worker_rounds=3),
        quick=_Size(runs=6, rounds=3, bags=16, runs_a_bag=6, worker_rounds=2),
        smoke=_Size(runs=2, rounds=1, bags=2, runs_a_bag=1, worker_rounds=1),
    )
    config = bags.configuration(options.folder)
    messages = Messages()
    seconds = size.runs * RUN_EVERY_S
    long, short = (
        bags.write(options.folder, Recording(name, lasts_s, size.runs), messages, options.tell)
        for name, lasts_s in (("long", seconds * TIMES_LONGER), ("short", seconds))
    )
    grader = _Grader(options, config)
    yield from _lengths(grader, long, short, size)
    yield from _reading(grader, long, short, config, size)
    for bag in (long, short):
        shutil.rmtree(bag)
    yield _two_workers(grader, messages, size)


def _lengths(grader: _Grader, long: Path, short: Path, size: _Size) -> Iterator[Measurement]:
    """The same number of runs in a long bag and in a short one, in turns."""
    found: dict[Path, list[Mapping[str, Any]]] = {long: [], short: []}
    for number in range(size.rounds):
        for bag in (long, short) if number % 2 else (short, long):
            found[bag].append(grader.grade([bag], size.runs))
    about = {"bag_mb": _megabytes(long), "runs": size.runs, **grader.about_bags}
    yield against(
        "grading/long_bag",
        "s",
        [item["seconds"] for item in found[long]],
        f"a {TIMES_LONGER}th of the bag",
        [item["seconds"] for item in found[short]],
        LONG_BY_SHORT_AT_MOST,
        short_bag_mb=_megabytes(short),
        measured="the whole command, from its start to its end",
        **about,
    )
    firsts = [item["first_s"] for item in found[long]]
    yield Measurement(
        name="grading/first_result",
        value=spread(firsts)["median"],
        unit="s",
        target=grader.for_large_bags(Target(at_most=FIRST_RESULT_AT_MOST_S)),
        details={**spread(firsts), **about, "measured": "to the first line of results.jsonl"},
    )
    two = grader.grade([long], size.runs, workers=2)
    for name, items in (("memory", found[long]), ("memory_of_workers", [two])):
        most = [item["memory_bytes"] / 1e6 for item in items]
        yield Measurement(
            name=f"grading/{name}",
            value=max(most),
            unit="MB",
            target=grader.for_large_bags(Target(at_most=MEMORY_AT_MOST_MB)),
            details={**spread(most), **about, "measured": "resident memory of the largest process"},
        )


def _reading(
    grader: _Grader, long: Path, short: Path, config: Path, size: _Size
) -> Iterator[Measurement]:
    """What is read for the runs of the long bag, by all messages of it, and by the short bag.

    In this process, which keeps freed memory as the command does: no start hides anything.
    """
    keep_freed_memory()
    evidence, in_short, deserialized, raw = [], [], [], []
    for number in range(size.rounds + 1):
        grader.options.tell("reads the evidence of all runs, and every message")
        took = (
            _evidence_s(long, config, size.runs),
            _evidence_s(short, config, size.runs),
            _messages_s(long, deserialize=True),
            _messages_s(long, deserialize=False),
        )
        # Once to bring the file and all code into memory.
        if number:
            for values, value in zip((evidence, in_short, deserialized, raw), took, strict=True):
                values.append(value)
    yield against(
        "grading/reading",
        "s",
        evidence,
        "every message read and deserialized",
        deserialized,
        None if grader.about_bags else READING_AT_MOST,
        runs=size.runs,
        bag_mb=_megabytes(long),
        measured="processor time of one process; the file is in memory",
        reader="harness_ros.bag.storage, deserialized by rosbags",
        every_message_not_deserialized=spread(raw),
        **grader.about_bags,
    )
    yield against("grading/reading_long_bag", "s", evidence, "the short bag", in_short)


def _evidence_s(path: Path, config: Path, runs: int) -> float:
    evaluation = load(config)
    begun = time.process_time()
    with Bag(path) as bag:
        found = bag.runs()
        for recorded in found:
            bag.observation(evaluation, recorded)
    took_s = time.process_time() - begun
    if len(found) != runs:
        raise BenchError(f"{path}: {len(found)} runs were found, {runs} are in it")
    return took_s


def _messages_s(path: Path, deserialize: bool) -> float:
    begun = time.process_time()
    with Storage(path) as storage:
        topics = list(storage.types)
        decoder = Decoder(Definitions(storage.typestore(topics)))
        for message in storage.messages(topics):
            if deserialize:
                decoder.message(message.type, message.data, message.topic)
    return time.process_time() - begun


def _two_workers(grader: _Grader, messages: Messages, size: _Size) -> Measurement:
    """Many bags by one worker and by two, in turns."""
    options = grader.options
    lasts_s = size.runs_a_bag * RUN_EVERY_S
    made = [
        bags.write(
            options.folder,
            Recording(f"bag-{number:02d}", lasts_s, size.runs_a_bag),
            messages,
            options.tell,
        )
        for number in range(size.bags)
    ]
    runs = size.runs_a_bag * size.bags
    took: dict[int, list[float]] = {1: [], 2: []}
    counting: dict[int, list[float]] = {1: [], 2: []}
    cpu: dict[int, list[float]] = {1: [], 2: []}
    for number in range(size.worker_rounds):
        for workers in (1, 2) if number % 2 else (2, 1):
            counting[workers].append(_counting_s(workers))
            said = grader.grade(made, runs, workers=workers)
            took[workers].append(said["seconds"])
            cpu[workers].append(said["cpu_s"])
    # The least of each: whatever else runs takes a core from two workers, and none from one.
    one, two = min(took[1]), min(took[2])
    given = 2 * min(counting[1]) / min(counting[2])
    enough = len(os.sched_getaffinity(0)) >= 2
    return Measurement(
        name="grading/two_workers",
        value=two,
        unit="s",
        ratio=two / one,
        baseline=Baseline(name="one worker", value=one),
        target=grader.for_large_bags(Target(at_most=round(TWO_WORKERS_AT_MOST, 3), of="ratio"))
        if enough
        else None,
        details={
            **spread(took[2]),
            "baseline": spread(took[1]),
            "bags": size.bags,
            "runs": runs,
            "times_as_fast": round(one / two, 2),
            "times_as_fast_counting": round(given, 2),
            "processor_s": round(min(cpu[2]), 2),
            "processor_s_of_one_worker": round(min(cpu[1]), 2),
            "ratio_is_of": "the least times of each",
            "load_1min": round(os.getloadavg()[0], 2),
            **grader.about_bags,
        },
    )


def _counting_s(processes: int) -> float:
    """Time in which so many processes at once count to a number each."""
    begun = time.perf_counter()
    started = [
        subprocess.Popen([sys.executable, "-c", f"for _ in range({COUNT}): pass"])
        for _ in range(processes)
    ]
    for process in started:
        process.wait()
    return time.perf_counter() - begun


class _Grader:
    """Runs `harness-ros grade`, as somebody would in a shell."""

    def __init__(self, options: Options, config: Path) -> None:
        self.options = options
        self._config = config
        self._command = harness_command()
        self._lines: bytes | None = None
        self._graded: Sequence[Path] = ()

    def for_large_bags(self, target: Target) -> Target | None:
        """The target, where bags are as large as it was set for."""
        return None if self.about_bags else target

    @property
    def about_bags(self) -> Mapping[str, str]:
        """What is to be said of bags that are smaller."""
        return {} if self.options.effort is Effort.FULL else NOT_LARGE

    def grade(self, paths: Sequence[Path], runs: int, workers: int = 1) -> Mapping[str, Any]:
        """What bench.actors.command says of the command.

        Raises:
            BenchError: it failed, or did not grade every run, or another way than before.
        """
        self.options.tell(f"grades {len(paths)} bags with {workers} workers")
        out = self.options.folder / "graded"
        shutil.rmtree(out, ignore_errors=True)
        results = out / "results.jsonl"
        command = [self._command, "grade", *map(str, paths), "--config", str(self._config)]
        command += ["--out", str(out), "--workers", str(workers)]
        log = self.options.folder / "grade.log"
        process = Process(
            actor_command("command", [str(results), *command]), log, os.environ, speaks=True
        )
        try:
            said = process.hear(PATIENCE_S)
        finally:
            process.ask_to_end()
            process.end()
        if said["code"] != 0:
            last = log.read_text(errors="replace").splitlines()[-5:]
            raise BenchError(f"harness-ros grade ended with code {said['code']}: {last}")
        self._check(paths, runs, results.read_bytes())
        return said

    def _check(self, paths: Sequence[Path], runs: int, lines: bytes) -> None:
        judged = sum(b'"kind": ""' in line for line in lines.splitlines())
        if judged != runs:
            raise BenchError(f"{judged} runs were judged, {runs} are in the bags")
        if paths == self._graded and lines != self._lines:
            raise BenchError("the same bags were graded another way than before")
        self._graded, self._lines = paths, lines


def harness_command() -> str:
    """The command line of harness_ros as a shell finds it.

    Raises:
        BenchError: it is not installed.
    """
    command = shutil.which("harness-ros")
    if command is None:
        raise BenchError("harness-ros is not in PATH: source scripts/env.sh")
    return command


def _megabytes(bag: Path) -> int:
    return round(sum(file.stat().st_size for file in bag.iterdir()) / 1e6)
