# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""ErrorCard: how often a judge errs, measured on labelled runs, in a file for people.

A card says of whom and of what it is: judge, model, prompt, and the post-condition of each tool.
Where one of these is another one now, the card is stale and says which.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, model_validator

from harness_ros.contract import HarnessError, Record, Usage
from harness_ros.judges.answers import (
    CurvePoint,
    LabelledAnswer,
    Measured,
    curve,
    measured,
)
from harness_ros.judges.basis import ToolBasis
from harness_ros.judges.identity import SHOWN, JudgeIdentity
from harness_ros.judges.settings import JudgeSettings
from harness_ros.statistics import CONFIDENCE, Rate, trials_to_exclude

UNCALIBRATED = "uncalibrated"
STALE = "stale: "


class CardError(HarnessError):
    """An error card that cannot be read, or that cannot say what is asked of it."""


class CardState(Record):
    """What is known of the errors of a judge on a tool; as text it is that of verdicts."""

    card: str = ""
    """Id of the card that holds."""
    stale: str = ""
    """Why the card there is does not hold any more."""

    def __str__(self) -> str:
        return self.card or (f"{STALE}{self.stale}" if self.stale else UNCALIBRATED)


class ToolCard(Record):
    """The judge's errors on one tool."""

    basis: ToolBasis
    errors: Measured


class LabelSet(Record):
    """The labels that the card is made with."""

    number: int
    sha256: str
    """Of `run_id,label` of each, sorted, a line each."""


class Repeated(Record):
    """How far several answers to the same question agree; the first of each counts as answer."""

    samples: int = Field(ge=2)
    """Of each run."""
    unanimous: Rate
    """Of the runs, those with the same answer each time."""
    pairwise: float | None
    """Probability that two answers to one question agree."""
    kappa: float | None
    """Fleiss' (1971): agreement beyond that of chance; None where all answers are the same."""


class Sweep(Record):
    """The errors of the same judge shown other pictures."""

    pixel_budget: int
    max_views: int
    errors: Measured
    usage: Usage


class Threshold(Record):
    """Below which confidence a judge must abstain for a wanted false-success rate."""

    confidence: float
    wanted: float
    false_success: Rate
    """At that threshold: of the judged runs labelled failure, abstained ones included."""
    false_success_below: float
    """One-sided and exact; at most `wanted`."""
    coverage: Rate
    """Of the judged runs, those on which it still says something."""


