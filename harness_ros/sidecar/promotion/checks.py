# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks beyond margins, each of which may hold a promotion back; `Policy` says which do.

A check passes, fails, or cannot be made of these data, which its words then say.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness_ros.sidecar.promotion.evidence import (
    CaseEvidence,
    Check,
    MeanGain,
    PermutationTest,
)
from harness_ros.sidecar.promotion.records import Gate, PendingReason, Policy
from harness_ros.sidecar.promotion.significance import (
    cases_to_pass,
    level,
    mean_gain,
    permutation_test,
)
from harness_ros.sidecar.promotion.targets import ROUNDING

REASONS = {
    "held_out": PendingReason.HELD_OUT_NOT_IMPROVED,
    "matched_budget": PendingReason.NO_BETTER_THAN_REPETITION,
    "significance": PendingReason.NOT_SIGNIFICANT,
}
"""Every check, and why a rule is pending that does not pass it; the first that fails is named."""


def checks(
    failures: Sequence[CaseEvidence],
    held_out: MeanGain | None,
    drop: float | None,
    over_repetition: MeanGain | None,
    permutation: PermutationTest | None,
    policy: Policy,
) -> dict[str, Check]:
    """All checks of failure cases with a target."""
    return {
        "held_out": _held_out(held_out, drop, policy),
        "matched_budget": _matched_budget(over_repetition, len(failures), policy),
        "significance": _significance(permutation, policy),
    }


def gain_over_repetition(failures: Sequence[CaseEvidence], policy: Policy) -> MeanGain | None:
    """Replays minus plain repetition with as many tries, over the cases that have those."""
    return mean_gain(
        [
            case.after - case.repetition
            for case in failures
            if case.after is not None and case.repetition is not None
        ],
        policy,
    )


def permutation_of(failures: Sequence[CaseEvidence], policy: Policy) -> PermutationTest | None:
    """The permutation test over failure cases; None without any."""
    gains = [case.gain for case in failures if case.gain is not None]
    return permutation_test(gains, policy) if gains else None


def failing(made: dict[str, Check]) -> str | None:
    """Name of the first check that holds a promotion back; None where none does."""
    return next((name for name in REASONS if made[name].gates and not made[name].passed), None)


def mean_in_words(gain: MeanGain) -> str:
    """A mean with its standard error, where there is one."""
    error = "" if gain.standard_error is None else f" (standard error {gain.standard_error:.2f})"
    return f"{gain.mean:.2f}{error}"


def _check(passed: bool | None, gate: Gate, says: str) -> Check:
    gates = gate == "always" or (gate == "where_possible" and passed is not None)
    return Check(passed=passed, gates=gates, says=says)


def _held_out(gain: MeanGain | None, drop: float | None, policy: Policy) -> Check:
    if gain is None:
        says = "no held-out failure case was judged: the gain is of cases the author may have seen"
        return _check(None, policy.held_out, says)
    says = f"{_count(gain.cases, 'held-out failure case')} gained {mean_in_words(gain)} on average"
    if drop is not None:
        says += f", {abs(drop):.2f} {'less' if drop >= 0 else 'more'} than those shown"
    return _check(_reaches_margin(gain, policy), policy.held_out, says)


def _matched_budget(gain: MeanGain | None, failures: int, policy: Policy) -> Check:
    if gain is None:
        says = "no failure case has as many plain repetitions as its replay had tries: trying again"
        return _check(None, policy.matched_budget, f"{says} without the rule may gain as much")
    says = (
        f"replays are {mean_in_words(gain)} above plain repetition with as many tries, over "
        f"{gain.cases} of {_count(failures, 'failure case')}"
    )
    return _check(_reaches_margin(gain, policy), policy.matched_budget, says)


def _significance(test: PermutationTest | None, policy: Policy) -> Check:
    needed, wanted = cases_to_pass(policy), f"p ≤ {level(policy):.3g}"
    if test is None:
        says = f"no failure case has a target: {wanted} takes {needed}"
        return _check(None, policy.significance, says)
    if test.smallest_p > test.level + ROUNDING:
        says = (
            f"luck cannot be excluded: {_count(test.cases, 'failure case')} can reach "
            f"p = {test.smallest_p:.3g} at best (here {test.p_value:.3g}), {wanted} takes {needed}"
        )
        return _check(None, policy.significance, says)
    says = f"luck alone gains as much with p = {test.p_value:.3g}, {wanted} is asked for"
    return _check(test.p_value <= test.level + ROUNDING, policy.significance, says)


def _reaches_margin(gain: MeanGain, policy: Policy) -> bool:
    return gain.mean >= policy.promote_margin - ROUNDING


def _count(number: int, name: str) -> str:
    return f"{number} {name}" + ("" if number == 1 else "s")
