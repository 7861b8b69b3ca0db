# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What `harness-ros rules` does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness_ros.grading.report.wording import visible
from harness_ros.rules.dossier import Dossier, RulesError, dossier_of, evidence_of, opened
from harness_ros.rules.wording import moment, outcome_words, score
from harness_ros.sidecar.promotion.stored import Round, RuleStatus, State, StateChange

_ID_SHOWN = 12
"""Characters of an id in lists; every command takes how an id begins."""


def list_command(store: Path, state: str | None, as_json: bool) -> None:
    """Prints the rules of a store.

    Raises:
        HarnessError: no such store or state.
    """
    wanted = None if state is None else _state(state)
    with opened(store) as rules:
        statuses = rules.rules(wanted)
    if as_json:
        _print_json([status.model_dump(mode="json") for status in statuses])
        return
    for status in statuses:
        rule_id = _line(status.rule.rule_id[:_ID_SHOWN])
        print(f"{_standing(status):<10} {rule_id:<{_ID_SHOWN}}  {_line(status.rule.text)}")
    if not statuses:
        print("no rules" if wanted is None else f"no rules are {wanted.value}")


def show_command(store: Path, rule: str, as_json: bool) -> None:
    """Prints a rule and the evidence of its last round.

    Raises:
        HarnessError: no such store or rule.
    """
    with opened(store) as rules:
        dossier = dossier_of(rules, rule)
    if as_json:
        shown = dossier.model_dump(mode="json", exclude={"history", "rounds"})
        last = dossier.rounds[-1].model_dump(mode="json") if dossier.rounds else None
        _print_json({**shown, "last_round": last})
        return
    for line in _shown(dossier):
        print(line)


def history_command(store: Path, rule: str, as_json: bool) -> None:
    """Prints every round and every change of state of a rule, oldest first.

    Raises:
        HarnessError: no such store or rule.
    """
    with opened(store) as rules:
        dossier = dossier_of(rules, rule)
    if as_json:
        _print_json(dossier.model_dump(mode="json", include={"history", "rounds", "trial"}))
        return
    lines = [*map(_of_change, dossier.history), *map(_of_round, dossier.rounds)]
    if dossier.trial is not None:
        began_at = dossier.trial.began_at
        lines.append((began_at, f"{moment(began_at)}  forward trial begins"))
    for _, line in sorted(lines):
        print(line)


def page_command(store: Path, rule: str, out: Path) -> None:
    """Writes the page of a rule's evidence.

    Raises:
        HarnessError: no such store or rule, or the file cannot be written.
    """
    # Templates take time to load, and lists need none.
    from harness_ros.rules.page_writing import write_rule_page

    with opened(store) as rules:
        dossier = dossier_of(rules, rule)
    write_rule_page(out, dossier)
    print(f"page: {out}")


def _shown(dossier: Dossier) -> Iterator[str]:
    status, rule = dossier.status, dossier.status.rule
    yield _line(rule.text)
    yield f"  rule       {_line(rule.rule_id)}"
    by = f", by {_line(status.validator)}" if status.validator else ""
    yield f"  state      {_standing(status)} since {moment(dossier.since)}{by}"
    if status.state is not State.CANDIDATE:
        yield f"  why        {_line(status.reason)}"
    yield f"  for        {_line(', '.join(rule.signatures) or rule.metric or 'nothing named')}"
    yield f"  author     {_line(rule.author or 'not named')}, {moment(rule.submitted_at)}"
    if rule.baseline_breach_rate is None:
        yield "  baseline   no session before it"
    else:
        yield (
            f"  baseline   {rule.baseline_breach_rate:.0%} of {rule.baseline_sessions} sessions "
            "breached before it"
        )
    yield f"  rounds     {status.rounds}, {status.inconclusive} without a decision"
    if dossier.trial is not None:
        yield (
            f"  trial      {dossier.trial.breaches} of {dossier.trial.sessions} sessions breached "
            f"since {moment(dossier.trial.began_at)}"
        )
    if dossier.rounds:
        yield from _last(dossier.rounds[-1])


def _last(made: Round) -> Iterator[str]:
    yield f"  last round {moment(made.started_at)}: {outcome_words(made.decision)}"
    yield f"             {_line(made.decision.reason)}"
    evidence = evidence_of(made.decision)
    for case in evidence.cases if evidence else ():
        if case.no_verdict is None and case.target:
            says = f"{case.target} {score(case.before)} to {score(case.after)}"
        else:
            says = case.no_verdict.value if case.no_verdict else "no target"
        problem = made.problems.get(case.case_id, "")
        beside = f" ({_line(problem)})" if problem else ""
        yield f"    {case.kind:<8} {_line(case.case_id)}  {says}{beside}"


def _of_change(change: StateChange) -> tuple[str, str]:
    by = f" by {_line(change.validator)}" if change.validator else ""
    words = f"{moment(change.at)}  {change.state.value}{by}: {_line(change.reason)}"
    return change.at, words


def _of_round(made: Round) -> tuple[str, str]:
    beside = "" if made.counted else ", cut short by its budget"
    words = (
        f"{moment(made.started_at)}  round of {len(made.cases)} cases, "
        f"{made.seconds:.0f} s{beside}: "
        f"{outcome_words(made.decision)}: {_line(made.decision.reason)}"
    )
    return made.started_at, words


def _standing(status: RuleStatus) -> str:
    return "on trial" if status.on_trial else status.state.value


def _line(text: str) -> str:
    """A text of somebody else, on one line of a terminal."""
    return visible(text)


def _state(name: str) -> State:
    try:
        return State(name)
    except ValueError:
        allowed = ", ".join(state.value for state in State)
        raise RulesError(f"--state '{name}': allowed are {allowed}") from None


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=True))
