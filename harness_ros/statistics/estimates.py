# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rates of few trials, and what they can and cannot say: closed forms, no tables.

Counts are whole numbers, rates and confidences fractions of 1. A count or confidence outside its
domain is a ValueError; what no data of that kind can tell is None or a NotEstimableError.
docs/statistics.md says when to use which.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

from harness_ros.contract import HarnessError

CONFIDENCE = 0.95


class NotEstimableError(HarnessError):
    """The data say nothing of the number that is asked for; the text says why."""


class Interval(NamedTuple):
    """Both ends of an interval, inclusive."""

    low: float
    high: float


def wilson_interval(successes: int, trials: int, confidence: float = CONFIDENCE) -> Interval:
    """Score interval of a rate: every rate that a z-test would not reject.

    Unlike rate ± z·SE it stays in [0, 1], and says something at 0 of n and n of n. Trials count as
    independent.

    Source: Wilson 1927, JASA 22:209; recommended for small n in Agresti & Coull 1998.

    Raises:
        ValueError: no trial, successes outside [0, trials], or confidence outside (0, 1).
    """
    _check_count("successes", successes, trials)
    z2 = _z(confidence) ** 2
    rate = successes / trials
    centre = rate + z2 / (2 * trials)
    half = math.sqrt(z2 * (rate * (1 - rate) + z2 / (4 * trials)) / trials)
    scale = 1 + z2 / trials
    # Exact where rounding would leave 1e-17.
    low = 0.0 if successes == 0 else (centre - half) / scale
    high = 1.0 if successes == trials else (centre + half) / scale
    return Interval(low, high)


def zero_events_upper_bound(
    trials: int, confidence: float = CONFIDENCE, *, two_sided: bool = False
) -> float:
    """The rate that 0 events in `trials` exclude: greater ones are excluded at that confidence.

    One-sided it is 1 - (1 - confidence)^(1/n), about 3/n at 95 %: the "rule of three" (Hanley &
    Lippman-Hand 1983), exact. Two-sided it is 1 - ((1 - confidence)/2)^(1/n), the upper end of
    the interval of Clopper & Pearson 1934. A bound that is looked for after zero events were seen
    is one-sided: the rate cannot be below 0.

    Raises:
        ValueError: no trial, or confidence outside (0, 1).
    """
    _check_count("events", 0, trials)
    _check_confidence(confidence)
    alpha = (1 - confidence) / 2 if two_sided else 1 - confidence
    return -math.expm1(math.log(alpha) / trials)


