# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs of one bag to their verdicts: the capture and the judges of the evaluator, on recordings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from harness_ros import evaluation
from harness_ros.bag.reading import Bag, NoObservationError
from harness_ros.bag.recorded_runs import RecordedRun
from harness_ros.bag.storage import BagReadError
from harness_ros.config import ArgumentError, EvaluationConfig
from harness_ros.contract import (
    EvaluationRequest,
    HarnessError,
    Judgement,
    Kind,
    Observation,
    Run,
    Status,
    Verdict,
)
from harness_ros.grading.row import GradedRun, RecordedVerdict
from harness_ros.judges import Judge, Observed
from harness_ros.judges.making import make_judges
from harness_ros.judges.model.funds import Purse


class GradingError(HarnessError):
    """What keeps everything from being graded."""


class Graded(NamedTuple):
    """A graded run, and what was seen after it."""

    row: GradedRun
    observation: Observation | None


def judges_of(
    config: EvaluationConfig,
    observed: Callable[[Observation], Observed] = Observed,
    purse: Purse | None = None,
) -> Mapping[str, Judge]:
    """The judges that the tools of a configuration ask, by their names.

    Args:
        observed, purse: as `make_judges` takes them.

    Raises:
        HarnessError: one of them cannot be made; the text names its key and why.
    """
    asked = dict.fromkeys(tool.judge for tool in config.tools.values())
    return make_judges(config.judges, config.cards, asked, observed, purse)


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
        observation = observation_of(bag, recorded, config)
        verdict = verdict_on(config, run, observation, judges[config.tools[run.tool_name].judge])
    except UnjudgedError as error:
        verdict = evaluation.unjudged(config, run, error.kind, str(error), 0)
    except Exception as error:
        # As in the evaluator: what goes wrong with a run is its verdict, and no other run's.
        reason = f"the grading failed: {error!r}"
        verdict = evaluation.unjudged(config, run, Kind.INTERRUPTED, reason, 0)
    return Graded(_row(name, recorded, config, verdict, observation), observation)


class UnjudgedError(HarnessError):
    """A run that no judge is asked about; the text says why, and `kind` what its verdict is."""

    def __init__(self, kind: Kind, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


def observation_of(bag: Bag, recorded: RecordedRun, config: EvaluationConfig) -> Observation:
    """What the evaluator would have shown the judge of a run.

    Raises:
        UnjudgedError: there is nothing to show, or the run is none.
    """
    run = recorded.run
    if recorded.invalid:
        raise UnjudgedError(Kind.INVALID_RUN, recorded.invalid)
    try:
        config.checked_arguments(run.tool_name, run.arguments)
    except ArgumentError as error:
        raise UnjudgedError(Kind.INVALID_RUN, str(error)) from None
    if run.ended_at_ns is None:
        raise UnjudgedError(Kind.INTERRUPTED, "the bag ends before the run does")
    if wrong := evaluation.invalid_times(run):
        raise UnjudgedError(Kind.INVALID_RUN, wrong)
    try:
        return bag.observation(config, recorded)
    except (NoObservationError, BagReadError) as error:
        raise UnjudgedError(Kind.OBSERVATION_UNAVAILABLE, str(error)) from None


def verdict_on(
    config: EvaluationConfig, run: Run, observation: Observation, judge: Judge
) -> Verdict:
    """The verdict that a judge's answer to what was seen gives."""
    try:
        request = evaluation.request(config, run, observation)
    except ArgumentError as error:
        return evaluation.unjudged(config, run, Kind.INVALID_RUN, str(error), 0, observation)
    judgement = _asked(judge, request)
    return evaluation.verdict(config, run, observation, judgement, observation.captured_at_ns)


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
        error_card=verdict.error_card,
        confidence=verdict.confidence,
        usage=verdict.usage,
    )


def _said(verdict: Verdict) -> dict[str, Any]:
    """What a row keeps of a verdict, that of now and that recorded alike."""
    return {name: getattr(verdict, name) for name in RecordedVerdict.model_fields}
