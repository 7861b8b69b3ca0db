# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Permutation test, bootstrap interval and budgets, against what can be counted by hand."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_ros.sidecar import Policy
from harness_ros.sidecar.promotion.significance import (
    MOST_EXACT,
    cases_to_pass,
    mean_gain,
    permutation_test,
)

POLICY = Policy()
GAINS = st.lists(st.integers(-20, 20).map(lambda n: n / 20), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("gains", "p"),
    [
        ([1.0], 1 / 2),
        ([0.1, 0.2, 0.3], 1 / 8),
        ([0.5] * 5, 1 / 32),
        ([1.0, 0.0, 0.0], 1 / 2),
        ([0.0, 0.0], 1.0),
        ([-1.0], 1.0),
        ([0.3, 0.3, -0.3], 4 / 8),
    ],
)
def test_p_is_the_share_of_signs_that_gain_as_much(gains: list[float], p: float) -> None:
    assert permutation_test(gains, POLICY).p_value == p


@settings(max_examples=50, derandomize=True, deadline=None)
@given(GAINS, st.randoms(use_true_random=False))
def test_p_is_neither_0_nor_dependent_on_the_order(gains: list[float], lot: random.Random) -> None:
    test = permutation_test(gains, POLICY)
    assert test.smallest_p <= test.p_value <= 1
    shuffled = list(gains)
    lot.shuffle(shuffled)
    assert permutation_test(shuffled, POLICY) == test
    assert mean_gain(shuffled, POLICY) == mean_gain(gains, POLICY)


def test_many_cases_are_drawn_by_lot_near_the_exact_p() -> None:
    few = [0.5] * 9 + [-0.5] * (MOST_EXACT - 9)
    exact = permutation_test(few, POLICY)
    # A case that changed nothing doubles all counts, and the share stays.
    drawn = permutation_test([*few, 0.0], POLICY)
    assert (exact.exact, drawn.exact) == (True, False)
    assert drawn.p_value == pytest.approx(exact.p_value, abs=0.02)
    assert permutation_test([0.0, *reversed(few)], POLICY) == drawn


def test_chance_passes_about_as_often_as_the_level_says() -> None:
    lot = random.Random(1)
    policy = Policy(confidence=0.9)
    passed = 0
    for _ in range(400):
        gains = [lot.gauss(0, 1) for _ in range(6)]
        test = permutation_test(gains, policy)
        passed += test.p_value <= test.level
    # 6 of 64 choices of signs are 0.094; three standard errors of 400 trials are 0.044.
    assert passed / 400 == pytest.approx(0.094, abs=0.044)


@pytest.mark.parametrize(("confidence", "cases"), [(0.5, 1), (0.75, 2), (0.9, 4), (0.95, 5)])
def test_cases_to_pass_are_those_whose_best_p_is_low_enough(confidence: float, cases: int) -> None:
    policy = Policy(confidence=confidence)
    assert cases_to_pass(policy) == cases
    enough = permutation_test([1.0] * cases, policy)
    assert enough.p_value <= enough.level
    if cases > 1:
        fewer = permutation_test([1.0] * (cases - 1), policy)
        assert fewer.smallest_p > fewer.level


def test_the_interval_holds_the_mean_and_narrows_with_cases() -> None:
    few, many = [mean_gain([0.0, 0.5, 1.0] * n, POLICY) for n in (1, 20)]
    assert few is not None and many is not None
    assert few.low <= few.mean == 0.5 <= few.high
    assert few.high - few.low > 3 * (many.high - many.low)
    # Nearly normal with so many cases.
    assert many.high - many.low == pytest.approx(2 * 1.96 * many.standard_error, rel=0.1)


def test_one_case_has_neither_interval_nor_standard_error() -> None:
    gain = mean_gain([0.3], POLICY)
    assert gain is not None
    assert (gain.mean, gain.standard_error, gain.low, gain.high) == (0.3, None, None, None)
    assert mean_gain([], POLICY) is None
    with pytest.raises(ValueError, match="no cases"):
        permutation_test([], POLICY)