def upper_bound(events: int, trials: int, confidence: float = CONFIDENCE) -> float:
    """The greatest rate of which so few events are no surprise, one-sided and exact.

    The rate p with P(at most `events` of `trials` | p) = 1 - confidence: the upper end of Clopper &
    Pearson 1934, Biometrika 26:404. With 0 events it is `zero_events_upper_bound`.

    Raises:
        ValueError: no trial, events outside [0, trials], or confidence outside (0, 1).
    """
    _check_count("events", events, trials)
    if events == 0:
        return zero_events_upper_bound(trials, confidence)
    _check_confidence(confidence)
    if events == trials:
        return 1.0
    low, high = events / trials, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if at_most(events, trials, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def at_most(events: int, trials: int, rate: float) -> float:
    """Probability of at most so many events in independent trials of this rate: the binomial.

    Raises:
        ValueError: no trial, events outside [0, trials], or rate outside [0, 1].
    """
    _check_count("events", events, trials)
    if not 0 <= rate <= 1:
        raise ValueError(f"rate is {rate}: from 0 to 1")
    if rate == 0 or events == trials:
        return 1.0
    if rate == 1:
        return 0.0
    # By logarithms: the coefficients of some thousand trials are greater than any float.
    of, no = math.log(rate), math.log1p(-rate)
    log_n = math.lgamma(trials + 1)
    total = math.fsum(
        math.exp(
            log_n
            - math.lgamma(count + 1)
            - math.lgamma(trials - count + 1)
            + count * of
            + (trials - count) * no
        )
        for count in range(events + 1)
    )
    return min(1.0, total)


def trials_to_exclude(rate: float, confidence: float = CONFIDENCE) -> int:
    """The fewest trials whose `zero_events_upper_bound`, one-sided, is at most `rate`.

    Raises:
        ValueError: rate or confidence outside (0, 1).
    """
    if not 0 < rate < 1:
        raise ValueError(f"rate is {rate}: between 0 and 1, without both")
    _check_confidence(confidence)
    wanted = math.log1p(-(confidence)) / math.log1p(-rate)
    # 59.0000000001 is 59: rounding must not cost a trial.
    return max(1, math.ceil(wanted - 1e-9 * max(1.0, wanted)))


class ClusteredMean(NamedTuple):
    """A mean over trials, of which several belong to one task."""

    mean: float
    standard_error: float | None
    """Robust against trials of one task being alike; None with one task."""
    standard_error_if_independent: float | None
    """As if every trial were a task of its own; None with one trial."""
    trials: int
    tasks: int


def clustered_mean(scores: Mapping[str, Sequence[float]]) -> ClusteredMean:
    """Mean of all trials, and its standard error when trials of one task are alike.

    With s the scores, m their mean, n trials, and c the tasks:

        SE_independent² = Σ (s_i - m)² / (n - 1) / n
        SE_clustered² = SE_independent² + Σ_c Σ_i Σ_{j≠i} (s_ci - m)(s_cj - m) / n²

    Source: Miller 2024, "Adding Error Bars to Evals" (arXiv 2411.00640); cluster-robust as in
    Liang & Zeger 1986. It needs many tasks: with fewer than about 20 it is too small on average,
    and 0 where all tasks have the same mean.

    Args:
        scores: the scores of each task, such as 1 for success and 0 for failure.

    Raises:
        ValueError: no trial.
    """
    tasks = [values for values in scores.values() if len(values)]
    trials = sum(map(len, tasks))
    _check_count("successes", 0, trials)
    mean = math.fsum(value for values in tasks for value in values) / trials
    if trials == 1:
        return ClusteredMean(mean, None, None, 1, 1)
    squares = math.fsum((value - mean) ** 2 for values in tasks for value in values)
    independent = squares / (trials - 1) / trials
    # The sum over pairs is the square of the sum without its squares.
    sums = math.fsum(math.fsum(value - mean for value in values) ** 2 for values in tasks)
    clustered = max(0.0, independent + (sums - squares) / trials**2)
    return ClusteredMean(
        mean,
        math.sqrt(clustered) if len(tasks) > 1 else None,
        math.sqrt(independent),
        trials,
        len(tasks),
    )


def pass_at_k(trials: int, successes: int, k: int) -> float:
    """Probability that at least one of k trials of a task is a success: 1 - C(n-c, k) / C(n, k).

    Unbiased, unlike 1 - (1 - c/n)^k. Averaged over tasks it is the benchmark's pass@k.

    Source: Chen et al. 2021, "Evaluating Large Language Models Trained on Code", equation 1.

    Raises:
        ValueError: no trial, successes outside [0, trials], or k outside [1, trials].
    """
    _check_k(trials, successes, k)
    drawn = math.comb(trials, k)
    return (drawn - math.comb(trials - successes, k)) / drawn


def pass_hat_k(trials: int, successes: int, k: int) -> float:
    """Probability that all of k trials of a task are successes (pass^k): C(c, k) / C(n, k).

    Averaged over tasks it says how dependable the robot is, where pass@k says what it can do.

    Source: Yao et al. 2024, "τ-bench" (arXiv 2406.12045).

    Raises:
        ValueError: no trial, successes outside [0, trials], or k outside [1, trials].
    """
    _check_k(trials, successes, k)
    return math.comb(successes, k) / math.comb(trials, k)


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Agreement of two series of verdicts of the same runs, beyond that of chance.

    (p_o - p_e) / (1 - p_e): 1 is full agreement, 0 that of two who guess with the same shares.

    Source: Cohen 1960, Educational and Psychological Measurement 20:37.

    Returns:
        None for empty series, and where both say one and the same throughout: chance would too.

    Raises:
        ValueError: the series are not equally long.
    """
    if len(first) != len(second):
        raise ValueError(f"series of {len(first)} and {len(second)} verdicts: not of the same runs")
    n = len(first)
    agreeing = sum(one == other for one, other in zip(first, second, strict=True))
    shares, others = Counter(first), Counter(second)
    by_chance = sum(count * others[verdict] for verdict, count in shares.items())
    if by_chance == n * n:
        return None
    return (n * agreeing - by_chance) / (n * n - by_chance)


class CorrectedRate(NamedTuple):
    """A rate of success, corrected for the errors of who judged."""

    rate: float
    """Clipped to [0, 1]."""
    low: float
    high: float
    unclipped: float
    """Far outside of [0, 1] the judge's errors here are not those that were counted, and the
    interval, which is clipped too, says nothing."""


def rogan_gladen(
    successes: int,
    trials: int,
    false_success: tuple[int, int],
    false_failure: tuple[int, int],
    confidence: float = CONFIDENCE,
) -> CorrectedRate:
    """The rate of success behind the verdicts of a judge whose errors were counted elsewhere.

    With p the rate of verdicts, Sp = 1 - false-success rate, Se = 1 - false-failure rate:
    (p + Sp - 1) / (Se + Sp - 1) (Rogan & Gladen 1978, Am J Epidemiol 107:71). The interval is
    that of Lang & Reiczigel 2014 (Prev Vet Med 113:13): the delta method over three independent
    samples, z²/2 added to both outcomes of p and 1 to those of Se and Sp, and shifted by
    2z² (π Se(1-Se)/n_Se - (1-π) Sp(1-Sp)/n_Sp). So few labels make it wide.

    Args:
        successes: verdicts of success, of `trials` verdicts.
        trials: verdicts.
        false_success: verdicts of success among n labelled failures, and n.
        false_failure: verdicts of failure among n labelled successes, and n.
        confidence: of the interval.

    Raises:
        NotEstimableError: no labels of one sort, sensitivity + specificity ≤ 1 (verdicts that say
            no more than chance), or the same after the additions (too few labels).
        ValueError: no trial, a count outside its sample, or confidence outside (0, 1).
    """
    _check_count("successes", successes, trials)
    z = _z(confidence)
    for name, (errors, labels) in (("failure", false_success), ("success", false_failure)):
        if labels == 0 and errors == 0:
            raise NotEstimableError(f"no run that is labelled {name}: that error is unknown")
        _check_count(f"errors on what is labelled {name}", errors, labels)
    specificity = 1 - false_success[0] / false_success[1]
    sensitivity = 1 - false_failure[0] / false_failure[1]
    # In whole numbers: the boundary itself must not depend on rounding.
    if false_success[0] * false_failure[1] + false_failure[0] * false_success[1] >= (
        false_success[1] * false_failure[1]
    ):
        raise NotEstimableError(
            f"sensitivity {sensitivity:.3f} + specificity {specificity:.3f} is not above 1: "
            "this judge's verdicts say no more than chance, no correction can help"
        )
    unclipped = (successes / trials + specificity - 1) / (sensitivity + specificity - 1)
    n, p = _padded(successes, trials, z * z)
    n_sp, sp = _padded(false_success[1] - false_success[0], false_success[1], 2)
    n_se, se = _padded(false_failure[1] - false_failure[0], false_failure[1], 2)
    youden = se + sp - 1
    if youden <= 0:
        raise NotEstimableError(
            f"{false_success[1]} labelled failures and {false_failure[1]} labelled successes are "
            "too few to tell this judge from one that guesses"
        )
    centre = (p + sp - 1) / youden
    of_se, of_sp = se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    variance = p * (1 - p) / n + centre**2 * of_se + (1 - centre) ** 2 * of_sp
    half = z * math.sqrt(variance) / youden
    centre += 2 * z * z * (centre * of_se - (1 - centre) * of_sp)
    return CorrectedRate(
        _clipped(unclipped), _clipped(centre - half), _clipped(centre + half), unclipped
    )


def _padded(count: int, of: int, more: float) -> tuple[float, float]:
    return of + more, (count + more / 2) / (of + more)


def _clipped(rate: float) -> float:
    return min(1.0, max(0.0, rate))


def _z(confidence: float) -> float:
    _check_confidence(confidence)
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(
            f"confidence is {confidence}: between 0 and 1, without both (such as 0.95)"
        )


def _check_count(name: str, count: int, of: int) -> None:
    if of < 1:
        raise ValueError(f"{name} of {of} trials: at least one is needed")
    if not 0 <= count <= of:
        raise ValueError(f"{count} {name} of {of} trials: from 0 to {of}")


def _check_k(trials: int, successes: int, k: int) -> None:
    _check_count("successes", successes, trials)
    if not 1 <= k <= trials:
        raise ValueError(f"k is {k}: from 1 to the number of trials, {trials}")
