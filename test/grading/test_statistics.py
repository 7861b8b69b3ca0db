# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Intervals and estimators beside tables of the literature, brute force and their coverage."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations
from statistics import NormalDist, fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_ros.statistics import (
    NotEstimableError,
    at_most,
    clustered_mean,
    cohen_kappa,
    pass_at_k,
    pass_hat_k,
    rogan_gladen,
    trials_to_exclude,
    upper_bound,
    wilson_interval,
    zero_events_upper_bound,
)

COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
CONFIDENCES = st.floats(0.5, 0.999)


def probability(k: int, n: int, rate: float) -> float:
    return math.comb(n, k) * rate**k * (1 - rate) ** (n - k)


# Wilson


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17:857, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (0, 10, 0.0000, 0.2775),
        (8, 10, 0.4902, 0.9433),
        (10, 10, 0.7225, 1.0000),
    ],
)
def test_wilson_interval_is_that_of_the_tables(
    successes: int, trials: int, low: float, high: float
) -> None:
    assert wilson_interval(successes, trials) == pytest.approx((low, high), abs=5e-5)


@given(COUNTS, CONFIDENCES)
def test_ends_of_the_wilson_interval_are_just_not_rejected_by_the_score_test(
    count: tuple[int, int], confidence: float
) -> None:
    successes, trials = count
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    for end in wilson_interval(successes, trials, confidence):
        if end not in (0.0, 1.0):
            score = abs(successes / trials - end) / math.sqrt(end * (1 - end) / trials)
            assert score == pytest.approx(z, rel=1e-6)


@given(COUNTS, CONFIDENCES)
def test_wilson_interval_holds_the_rate_and_mirrors(
    count: tuple[int, int], confidence: float
) -> None:
    successes, trials = count
    low, high = wilson_interval(successes, trials, confidence)
    assert 0 <= low <= successes / trials <= high <= 1
    assert low < high
    mirrored = wilson_interval(trials - successes, trials, confidence)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize("trials", [10, 20, 40])
def test_wilson_interval_covers_as_often_as_it_says(trials: int) -> None:
    intervals = [wilson_interval(k, trials) for k in range(trials + 1)]
    covered = []
    for step in range(5, 96):
        rate = step / 100
        covered.append(
            sum(
                probability(k, trials, rate)
                for k, (low, high) in enumerate(intervals)
                if low <= rate <= high
            )
        )
    assert fmean(covered) == pytest.approx(0.95, abs=0.01)
    assert min(covered) > 0.9


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((0, 0), "at least one"),
        ((-1, 5), "-1 successes of 5"),
        ((6, 5), "from 0 to 5"),
        ((1, 5, 1.0), "confidence is 1.0"),
        ((1, 5, 0.0), "confidence is 0.0"),
        ((1, 5, math.nan), "confidence is nan"),
    ],
)
def test_wilson_interval_refuses_what_is_no_count(
    arguments: tuple[int, int, float], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        wilson_interval(*arguments)


# Zero events


@pytest.mark.parametrize(
    ("trials", "one_sided", "two_sided"),
    [(1, 0.95, 0.975), (10, 0.2589, 0.3085), (30, 0.0950, 0.1157), (300, 0.0099, 0.0122)],
)
def test_zero_events_exclude_what_tables_of_clopper_and_pearson_say(
    trials: int, one_sided: float, two_sided: float
) -> None:
    assert zero_events_upper_bound(trials) == pytest.approx(one_sided, abs=6e-5)
    assert zero_events_upper_bound(trials, two_sided=True) == pytest.approx(two_sided, abs=6e-5)


@given(st.integers(1, 10**6), CONFIDENCES)
def test_at_the_bound_zero_events_are_as_rare_as_the_confidence_says(
    trials: int, confidence: float
) -> None:
    bound = zero_events_upper_bound(trials, confidence)
    assert trials * math.log1p(-bound) == pytest.approx(math.log(1 - confidence), rel=1e-9)
    bound = zero_events_upper_bound(trials, confidence, two_sided=True)
    assert trials * math.log1p(-bound) == pytest.approx(math.log((1 - confidence) / 2), rel=1e-9)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.93, 1.0])
