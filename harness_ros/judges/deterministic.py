# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The deterministic judge: measures a criterion in an Observation, the same each time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pydantic import ValidationError

from harness_ros.contract import (
    EvaluationRequest,
    HarnessError,
    Judgement,
    Kind,
    Observation,
    Status,
)
from harness_ros.judges.base import no_judgement
from harness_ros.judges.checks import CHECKS, Finding, Observed
from harness_ros.judges.criterion import Check, Criterion, Node


class DeterministicJudge:
    """Judges by the criterion of a request; the sentence of the post-condition is not read.

    Args:
        observed: gives an Observation as checks read it; somebody else may have measured in it.
    """

    name = "deterministic"

    def __init__(self, observed: Callable[[Observation], Observed] = Observed) -> None:
        self._observed = observed

    def judge(self, request: EvaluationRequest) -> Judgement:
        """The judgement; `error` is set when the criterion is missing or invalid."""
        if not request.criterion:
            return no_judgement(self.name, "the request has no criterion, and this judge needs one")
        try:
            criterion = Criterion.model_validate_json(request.criterion)
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, item['loc'])) or '(top)'}: {item['msg']}"
                for item in error.errors(include_url=False)
            )
            return no_judgement(self.name, f"the criterion is invalid: {problems}")
        judgement = evaluate(criterion, self._observed(request.observation))
        return judgement.model_copy(update={"judge": self.name})


def evaluate(criterion: Criterion, observed: Observed) -> Judgement:
    """Measures every check of a criterion once and decides, in this order.

    1. Branches of `failure` hold: failure, with their reasons.
    2. `success` holds and no branch of `failure` does: success.
    3. `process` holds: process, with its reason.
    4. Something that could still have changed the outcome cannot be told: failure, inconclusive.
    5. Failure, with the reason `otherwise`.

    The evidence has one line for each check; those that decided come first.
    """
    findings = _Findings(observed)
    success, process = criterion.success, criterion.process
    succeeded = findings.holds_of(success)
    continues = False if process is None else findings.holds_of(process.when)
    failures = [(branch, findings.holds_of(branch.when)) for branch in criterion.failure]

    def judgement(
        status: Status, decided: Iterable[Check], reason: str = "", kind: Kind = Kind.JUDGED
    ) -> Judgement:
        evidence = findings.evidence([*decided, *criterion.checks()])
        return Judgement(status=status, evidence=evidence, failure_reason=reason, kind=kind)

    failed = [branch for branch, holds in failures if holds is True]
    if failed:
        decided = [check for branch in failed for check in findings.deciding(branch.when)]
        return judgement(Status.FAILURE, decided, "; ".join(branch.reason for branch in failed))
    if succeeded is True and all(holds is False for _, holds in failures):
        return judgement(Status.SUCCESS, findings.deciding(success))
    if process is not None and continues is True:
        return judgement(Status.PROCESS, findings.deciding(process.when), process.reason)

    unknown = []
    if succeeded is None:
        unknown.append(("the success condition", success))
    if succeeded is True:
        unknown += [
            (f"'{branch.reason}'", branch.when) for branch, holds in failures if holds is None
        ]
    if process is not None and continues is None:
        unknown.append((f"'{process.reason}'", process.when))
    if unknown:
        decided = [
            check
            for _, node in unknown
            for check in node.checks()
            if findings.of(check).holds is None
        ]
        what = " or ".join(name for name, _ in unknown)
        why = "; ".join(findings.evidence(decided))
        return judgement(
            Status.FAILURE, decided, f"cannot tell whether {what} holds: {why}", Kind.INCONCLUSIVE
        )
    return judgement(Status.FAILURE, findings.deciding(success), criterion.otherwise)


class _Findings:
    """What each check of a criterion found in one Observation."""

    def __init__(self, observed: Observed) -> None:
        self._observed = observed

    def of(self, check: Check) -> Finding:
        return measure(check, self._observed)

    def holds_of(self, node: Node) -> bool | None:
        return node.holds(lambda check: self.of(check).holds)

    def deciding(self, node: Node) -> Iterator[Check]:
        return node.deciding(lambda check: self.of(check).holds)

    def evidence(self, checks: Iterable[Check]) -> tuple[str, ...]:
        """The evidence of the checks in their order, each line once."""
        return tuple(dict.fromkeys(self.of(check).evidence for check in checks))


def measure(check: Check, observed: Observed) -> Finding:
    """What a check finds; whatever keeps it from measuring is a Finding that cannot be told.

    It is measured once in an Observation.
    """
    return observed.once(("finding", repr(check)), lambda: _measured(check, observed))


def _measured(check: Check, observed: Observed) -> Finding:
    try:
        finding = CHECKS[check.name].function(check.parameters, observed)
        if not isinstance(finding, Finding):
            raise TypeError(f"a Finding is wanted, the check returned {finding!r}")
    except HarnessError as error:
        return _cannot_tell(check, str(error))
    except Exception as error:
        # A check may be anybody's code; whatever it raises must not end the evaluation.
        return _cannot_tell(check, f"{type(error).__name__}: {error}")
    return finding


def _cannot_tell(check: Check, problem: str) -> Finding:
    return Finding(holds=None, evidence=f"{check.name}: cannot tell: {' '.join(problem.split())}")
