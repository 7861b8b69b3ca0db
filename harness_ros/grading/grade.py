# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs of one bag to their verdicts: the capture and the judges of the evaluator, on recordings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from harness_ros import evaluation
from harness_ros.bag.reading import Bag, NoObservationError, RecordedRun
from harness_ros.bag.storage import BagReadError
from harness_ros.config import ArgumentError, EvaluationConfig
from harness_ros.contract import (
    EvaluationRequest,
    HarnessError,
    Judgement,
    Kind,
    Observation,
    Status,
    Verdict,
)
from harness_ros.grading.row import GradedRun, RecordedVerdict
from harness_ros.judges import DeterministicJudge, Judge


class GradingError(HarnessError):
    """What keeps everything from being graded."""


class Graded(NamedTuple):
    """A graded run, and what was seen after it."""

    row: GradedRun
    observation: Observation | None


def judges_of(config: EvaluationConfig) -> Mapping[str, Judge]:
    """The judges of a configuration by their names."""
    makers: dict[str, Callable[[], Judge]] = {"deterministic": DeterministicJudge}
    return {name: makers[judge.type]() for name, judge in config.judges.items()}


def grade(
    bag: Bag,
    name: str,
    recorded: RecordedRun,
    config: EvaluationConfig,
    judges: Mapping[str, Judge],
) -> Graded:
    """The verdict that the evaluator would have given, by this configuration.

    Args:
        name: of the bag, as results name it.
        judges: as `judges_of` gives them.
    """
    run = recorded.run
    observation: Observation | None = None
    try:
        config.checked_arguments(run.tool_name, run.arguments)
        if run.ended_at_ns is None:
            raise _Unjudged(Kind.INTERRUPTED, "the bag ends before the run does")
        if run.ended_at_ns < run.started_at_ns:
            reason = f"it ended {run.started_at_ns - run.ended_at_ns} ns before it began"
            raise _Unjudged(Kind.INVALID_RUN, reason)
        observation, verdict = _judged(bag, recorded, config, judges)
    except _Unjudged as error:
        verdict = evaluation.unjudged(config, run, error.kind, str(error), 0)
    except ArgumentError as error:
        verdict = evaluation.unjudged(config, run, Kind.INVALID_RUN, str(error), 0)
    except Exception as error:
        # As in the evaluator: what goes wrong with a run is its verdict, and no other run's.
        reason = f"the grading failed: {error!r}"
        verdict = evaluation.unjudged(config, run, Kind.INTERRUPTED, reason, 0)
    return Graded(_row(name, recorded, config, verdict, observation), observation)


class _Unjudged(HarnessError):
    def __init__(self, kind: Kind, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


def _judged(
    bag: Bag, recorded: RecordedRun, config: EvaluationConfig, judges: Mapping[str, Judge]
) -> tuple[Observation, Verdict]:
    run = recorded.run
    try:
        observation = bag.observation(config, recorded)
    except (NoObservationError, BagReadError) as error:
        raise _Unjudged(Kind.OBSERVATION_UNAVAILABLE, str(error)) from None
    request = evaluation.request(config, run, observation)
    judgement = _asked(judges[config.tools[run.tool_name].judge], request)
    verdict = evaluation.verdict(config, run, observation, judgement, observation.captured_at_ns)
    return observation, verdict


def _asked(judge: Judge, request: EvaluationRequest) -> Judgement:
    try:
        return judge.judge(request)
    except Exception as error:
        # A judge may be anybody's code; one run must not end the grading of the others.
        said = f"the judge failed: {error!r}"
        return Judgement(status=Status.FAILURE, judge=judge.name, error=said)


def _row(
    name: str,
    recorded: RecordedRun,
    config: EvaluationConfig,
    verdict: Verdict,
    observation: Observation | None,
) -> GradedRun:
    run, then = recorded.run, recorded.verdict
    try:
        post_condition = config.post_condition(run.tool_name, run.arguments)
    except ArgumentError:
        post_condition = ""
    return GradedRun(
        bag=name,
        run_id=run.run_id,
        call_id=run.call_id,
        tool_name=run.tool_name,
        arguments=run.arguments,
        segment=run.segment,
        started_at_ns=run.started_at_ns,
        ended_at_ns=run.ended_at_ns,
        recorded_at_ns=recorded.finished_ns or recorded.armed_ns,
        **_said(verdict),
        post_condition=post_condition,
        observed_at_ns=verdict.observed_at_ns,
        observation_summary=observation.summary if observation else "",
        recorded=None if then is None else RecordedVerdict(**_said(then)),
        agrees_with_recorded=None
        if then is None
        else (then.status, then.kind) == (verdict.status, verdict.kind),
    )


def _said(verdict: Verdict) -> dict[str, Any]:
    """What a row keeps of a verdict, that of now and that recorded alike."""
    return {name: getattr(verdict, name) for name in RecordedVerdict.model_fields}