@pytest.mark.parametrize("trials", [1, 5, 40])
def test_at_most_so_many_events_is_the_sum_of_the_binomial(trials: int, rate: float) -> None:
    exact = Fraction(rate)
    total = Fraction(0)
    for events in range(trials + 1):
        total += math.comb(trials, events) * exact**events * (1 - exact) ** (trials - events)
        assert at_most(events, trials, rate) == pytest.approx(float(total), abs=1e-12)
    assert at_most(30, 3000, 0.01) == pytest.approx(0.5484, abs=1e-3)
    with pytest.raises(ValueError, match=r"rate is 1\.5"):
        at_most(0, 1, 1.5)


def test_the_rule_of_three_is_near_the_exact_bound() -> None:
    for trials in (30, 100, 1000):
        assert zero_events_upper_bound(trials) == pytest.approx(3 / trials, rel=0.06)


@pytest.mark.parametrize(("rate", "trials"), [(0.1, 29), (0.05, 59), (0.01, 299), (0.95, 1)])
def test_trials_to_exclude_are_those_of_the_tables(rate: float, trials: int) -> None:
    assert trials_to_exclude(rate) == trials


@given(st.floats(1e-4, 0.999), CONFIDENCES)
def test_one_trial_less_excludes_less(rate: float, confidence: float) -> None:
    trials = trials_to_exclude(rate, confidence)
    assert zero_events_upper_bound(trials, confidence) <= rate * (1 + 1e-7)
    assert trials == 1 or zero_events_upper_bound(trials - 1, confidence) > rate


@given(st.integers(1, 5000), CONFIDENCES)
def test_trials_to_exclude_the_bound_of_n_trials_are_n(trials: int, confidence: float) -> None:
    bound = zero_events_upper_bound(trials, confidence)
    if bound < 1:
        assert trials_to_exclude(bound, confidence) == trials


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1, math.nan])
def test_rates_that_no_number_of_trials_excludes_are_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="rate is"):
        trials_to_exclude(rate)


# Clustered standard error


def test_clustered_standard_error_is_that_of_the_formula_term_by_term() -> None:
    scores = {"a": [1, 1, 0], "b": [0, 0], "c": [1]}
    flat = [score for values in scores.values() for score in values]
    mean, n = fmean(flat), len(flat)
    pairs = sum(
        (values[i] - mean) * (values[j] - mean)
        for values in scores.values()
        for i in range(len(values))
        for j in range(len(values))
        if i != j
    )
    found = clustered_mean(scores)
    assert found.mean == mean == 0.5
    assert found.standard_error_if_independent == pytest.approx(stdev(flat) / math.sqrt(n))
    assert found.standard_error == pytest.approx(math.sqrt(stdev(flat) ** 2 / n + pairs / n**2))
    assert (found.trials, found.tasks) == (6, 3)


@given(st.lists(st.integers(0, 1), min_size=2, max_size=60))
def test_with_one_trial_a_task_both_standard_errors_are_the_same(scores: list[int]) -> None:
    found = clustered_mean({str(number): [score] for number, score in enumerate(scores)})
    assert found.standard_error == pytest.approx(found.standard_error_if_independent, abs=1e-12)


@given(st.lists(st.integers(0, 1), min_size=2, max_size=30), st.integers(2, 6))
def test_repeating_every_trial_adds_next_to_nothing(scores: list[int], times: int) -> None:
    once = clustered_mean({str(at): [score] for at, score in enumerate(scores)})
    again = clustered_mean({str(at): [score] * times for at, score in enumerate(scores)})
    assert once.standard_error is not None and again.standard_error is not None
    # n - 1 of n is all that the formula's first term forgives.
    share = math.sqrt((len(scores) - 1) / len(scores))
    assert share * once.standard_error <= again.standard_error + 1e-12
    assert again.standard_error <= once.standard_error + 1e-12


