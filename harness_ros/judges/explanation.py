# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A criterion measured in one Observation, laid out for people: every check, and what it means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from harness_ros.judges.checks import Finding, Observed
from harness_ros.judges.criterion import AllOf, AnyOf, Check, Criterion, Node, Not
from harness_ros.judges.deterministic import measure


class Measured(NamedTuple):
    """One check and what it found."""

    number: int
    """Counts from 1, in the order in which the checks are written."""
    check: Check
    finding: Finding


class Line(NamedTuple):
    """One line of the explanation."""

    depth: int
    """How far it is indented."""
    holds: bool | None
    text: str
    number: int | None = None
    """Of the check whose evidence this is; None for what combines checks."""


class Explanation(NamedTuple):
    """What each check of a criterion found."""

    observed: Observed
    measured: tuple[Measured, ...]
    lines: tuple[Line, ...]
    """The criterion as a tree: conditions, and below them the evidence of their checks."""


def explain(criterion: Criterion | None, observed: Observed) -> Explanation:
    """Measures every check of a criterion; without a criterion there is nothing to measure."""
    if criterion is None:
        return Explanation(observed, (), ())
    checks = {repr(check): check for check in criterion.checks()}
    measured = {
        key: Measured(number, check, measure(check, observed))
        for number, (key, check) in enumerate(checks.items(), 1)
    }

    def of(check: Check) -> Measured:
        return measured[repr(check)]

    lines = [*_branch("success if", criterion.success, of)]
    for branch in criterion.failure:
        lines += _branch(f"failure ({branch.reason}) if", branch.when, of)
    if criterion.process is not None:
        branch = criterion.process
        lines += _branch(f"process ({branch.reason}) if", branch.when, of)
    return Explanation(observed, tuple(measured.values()), tuple(lines))


_Of = Callable[[Check], Measured]


def _branch(title: str, node: Node, of: _Of) -> Iterator[Line]:
    holds = node.holds(lambda check: of(check).finding.holds)
    if isinstance(node, Check):
        yield Line(0, holds, title)
        yield from _lines(node, 1, of)
        return
    first, *rest = _lines(node, 0, of)
    yield first._replace(text=f"{title} {first.text}")
    yield from rest


def _lines(node: Node, depth: int, of: _Of) -> Iterator[Line]:
    if isinstance(node, Check):
        number, _, finding = of(node)
        yield Line(depth, finding.holds, finding.evidence, number)
        return
    holds = node.holds(lambda check: of(check).finding.holds)
    words, nodes = _parts(node)
    yield Line(depth, holds, words)
    for part in nodes:
        yield from _lines(part, depth + 1, of)


def _parts(node: AllOf | AnyOf | Not) -> tuple[str, tuple[Node, ...]]:
    if isinstance(node, Not):
        return "not", (node.node,)
    return ("all of", node.all) if isinstance(node, AllOf) else ("any of", node.any)
