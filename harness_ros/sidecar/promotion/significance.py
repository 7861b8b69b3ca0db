# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether gains over cases are more than luck: permutation, bootstrap, plain repetition, pass^k.

All is deterministic: what draws lots has a seed, and the order of gains never matters.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from harness_ros.sidecar.promotion.evidence import MeanGain, PassHat, PermutationTest
from harness_ros.sidecar.promotion.records import Case, Policy
from harness_ros.sidecar.promotion.targets import ROUNDING
from harness_ros.statistics import clustered_mean, pass_hat_k

MOST_EXACT = 14
"""Cases up to which all signs are tried: 16384 of them."""
DRAWS_PER_RESAMPLE = 10
"""A p-value needs more draws than an interval."""


def permutation_test(gains: Sequence[float], policy: Policy) -> PermutationTest:
    """One-sided sign-flip test of paired gains: how often luck alone would have gained as much.

    If the rule changed nothing, each gain is as likely a loss of that size. p is the share of all
    choices of signs whose sum is at least that which was seen; beyond `MOST_EXACT` cases it is
    estimated as (1 + count) / (1 + draws), which is never 0.

    Source: Fisher 1935, The Design of Experiments, section 21; Phipson & Smyth 2010 for the 1.

    Raises:
        ValueError: no gain.
    """
    if not gains:
        raise ValueError("permutation test of no cases: at least one is needed")
    seen = math.fsum(gains) - ROUNDING
    sizes = sorted(map(abs, gains))
    exact = len(sizes) <= MOST_EXACT
    if exact:
        sums = [0.0]
        for size in sizes:
            sums = [total + sign * size for total in sums for sign in (1, -1)]
        count, of = sum(total >= seen for total in sums), len(sums)
    else:
        lot = random.Random(policy.seed)
        draws = policy.resamples * DRAWS_PER_RESAMPLE
        flipped = (sum(size * lot.choice((1, -1)) for size in sizes) for _ in range(draws))
        count, of = 1 + sum(total >= seen for total in flipped), 1 + draws
    return PermutationTest(
        cases=len(sizes),
        p_value=count / of,
        smallest_p=1 / of,
        level=level(policy),
        exact=exact,
    )


def level(policy: Policy) -> float:
    """The p-value up to which a gain is no luck."""
    return round(1 - policy.confidence, 12)


def cases_to_pass(policy: Policy) -> int:
    """The fewest cases that could pass the permutation test, if all of them gained."""
    return max(1, math.ceil(-math.log2(level(policy)) - ROUNDING))


def mean_gain(gains: Sequence[float], policy: Policy) -> MeanGain | None:
    """Mean over cases, with its standard error and a bootstrap interval; None without cases.

    The interval is the percentile one (Efron 1979): cases are drawn again and again with
    replacement. With fewer than about ten it is too short.
    """
    if not gains:
        return None
    gains = sorted(gains)
    mean = clustered_mean({str(number): [gain] for number, gain in enumerate(gains)})
    low = high = None
    if len(gains) > 1:
        lot = random.Random(policy.seed)
        size = len(gains)
        means = sorted(sum(lot.choices(gains, k=size)) / size for _ in range(policy.resamples))
        outside = int((1 - policy.confidence) / 2 * len(means))
        low, high = means[outside], means[-1 - outside]
    return MeanGain(
        cases=len(gains),
        mean=mean.mean,
        standard_error=mean.standard_error_if_independent,
        low=low,
        high=high,
    )


def drop_between(
    shown: MeanGain | None, held_out: MeanGain | None
) -> tuple[float | None, float | None]:
    """How much less the held-out cases gain, and the standard error of that difference."""
    if shown is None or held_out is None:
        return None, None
    drop = shown.mean - held_out.mean
    if shown.standard_error is None or held_out.standard_error is None:
        return drop, None
    return drop, math.hypot(shown.standard_error, held_out.standard_error)


def pass_hat_table(cases: Iterable[tuple[Case, str]], policy: Policy) -> tuple[PassHat, ...]:
    """pass^k of the replays and of plain repetition, over the cases with several tries.

    Args:
        cases: each case with its target.
        policy: `success_threshold` says which score is a success.
    """
    cases = list(cases)
    return (
        *_pass_hat("with_rule", cases, lambda case: case.replay_attempts, policy),
        *_pass_hat("plain", cases, lambda case: case.baseline_attempts, policy),
    )


def _pass_hat(
    arm: Literal["with_rule", "plain"],
    cases: Sequence[tuple[Case, str]],
    attempts_of: Callable[[Case], Sequence[dict[str, float]]],
    policy: Policy,
) -> list[PassHat]:
    tried: list[tuple[int, int]] = []
    for case, target in cases:
        scores = [attempt[target] for attempt in attempts_of(case) if target in attempt]
        if len(scores) > 1:
            successes = sum(score >= policy.success_threshold - ROUNDING for score in scores)
            tried.append((len(scores), successes))
    table = []
    # Only k that every case has tries for: else the rates of two k would be of different cases.
    for k in range(1, min((trials for trials, _ in tried), default=0) + 1):
        rates = [pass_hat_k(trials, successes, k) for trials, successes in tried]
        mean = clustered_mean({str(number): [rate] for number, rate in enumerate(rates)})
        table.append(
            PassHat(
                arm=arm,
                k=k,
                cases=len(tried),
                rate=mean.mean,
                standard_error=mean.standard_error_if_independent,
            )
        )
    return table
