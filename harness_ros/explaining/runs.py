# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One recorded run as a configuration judges it now, in words and as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from harness_ros import evaluation
from harness_ros.bag.reading import NoObservationError
from harness_ros.config import ArgumentError, EvaluationConfig
from harness_ros.contract import Kind, Observation, Run, Verdict
from harness_ros.explaining.recordings import Recording, RunWithVerdict, find_run
from harness_ros.judges import Criterion, DeterministicJudge, Observed
from harness_ros.judges.drawing import Heading, draw
from harness_ros.judges.drawing.palette import Pixels
from harness_ros.judges.explanation import Explanation, explain


class ExplainedRun(NamedTuple):
    """A run, judged again."""

    run: Run
    post_condition: str
    recorded: Verdict | None
    """What was said of it then."""
    verdict: Verdict | None
    """What the configuration says of it now; None where a judge would have to be asked."""
    explanation: Explanation | None
    """None where there is no Observation."""
    notes: tuple[str, ...]
    """What else is to be known."""

    @property
    def title(self) -> str:
        """Which run this is."""
        return f"{call(self.run)}, run {self.run.run_id}, segment {self.run.segment}"

    def picture(self) -> Pixels | None:
        """RGB uint8 (height, width, 3); None where there is no Observation."""
        if self.explanation is None:
            return None
        said = self.verdict or self.recorded
        heading = Heading(
            status=None if said is None else said.status,
            kind=Kind.JUDGED if said is None else said.kind,
            post_condition=self.post_condition,
            title=self.title,
            reason="" if said is None else said.failure_reason,
            note=" ".join(self.notes),
        )
        return draw(heading, self.explanation)


def call(run: Run) -> str:
    """The call as one writes it: `pick(target=cup)`."""
    arguments = ", ".join(f"{name}={value}" for name, value in run.arguments.items())
    return f"{run.tool_name}({arguments})"


def said(verdict: Verdict | None) -> str:
    """A verdict in words."""
    if verdict is None:
        return "no verdict"
    kind = f" ({verdict.kind.value})" if verdict.kind is not Kind.JUDGED else ""
    return f"{verdict.status.name.lower()}{kind}"


def listed(recording: Recording) -> Iterator[str]:
    """A line for each run: id, call, recorded verdict."""
    runs = recording.runs()
    calls = [call(item.run) for item in runs]
    widest = max(map(len, calls), default=0)
    for item, words in zip(runs, calls, strict=True):
        yield f"{item.run.run_id}  {words:{widest}}  {said(item.verdict)}"


def explain_run(recording: Recording, prefix: str, config: EvaluationConfig) -> ExplainedRun:
    """Judges a recorded run by a configuration.

    Args:
        prefix: of the run's id, as much as makes it the only one.

    Raises:
        RecordingError: there is no such run, or more than one.
    """
    found = find_run(recording, prefix)
    run = found.run
    try:
        post_condition = config.post_condition(run.tool_name, run.arguments)
    except ArgumentError as error:
        return _unjudged(found, config, Kind.INVALID_RUN, str(error), "")
    try:
        observation = recording.observation(run, config)
    except NoObservationError as error:
        return _unjudged(found, config, Kind.OBSERVATION_UNAVAILABLE, str(error), post_condition)
    return _judged(found, config, observation, post_condition)


def _judged(
    found: RunWithVerdict, config: EvaluationConfig, observation: Observation, post_condition: str
) -> ExplainedRun:
    run = found.run
    request = evaluation.request(config, run, observation)
    criterion = None
    if request.criterion:
        criterion = Criterion.model_validate_json(request.criterion)
    name = config.tools[run.tool_name].judge
    kind = config.judges[name].type
    verdict, notes = None, []
    observed = Observed(observation)
    if kind == "deterministic":
        judgement = DeterministicJudge(lambda _: observed).judge(request)
        verdict = evaluation.verdict(
            config, run, observation, judgement, observation.captured_at_ns
        )
        notes = _differences(found.verdict, verdict)
    else:
        notes = [f"Judge '{name}' is of type '{kind}' and is not asked here."]
    explanation = explain(criterion, observed)
    return ExplainedRun(run, post_condition, found.verdict, verdict, explanation, tuple(notes))


def _unjudged(
    found: RunWithVerdict, config: EvaluationConfig, kind: Kind, reason: str, post_condition: str
) -> ExplainedRun:
    run = found.run
    verdict = evaluation.unjudged(config, run, kind, reason, run.ended_at_ns or run.started_at_ns)
    notes = tuple(_differences(found.verdict, verdict))
    return ExplainedRun(run, post_condition, found.verdict, verdict, None, notes)


def _differences(recorded: Verdict | None, now: Verdict) -> list[str]:
    """What a reader should know of the verdict that was recorded."""
    if recorded is None:
        return ["No verdict was recorded."]
    notes = []
    if (recorded.status, recorded.kind) != (now.status, now.kind):
        reason = f": {recorded.failure_reason}" if recorded.failure_reason else ""
        notes.append(f"The recorded verdict differs: {said(recorded)}{reason}.")
    if recorded.criteria_hash and recorded.criteria_hash != now.criteria_hash:
        notes.append(
            f"The recorded verdict was given by other criteria: {recorded.criteria_hash[:12]}, "
            f"not {now.criteria_hash[:12]}."
        )
    return notes


def report(explained: ExplainedRun, unicode: bool = True) -> Iterator[str]:
    """The explanation in lines of text.

    Args:
        unicode: whether the reader's terminal has ticks and crosses.
    """
    symbols = {True: "✓", False: "✗", None: "?"} if unicode else {True: "+", False: "-", None: "?"}
    yield explained.title
    if explained.post_condition:
        yield f"post-condition: {explained.post_condition}"
    verdict = explained.verdict
    if verdict is None:
        yield f"verdict: not judged again; recorded: {said(explained.recorded)}"
    else:
        reason = f": {verdict.failure_reason}" if verdict.failure_reason else ""
        yield f"verdict: {said(verdict)}{reason}"
    yield from explained.notes
    for line in () if explained.explanation is None else explained.explanation.lines:
        number = "" if line.number is None else f"{line.number}  "
        yield f"{'  ' * (line.depth + 1)}{symbols[line.holds]} {number}{line.text}"
