# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The tester tested: a judge with planted error rates is recovered within what is stated."""

import random

import pytest
from graded_rows import graded
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from planted import answered, card_with, seen

from harness_ros.grading.judges import KnownJudge
from harness_ros.grading.summary import summarize

RATES = st.sampled_from([0.02, 0.05, 0.1, 0.2, 0.35])


@settings(derandomize=True, max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(RATES, RATES, st.sampled_from([0.0, 0.2]), st.integers(0, 10**6))
def test_stated_intervals_hold_the_planted_rates(false_success, false_failure, unsure, seed):
    """Of 30 cards, 30 · 0.95 on average; fewer than 24 would be one in some thousand."""
    held = {"false_success": 0, "false_failure": 0}
    planted = {"false_success": false_success, "false_failure": false_failure}
    for repetition in range(30):
        card = card_with(50, 50, unsure=unsure, seed=f"{seed} {repetition}", **planted)
        for name, rate in planted.items():
            found = getattr(card.errors, name)
            held[name] += found.low <= rate <= found.high
    assert min(held.values()) >= 24, (planted, held)


def test_stated_intervals_hold_the_planted_rate_as_often_as_they_say():
    held = below = 0
    repetitions = 120
    for repetition in range(repetitions):
        card = card_with(70, 1, false_success=0.15, seed=repetition)
        held += card.errors.false_success.low <= 0.15 <= card.errors.false_success.high
        below += card.errors.false_success_below >= 0.15
    assert 0.90 <= held / repetitions <= 0.99
    assert below / repetitions >= 0.90


def test_an_interval_that_is_not_of_this_judge_does_not_hold_its_rate():
    """Else the tests above could not fail."""
    held = 0
    for repetition in range(12):
        card = card_with(80, 1, false_success=0.15, seed=repetition)
        held += card.errors.false_success.low <= 0.3 <= card.errors.false_success.high
    assert held < 4


def evening_of(successes, runs, seed, **planted):
    """Rows of runs that nobody labelled, as the planted judge sees them."""
    luck = random.Random(seed)
    truths = [luck.random() < successes for _ in range(runs)]
    shown = [seen(f"evening-{seed}-{at}", truth) for at, truth in enumerate(truths)]
    _, (found,) = answered(shown, seed=f"evening {seed}", **planted)
    return truths, [item.answer for item in found.answers]


@pytest.mark.parametrize("truth", [0.3, 0.8])
def test_the_corrected_rate_recovers_the_true_one(truth):
    planted = {"false_success": 0.25, "false_failure": 0.1}
    held, corrected, raw = 0, [], []
    repetitions = 30
    for repetition in range(repetitions):
        card = card_with(80, 80, seed=repetition, **planted)
        _, answers = evening_of(truth, 80, repetition, **planted)
        rows = [
            graded(
                "S" if answer == "success" else "F",
                f"run-{at}",
                judge="planted",
                error_card=card.id,
            )
            for at, answer in enumerate(answers)
        ]
        summary = summarize(rows, known={"planted": KnownJudge(card)})
        found = summary.overall.corrected
        assert found == summary.judges["planted"].corrected
        held += found.low <= truth <= found.high
        corrected.append(found.unclipped)
        raw.append(summary.overall.success.rate)
    assert held / repetitions >= 0.9
    mean, uncorrected = sum(corrected) / repetitions, sum(raw) / repetitions
    assert abs(mean - truth) < 0.04
    expected = truth * 0.9 + (1 - truth) * 0.25
    assert abs(uncorrected - expected) < 0.03


def test_repeated_samples_say_how_far_they_agree():
    card = card_with(80, 80, repeat=3, false_success=0.2, false_failure=0.2)
    found = card.repeated
    # Three independent answers, each right with 0.8.
    assert found.samples == 3
    assert found.unanimous.low <= 0.8**3 + 0.2**3 <= found.unanimous.high
    assert found.pairwise == pytest.approx(0.8**2 + 0.2**2, abs=0.06)
    assert 0.2 < found.kappa < 0.5
    assert card_with(5, 5, repeat=2).repeated.pairwise == 1.0
    assert card_with(5, 5).repeated is None