@given(st.dictionaries(st.text(max_size=3), st.lists(st.floats(-9, 9), max_size=5), max_size=6))
def test_clustered_mean_is_never_below_zero_variance(scores: dict[str, list[float]]) -> None:
    if not any(scores.values()):
        with pytest.raises(ValueError, match="at least one"):
            clustered_mean(scores)
        return
    found = clustered_mean(scores)
    assert found.tasks == sum(1 for values in scores.values() if values)
    if found.tasks == 1:
        assert found.standard_error is None
    else:
        assert found.standard_error is not None and found.standard_error >= 0


def test_one_trial_has_no_standard_error() -> None:
    assert clustered_mean({"a": [1]}) == (1.0, None, None, 1, 1)


def test_where_trials_are_alike_the_clustered_error_covers_and_the_other_does_not() -> None:
    chance = random.Random(20260901)
    covered = covered_if_independent = 0
    for _ in range(400):
        # Tasks that nearly always or nearly never succeed: the true mean is a half.
        scores = {}
        for task in range(40):
            rate = chance.betavariate(0.5, 0.5)
            scores[str(task)] = [chance.random() < rate for _ in range(5)]
        found = clustered_mean(scores)
        assert found.standard_error is not None
        assert found.standard_error_if_independent is not None
        away = abs(found.mean - 0.5)
        covered += away <= 1.96 * found.standard_error
        covered_if_independent += away <= 1.96 * found.standard_error_if_independent
    assert covered / 400 == pytest.approx(0.945, abs=0.03)
    assert covered_if_independent / 400 < 0.85


# pass@k and pass^k


@pytest.mark.parametrize("trials", [1, 4, 7])
def test_pass_at_k_and_pass_hat_k_are_the_shares_of_all_choices(trials: int) -> None:
    for successes in range(trials + 1):
        outcomes = [True] * successes + [False] * (trials - successes)
        for k in range(1, trials + 1):
            drawn = list(combinations(outcomes, k))
            assert pass_at_k(trials, successes, k) == fmean(map(any, drawn))
            assert pass_hat_k(trials, successes, k) == fmean(map(all, drawn))


def test_pass_at_k_is_the_product_of_chen_et_al() -> None:
    for n, c, k in ((200, 13, 100), (100, 1, 10), (20, 20, 5)):
        product = 1 - math.prod(1 - k / number for number in range(n - c + 1, n + 1))
        assert pass_at_k(n, c, k) == pytest.approx(product, rel=1e-12)


@given(COUNTS)
def test_pass_at_1_and_pass_hat_1_are_the_rate(count: tuple[int, int]) -> None:
    successes, trials = count
    assert pass_at_k(trials, successes, 1) == pytest.approx(successes / trials)
    assert pass_hat_k(trials, successes, 1) == pytest.approx(successes / trials)
    assert pass_hat_k(trials, successes, trials) == (successes == trials)
    assert pass_at_k(trials, successes, trials) == (successes > 0)


def test_pass_at_k_is_without_bias() -> None:
    n, k, rate = 8, 3, 0.3
    expected = sum(probability(c, n, rate) * pass_at_k(n, c, k) for c in range(n + 1))
    assert expected == pytest.approx(1 - (1 - rate) ** k)
    expected = sum(probability(c, n, rate) * pass_hat_k(n, c, k) for c in range(n + 1))
    assert expected == pytest.approx(rate**k)


@pytest.mark.parametrize("k", [0, 6, -1])
def test_k_outside_of_the_trials_is_refused(k: int) -> None:
    for function in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match=f"k is {k}: from 1 to the number of trials, 5"):
            function(5, 2, k)


# Kappa


def test_kappa_of_the_textbook_table() -> None:
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    first, second = zip(*pairs, strict=True)
    assert cohen_kappa(first, second) == pytest.approx(0.4)


def test_kappa_where_chance_would_agree_too_is_unknown() -> None:
    assert cohen_kappa([], []) is None
    assert cohen_kappa("SSS", "SSS") is None
    assert cohen_kappa("SSS", "FFF") == 0


