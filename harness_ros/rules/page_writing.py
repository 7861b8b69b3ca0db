# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The page of a rule's evidence: one HTML file, read without a server and without the network."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from harness_ros.calibration.wording import spread
from harness_ros.grading.report.writing import PAGE as REPORT
from harness_ros.grading.report.writing import environment, policy, replaced
from harness_ros.rules.dossier import Dossier, evidence_of
from harness_ros.rules.wording import moment, outcome_words, score, signed
from harness_ros.sidecar.promotion.evidence import CaseEvidence, MeanGain, ReplayEvidence
from harness_ros.sidecar.promotion.records import Case, Rule
from harness_ros.sidecar.promotion.stored import Round
from harness_ros.statistics import Rate, rate_of, trials_to_exclude, zero_events_upper_bound

PAGE = Path(__file__).parent / "page"
STYLES = (REPORT / "report.css", PAGE / "rule.css")
CONFIDENCE = 0.95
SESSIONS = (5, 10, 20, 50)
"""For which the page says what none with a breach leaves possible."""
RATES = (0.2, 0.1, 0.05)
"""Breach rates for which the page says what excludes them."""

MARKS = {
    "candidate": "unjudged",
    "on trial": "process",
    "active": "success",
    "retired": "failure",
    "promote": "success",
    "retire": "failure",
    "pending": "unjudged",
}
"""Colours of states and outcomes, by the names that the report gives them."""


class ShownCase(NamedTuple):
    """One case of a round."""

    case: Case
    evidence: CaseEvidence | None
    problem: str
    left: float | None
    """Where the baseline's score is drawn, in per cent of the scale."""
    right: float | None

    @property
    def why_not(self) -> str:
        """Why it is evidence of nothing; empty where it counts."""
        if self.evidence is None:
            return "not weighed"
        return self.evidence.no_verdict.value.replace("_", " ") if self.evidence.no_verdict else ""


class ShownRound(NamedTuple):
    """One round, with its evidence read."""

    number: int
    made: Round
    evidence: ReplayEvidence | None
    cases: list[ShownCase]
    means: list[tuple[str, MeanGain]]


class Step(NamedTuple):
    """One line of the history."""

    at: str
    what: str
    mark: str
    by: str
    says: str


def write_rule_page(path: Path, dossier: Dossier) -> None:
    """Writes the page of a rule.

    Raises:
        HarnessError: the file cannot be written, or evidence cannot be read.
    """
    style = "".join(file.read_text(encoding="utf-8") for file in STYLES)
    templates = environment(PAGE)
    templates.filters |= {
        "score": score,
        "signed": signed,
        "moment": moment,
        "outcome_words": outcome_words,
        "spread": spread,
    }
    rounds = [_shown(number, made) for number, made in enumerate(dossier.rounds, 1)]
    status = dossier.status
    page = templates.get_template("rule.html").generate(
        dossier=dossier,
        status=status,
        rule=status.rule,
        standing="on trial" if status.on_trial else status.state.value,
        marks=MARKS,
        policy=policy(style),
        style=style,
        steps=_steps(dossier),
        last=rounds[-1] if rounds else None,
        earlier=rounds[:-1][::-1],
        baseline=_baseline(status.rule),
        trial=_trial(dossier),
        forward=dossier.forward,
        sessions=[(n, zero_events_upper_bound(n, CONFIDENCE)) for n in SESSIONS],
        rates=[(rate, trials_to_exclude(rate, CONFIDENCE)) for rate in RATES],
    )
    replaced(path, page)


def _shown(number: int, made: Round) -> ShownRound:
    evidence = evidence_of(made.decision)
    weighed = {case.case_id: case for case in evidence.cases} if evidence else {}
    cases = []
    for case in made.cases:
        of = weighed.get(case.case_id)
        cases.append(
            ShownCase(
                case,
                of,
                made.problems.get(case.case_id, ""),
                _place(of.before) if of else None,
                _place(of.after) if of else None,
            )
        )
    return ShownRound(number, made, evidence, cases, _means(evidence))


def _place(value: float | None) -> float | None:
    """On a scale from 0 to 1; scores beyond it are drawn at its end."""
    return None if value is None else round(100 * min(1.0, max(0.0, value)), 2)


def _means(evidence: ReplayEvidence | None) -> list[tuple[str, MeanGain]]:
    if evidence is None:
        return []
    named = [
        ("Failure cases", evidence.failures),
        ("of these, the author may have seen", evidence.shown),
        ("of these, held out", evidence.held_out),
        ("Protected wins", evidence.wins),
        ("Failure cases, over plain repetition", evidence.over_repetition),
    ]
    return [(name, mean) for name, mean in named if mean is not None]


def _steps(dossier: Dossier) -> list[Step]:
    """States, rounds and the beginning of the trial, oldest first."""
    steps = [
        Step(
            change.at,
            change.state.value,
            MARKS[change.state.value],
            change.validator,
            change.reason,
        )
        for change in dossier.history
    ]
    for number, made in enumerate(dossier.rounds, 1):
        words = f"{outcome_words(made.decision)}: {made.decision.reason}"
        if not made.counted:
            words += " (cut short by the budget of its round, which does not count)"
        steps.append(Step(made.started_at, f"round {number}", "", made.validator, words))
    if dossier.trial is not None:
        words = "replays have not decided; the sessions from now on do"
        steps.append(
            Step(dossier.trial.began_at, "forward trial begins", MARKS["on trial"], "", words)
        )
    return sorted(steps, key=lambda step: step.at)


def _baseline(rule: Rule) -> Rate | None:
    if rule.baseline_breach_rate is None or not rule.baseline_sessions:
        return None
    breaches = round(rule.baseline_breach_rate * rule.baseline_sessions)
    return rate_of(breaches, rule.baseline_sessions, CONFIDENCE)


def _trial(dossier: Dossier) -> Rate | None:
    """Breaches of the forward trial: those it was decided by, or those so far."""
    if dossier.forward is not None:
        return dossier.forward.breaches
    if dossier.trial is None:
        return None
    return rate_of(dossier.trial.breaches, dossier.trial.sessions, CONFIDENCE)
