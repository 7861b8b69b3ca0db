# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Asks the judge about every labelled run, several runs at a time, and keeps its answers."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from harness_ros import evaluation
from harness_ros.calibration.labelled_runs import Seen
from harness_ros.calibration.variants import Variant
from harness_ros.config import EvaluationConfig
from harness_ros.contract import Kind, Usage, Verdict
from harness_ros.grading.grade import verdict_on
from harness_ros.judges.answers import LabelledAnswer, answer_of

AHEAD = 2
"""Runs under way for each question at a time: their pictures are in memory."""


@dataclass
class Answered:
    """What the judge said in one of its variants."""

    variant: Variant
    answers: list[LabelledAnswer] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    seen: list[bool] = field(default_factory=list)
    """Of each answer, whether there was an Observation to ask about."""
    why: dict[Kind, str] = field(default_factory=dict)
    """Of each kind of unjudged answer the first reason."""

    @property
    def unjudged(self) -> Counter[Kind]:
        """How often which kind."""
        return Counter(item.kind for item in self.answers if item.answer == "unjudged")


def judged(
    config: EvaluationConfig,
    runs: Iterable[Seen],
    variants: Sequence[Variant],
    parallel: int,
    done: Callable[[], None] = lambda: None,
) -> list[Answered]:
    """The answers in each variant, in the order of the runs.

    Args:
        config: in which the judge that is measured judges every tool (`judged_by`).
        parallel: questions at the same time.
        done: called after each run.
    """
    found = [Answered(variant) for variant in variants]
    waiting: deque[tuple[Seen, list[Future[Verdict]]]] = deque()

    def take() -> None:
        seen, futures = waiting.popleft()
        for answered, future in zip(found, futures, strict=True):
            _add(answered, seen, future.result())
        done()

    with ThreadPoolExecutor(parallel, thread_name_prefix="calibrate") as pool:
        for seen in runs:
            futures = [pool.submit(_verdict, config, seen, variant) for variant in variants]
            waiting.append((seen, futures))
            while len(waiting) > parallel * AHEAD:
                take()
        while waiting:
            take()
    return found


def judged_by(config: EvaluationConfig, judge: str) -> EvaluationConfig:
    """The configuration with one judge for every tool."""
    tools = {name: tool.model_copy(update={"judge": judge}) for name, tool in config.tools.items()}
    fields = {name: getattr(config, name) for name in EvaluationConfig.model_fields}
    return EvaluationConfig.model_validate({**fields, "tools": tools})


def _verdict(config: EvaluationConfig, seen: Seen, variant: Variant) -> Verdict:
    if seen.observation is None:
        return evaluation.unjudged(config, seen.run, seen.kind, seen.reason, 0)
    return verdict_on(config, seen.run, seen.observation, variant.judge)


def _add(answered: Answered, seen: Seen, verdict: Verdict) -> None:
    answer = answer_of(verdict.status, verdict.kind)
    is_judged = answer != "unjudged"
    answered.answers.append(
        LabelledAnswer(
            run_id=seen.run.run_id,
            tool=seen.run.tool_name,
            label=seen.label,
            answer=answer,
            kind=Kind.JUDGED if is_judged else verdict.kind,
            confidence=verdict.confidence if is_judged else None,
        )
    )
    answered.seen.append(seen.observation is not None)
    answered.usage += verdict.usage
    if not is_judged:
        answered.why.setdefault(verdict.kind, verdict.failure_reason)