VERDICT = st.sampled_from("SFi")


@given(st.lists(st.tuples(VERDICT, VERDICT), min_size=1))
def test_kappa_is_symmetric_at_most_one_and_one_only_for_full_agreement(
    pairs: list[tuple[str, str]],
) -> None:
    first, second = zip(*pairs, strict=True)
    kappa = cohen_kappa(first, second)
    assert kappa == cohen_kappa(second, first)
    if kappa is None:
        assert len({*first, *second}) == 1
    else:
        assert -1 <= kappa <= 1
        assert (kappa == 1) is (first == second)


def test_kappa_of_series_of_other_runs_is_refused() -> None:
    with pytest.raises(ValueError, match="series of 2 and 3"):
        cohen_kappa("SS", "SSS")


# Rogan and Gladen


def test_corrected_rate_is_that_of_an_example_of_epidemiology() -> None:
    # 23 of 150 cows test positive, sensitivity 96 %, specificity 89 % (manual of R's epiR).
    found = rogan_gladen(23, 150, (11, 100), (4, 100))
    assert found.rate == found.unclipped == pytest.approx(0.051, abs=5e-4)


def test_interval_is_that_of_lang_and_reiczigel_step_by_step() -> None:
    z = Fraction(NormalDist().inv_cdf(0.975))
    n = 37 + z * z
    p = (26 + z * z / 2) / n
    sp, se = Fraction(60 - 4 + 1, 62), Fraction(80 - 3 + 1, 82)
    prevalence = (p + sp - 1) / (se + sp - 1)
    of_se, of_sp = se * (1 - se) / 82, sp * (1 - sp) / 62
    variance = p * (1 - p) / n + prevalence**2 * of_se + (1 - prevalence) ** 2 * of_sp
    half = float(z) * math.sqrt(variance / (se + sp - 1) ** 2)
    shift = 2 * z * z * (prevalence * of_se - (1 - prevalence) * of_sp)
    found = rogan_gladen(26, 37, (4, 60), (3, 80))
    assert found.low == pytest.approx(float(prevalence + shift) - half, abs=1e-12)
    assert found.high == pytest.approx(float(prevalence + shift) + half, abs=1e-12)


def test_a_judge_that_never_errs_on_very_many_labels_leaves_the_interval_of_agresti_and_coull() -> (
    None
):
    found = rogan_gladen(12, 40, (0, 10**9), (0, 10**9))
    z = NormalDist().inv_cdf(0.975)
    n = 40 + z * z
    p = (12 + z * z / 2) / n
    half = z * math.sqrt(p * (1 - p) / n)
    assert found.rate == pytest.approx(12 / 40)
    assert (found.low, found.high) == pytest.approx((p - half, p + half), abs=1e-7)


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.95, 0.9), (0.9, 0.7)])
def test_the_corrected_interval_covers_as_often_as_it_says(
    sensitivity: float, specificity: float
) -> None:
    n, n_se, n_sp = 40, 25, 20
    rates = [0.2, 0.5, 0.8, 0.95]
    se = [probability(k, n_se, 1 - sensitivity) for k in range(n_se + 1)]
    sp = [probability(k, n_sp, 1 - specificity) for k in range(n_sp + 1)]
    verdicts = [
        [probability(k, n, r * sensitivity + (1 - r) * (1 - specificity)) for k in range(n + 1)]
        for r in rates
    ]
    covered = [0.0] * len(rates)
    possible = 0.0
    for missed in range(n_se + 1):
        for believed in range(n_sp + 1):
            labels = se[missed] * sp[believed]
            if labels < 1e-6:
                continue
            possible += labels
            for k in range(n + 1):
                found = rogan_gladen(k, n, (believed, n_sp), (missed, n_se))
                for at, rate in enumerate(rates):
                    if found.low <= rate <= found.high:
                        covered[at] += labels * verdicts[at][k]
    assert possible > 0.999
    assert all(0.93 <= share / possible <= 0.995 for share in covered), covered