class ErrorCard(Record):
    """How often a judge errs, and all that this is known from."""

    version: Literal[1] = 1
    """Of the format of this file."""
    judge: str
    """Its key under `judges`."""
    identity: JudgeIdentity
    made: date
    labels: LabelSet
    confidence_level: float = Field(default=CONFIDENCE, gt=0, lt=1)
    """Of every interval and bound."""
    errors: Measured
    """Over all tools."""
    tools: dict[str, ToolCard]
    curve: tuple[CurvePoint, ...] = ()
    """Empty where the judge gives no confidence."""
    repeated: Repeated | None = None
    sweeps: tuple[Sweep, ...] = ()
    usage: Usage = Usage()
    """Of the whole calibration."""
    currency: str = ""
    runs: tuple[LabelledAnswer, ...]
    """What all numbers above are computed from."""

    @model_validator(mode="after")
    def _follows_from_its_runs(self) -> ErrorCard:
        tools = {answer.tool for answer in self.runs}
        if tools != self.tools.keys():
            raise ValueError(f"tools are {sorted(self.tools)}, but those of runs {sorted(tools)}")
        said: dict[str, tuple[object, object]] = {
            "labels": (self.labels, label_set(self.runs)),
            "errors": (self.errors, self.measured()),
            "curve": (self.curve, curve(self.runs, self.confidence_level)),
        }
        for name, tool in self.tools.items():
            said[f"tools.{name}.errors"] = tool.errors, self.measured([name])
        for key, (found, computed) in said.items():
            if found != computed:
                raise ValueError(
                    f"{key} does not follow from `runs`; was the card written by hand? "
                    "`harness-ros calibrate` makes a new one"
                )
        return self

    @cached_property
    def id(self) -> str:
        """The first digits of the SHA-256 of all that it says."""
        return hashlib.sha256(self.text().encode()).hexdigest()[:SHOWN]

    def measured(
        self, tools: Collection[str] | None = None, threshold: float | None = None
    ) -> Measured:
        """The errors on some of its tools, by default on all.

        Args:
            threshold: confidence below which the judge abstains.
        """
        answers = [item for item in self.runs if tools is None or item.tool in tools]
        return measured(answers, threshold, self.confidence_level)

    def state(self, now: JudgeIdentity, tool_name: str, basis: ToolBasis) -> CardState:
        """Whether it holds for a judge and a tool as they are configured now."""
        changes = list(self.identity.differences(now))
        tool = self.tools.get(tool_name)
        if tool is not None:
            changes += tool.basis.differences(basis)
        if changes:
            return CardState(stale=f"card {self.id}: {'; '.join(changes)}")
        return CardState(card=self.id) if tool is not None else CardState()

    def threshold(self, false_success: float) -> Threshold:
        """Below which confidence to abstain, so that no more failures are called a success.

        It is the lowest at which the upper bound of the false-success rate, one-sided and exact,
        is at most the wanted one. Thresholds are tried from the highest down until the first that
        does not do (fixed-sequence testing), so that choosing among many costs no confidence:
        Angelopoulos et al. 2021, "Learn then Test", arXiv 2110.01052.

        Args:
            false_success: the rate that is wanted, over all judged failures, abstained ones
                included.

        Raises:
            CardError: the judge gives no confidence, its labelled failures are too few, or it is
                wrong too often even where it is most sure.
        """
        where = f"card {self.id} of judge '{self.judge}'"
        if not self.curve:
            raise CardError(f"{where}: the judge gives no confidence, so it cannot abstain by one")
        if not 0 < false_success < 1:
            raise CardError(
                f"{where}: a false-success rate of {_percent(false_success)} cannot be shown by "
                "labels: wanted is one between 0 and 1"
            )
        failures = self.curve[0].false_success.of
        needed = trials_to_exclude(false_success, self.confidence_level)
        if failures < needed:
            raise CardError(
                f"{where}: {failures} judged failures cannot show a false-success rate of at most "
                f"{_percent(false_success)}: {needed} are needed, and more where one of them is "
                "called a success"
            )
        chosen: CurvePoint | None = None
        for point in reversed(self.curve):
            if point.false_success_below is None or point.false_success_below > false_success:
                break
            chosen = point
        if chosen is None:
            top = self.curve[-1]
            raise CardError(
                f"{where}: no threshold gives a false-success rate of at most "
                f"{_percent(false_success)}: "
                f"with its highest confidence, {top.confidence:g}, it still called "
                f"{top.false_success.count} of {failures} failures a success, which excludes only "
                f"rates above {_percent(top.false_success_below or 0)}"
            )
        return Threshold(
            confidence=chosen.confidence,
            wanted=false_success,
            false_success=chosen.false_success,
            false_success_below=chosen.false_success_below or 0.0,
            coverage=chosen.coverage,
        )

    def text(self) -> str:
        """The text of the file: JSON in the order of the fields, a line for each run."""
        fields = self.model_dump(mode="json", exclude={"runs"})
        fields["identity"] = self.identity.model_dump(mode="json", exclude_defaults=True)
        runs = [run.model_dump(mode="json", exclude_defaults=True) for run in self.runs]
        head = json.dumps(fields, indent=2, ensure_ascii=False).removesuffix("\n}")
        lines = ",\n".join(f"    {json.dumps(run, ensure_ascii=False)}" for run in runs)
        return f'{head},\n  "runs": [\n{lines}\n  ]\n}}\n'


def label_set(answers: Iterable[LabelledAnswer]) -> LabelSet:
    """Number and hash of the labels of these runs."""
    lines = sorted(f"{item.run_id},{item.label}\n" for item in answers)
    digest = hashlib.sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
    return LabelSet(number=len(lines), sha256=digest)


def load_card(path: Path) -> ErrorCard:
    """The card of a file.

    Raises:
        CardError: it cannot be read, or is no card; the text names file, key and value.
    """
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CardError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise CardError(f"{path}: no JSON: {error}") from None
    try:
        return ErrorCard.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"])) or "(top)"
        more = f"; {error.error_count() - 1} more" if error.error_count() > 1 else ""
        raise CardError(f"{path}: no error card: {key}: {first['msg']}{more}") from None


def wanted_threshold(name: str, settings: JudgeSettings, card: ErrorCard | None) -> float | None:
    """The confidence below which a judge is to abstain; None where it never does.

    Args:
        name: its key under `judges`.

    Raises:
        CardError: it is to come from a card, and there is none, or this one does not give it.
    """
    if settings.abstain is None:
        return None
    if settings.abstain.confidence is not None:
        return settings.abstain.confidence
    wanted = settings.abstain.false_success or 0.0
    if card is None:
        raise CardError(
            f"judge '{name}': a threshold for a false-success rate of {wanted:g} comes from an "
            "error card: `error_card` is wanted, or `abstain: {confidence: ...}`"
        )
    return card.threshold(wanted).confidence


def _percent(rate: float) -> str:
    return f"{100 * rate:.3g} %"
