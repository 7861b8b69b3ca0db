# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the evaluator tells of its runs, verdicts and sources on `/diagnostics`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator

from harness_ros.capture.counts import SourceCount
from harness_ros.capture.sample import NANOSECONDS
from harness_ros.contract import Kind, Verdict
from harness_ros.ros.diagnostics import Level, Report
from harness_ros.ros.evaluator.open_run import OpenRun
from harness_ros.ros.sources import Sources

RECENT_S = 300.0
"""How long a run that nobody could judge keeps the status at WARN."""


class VerdictTally:
    """Verdicts by status and kind, those of the ledger included."""

    def __init__(self, counts: dict[str, int]) -> None:
        self._counts: Counter[str] = Counter(
            {key: number for key, number in counts.items() if key.startswith(("verdicts", "kind"))}
        )
        self._unjudged_at = -RECENT_S
        self._last_unjudged = ""

    def add(self, verdict: Verdict) -> None:
        """Counts a new verdict."""
        self._counts["verdicts"] += 1
        self._counts[f"verdicts.{verdict.status.name.lower()}"] += 1
        if verdict.kind is not Kind.JUDGED:
            self._counts[f"kind.{verdict.kind.value}"] += 1
            self._unjudged_at = time.monotonic()
            self._last_unjudged = f"run {verdict.run_id} ({verdict.kind.value})"

    def report(self, runs: Collection[OpenRun], unwritten: int) -> Report:
        """Open runs by phase, verdicts by status and kind."""
        phases = Counter(run.phase.name.lower() for run in runs)
        values = {
            "runs open": len(runs),
            **{f"runs {phase}": number for phase, number in sorted(phases.items())},
            **dict(sorted(self._counts.items())),
            "verdicts not written yet": unwritten,
        }
        if unwritten:
            text = f"{unwritten} verdicts cannot be written to the ledger"
            return Report("runs", Level.ERROR, text, values)
        if time.monotonic() - self._unjudged_at < RECENT_S:
            text = f"nobody could judge {self._last_unjudged}"
            return Report("runs", Level.WARN, text, values)
        return Report("runs", Level.OK, f"{len(runs)} open", values)


def source_reports(sources: Sources, now_ns: int) -> Iterator[Report]:
    """Rate, age, offset and losses of each source; of the last run that needed it, when idle."""
    for name, count in sources.counts.items():
        config, active = sources.configs[name], sources.active(name)
        offset = count.offset_ns
        values = {
            "topic": sources.topic(name),
            "armed": active,
            "received": count.received,
            "rate (Hz)": _or_empty(count.rate_hz),
            "expected rate (Hz)": _or_empty(config.rate_hz),
            "age (s)": _age(count, now_ns),
            "offset of stamps (s)": "" if offset is None else offset / NANOSECONDS,
            "lost": count.lost,
            "zero stamps": count.zero_stamps,
            "repeated stamps": count.repeated,
            "stamps went back": count.jumps,
            "malformed": count.malformed,
            "bytes": count.last_bytes,
        }
        level, text = _judged(count, active, config.rate_hz)
        yield Report(f"source {name}", level, text, values)


def _judged(count: SourceCount, active: bool, expected_hz: float | None) -> tuple[Level, str]:
    rate = count.rate_hz
    if not active and not count.received:
        return Level.OK, "idle"
    if active and not count.received:
        return Level.WARN, "nothing came yet"
    if count.malformed:
        return Level.ERROR, f"{count.malformed} messages without a readable stamp"
    if count.zero_stamps:
        return Level.WARN, f"{count.zero_stamps} messages with a zero stamp"
    if count.lost:
        return Level.WARN, f"{count.lost} messages lost"
    if rate is not None and expected_hz is not None and rate < 0.8 * expected_hz:
        return Level.WARN, f"{rate:.1f} Hz, {expected_hz:g} Hz are expected"
    return Level.OK, "armed" if active else "idle"


def _age(count: SourceCount, now_ns: int) -> float | str:
    return (now_ns - count.last_ns) / NANOSECONDS if count.received else ""


def _or_empty(value: float | None) -> float | str:
    return "" if value is None else value