def padded(errors: tuple[int, int]) -> Fraction:
    return Fraction(errors[0] + 1, errors[1] + 2)


@given(COUNTS, COUNTS, COUNTS)
def test_corrected_rate_is_a_rate_within_its_interval_of_rates_or_not_estimable(
    verdicts: tuple[int, int], false_success: tuple[int, int], false_failure: tuple[int, int]
) -> None:
    errors = Fraction(*false_success) + Fraction(*false_failure)
    if errors >= 1:
        with pytest.raises(NotEstimableError, match="no more than chance"):
            rogan_gladen(*verdicts, false_success, false_failure)
        return
    try:
        found = rogan_gladen(*verdicts, false_success, false_failure)
    except NotEstimableError as error:
        assert "too few" in str(error)
        assert padded(false_success) + padded(false_failure) >= 1
        return
    assert 0 <= found.rate <= 1
    assert 0 <= found.low <= found.high <= 1
    assert found.rate == min(1, max(0, found.unclipped))


def test_what_the_judge_cannot_have_said_is_clipped() -> None:
    found = rogan_gladen(0, 20, (6, 20), (0, 20))
    assert found.unclipped < 0
    assert (found.rate, found.low) == (0, 0)
    found = rogan_gladen(20, 20, (0, 20), (6, 20))
    assert found.unclipped > 1
    assert (found.rate, found.high) == (1, 1)


@pytest.mark.parametrize(
    ("false_success", "false_failure", "said"),
    [
        ((5, 10), (5, 10), "sensitivity 0.500 . specificity 0.500 is not above 1"),
        ((3, 10), (7, 10), "not above 1"),
        ((0, 1), (9, 10), "1 labelled failures and 10 labelled successes are too few"),
        ((0, 0), (1, 10), "no run that is labelled failure"),
        ((1, 10), (0, 0), "no run that is labelled success"),
    ],
)
def test_what_no_correction_can_help_is_said(
    false_success: tuple[int, int], false_failure: tuple[int, int], said: str
) -> None:
    with pytest.raises(NotEstimableError, match=said):
        rogan_gladen(5, 10, false_success, false_failure)


def test_counts_of_labels_outside_their_sample_are_refused() -> None:
    with pytest.raises(ValueError, match="11 errors on what is labelled failure of 10"):
        rogan_gladen(5, 10, (11, 10), (0, 10))
    with pytest.raises(ValueError, match="at least one"):
        rogan_gladen(0, 0, (1, 10), (0, 10))


# The bound of few events


@pytest.mark.parametrize(
    ("events", "trials", "bound"),
    [
        # Solved by hand where the sum has one or two terms: 11 p^10 - 10 p^11 and the like.
        (1, 2, 0.9746794),
        (1, 10, 0.3941633),
        (9, 10, 0.9948838),
    ],
)
def test_upper_bound_solves_the_equation_of_clopper_and_pearson(
    events: int, trials: int, bound: float
) -> None:
    assert upper_bound(events, trials) == pytest.approx(bound, abs=2e-6)


@given(COUNTS.filter(lambda pair: pair[0] < pair[1]), CONFIDENCES)
def test_at_the_upper_bound_so_few_events_are_just_no_surprise(
    counts: tuple[int, int], confidence: float
) -> None:
    events, trials = counts
    bound = upper_bound(events, trials, confidence)
    so_few = math.fsum(probability(count, trials, bound) for count in range(events + 1))
    assert so_few == pytest.approx(1 - confidence, rel=1e-6, abs=1e-12)


def test_upper_bound_of_no_event_is_the_rule_of_three() -> None:
    for trials in (1, 59, 149, 299):
        assert upper_bound(0, trials) == zero_events_upper_bound(trials)


def test_upper_bound_of_nothing_but_events_is_1() -> None:
    assert upper_bound(7, 7) == 1.0


def test_upper_bound_of_thousands_of_trials_is_no_overflow() -> None:
    assert 0.0105 < upper_bound(100, 10_000) < 0.0125
