# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers beside labels: rates, the risk-coverage curve, and thresholds from it."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_ros.contract import Kind, Status
from harness_ros.judges.answers import LabelledAnswer, answer_of, curve, measured
from harness_ros.statistics import upper_bound, wilson_interval


def said(label, answer, confidence=None, run_id="r", tool="pick"):
    return LabelledAnswer(
        run_id=run_id, tool=tool, label=label, answer=answer, confidence=confidence
    )


ANSWERS = st.lists(
    st.builds(
        said,
        st.sampled_from(["success", "failure"]),
        st.sampled_from(["success", "failure", "unjudged"]),
        st.none() | st.sampled_from([0.1, 0.5, 0.7, 0.9]),
    ),
    max_size=40,
)


@pytest.mark.parametrize(
    ("status", "kind", "answer"),
    [
        (Status.SUCCESS, Kind.JUDGED, "success"),
        (Status.FAILURE, Kind.JUDGED, "failure"),
        (Status.FAILURE, Kind.SEGMENT_BUDGET_EXHAUSTED, "failure"),
        (Status.FAILURE, Kind.INCONCLUSIVE, "unjudged"),
        (Status.FAILURE, Kind.JUDGE_UNAVAILABLE, "unjudged"),
        (Status.PROCESS, Kind.JUDGED, "unjudged"),
    ],
)
def test_what_a_verdict_counts_as(status, kind, answer):
    assert answer_of(status, kind) == answer


def test_rates_are_over_what_was_judged_and_the_rest_is_beside():
    answers = [
        *[said("failure", "success")] * 2,
        *[said("failure", "failure")] * 6,
        said("failure", "unjudged"),
        *[said("success", "success")] * 3,
        said("success", "failure"),
        *[said("success", "unjudged")] * 2,
    ]
    found = measured(answers)
    assert (found.false_success.count, found.false_success.of) == (2, 8)
    assert (found.false_failure.count, found.false_failure.of) == (1, 4)
    low, high = wilson_interval(2, 8)
    assert found.false_success.low == pytest.approx(low, abs=1e-6)
    assert found.false_success.high == pytest.approx(high, abs=1e-6)
    assert found.false_success_below == pytest.approx(upper_bound(2, 8), abs=1e-6)
    assert found.labelled_failure.unjudged == 1 and found.labelled_success.unjudged == 2
    assert found.unjudged == 3


def test_without_a_labelled_failure_there_is_no_false_success_rate():
    found = measured([said("success", "success")])
    assert found.false_success.rate is None
    assert found.false_success_below is None


def test_below_a_threshold_and_without_a_confidence_an_answer_is_not_given():
    answers = [
        said("failure", "success", 0.4),
        said("failure", "success", None),
        said("failure", "failure", 0.8),
        said("success", "success", 0.6),
    ]
    found = measured(answers, threshold=0.6)
    assert (found.false_success.count, found.false_success.of) == (0, 1)
    assert found.labelled_failure.unjudged == 2
    assert found.labelled_success.success == 1


def test_the_curve_goes_from_saying_all_to_saying_what_is_surest():
    points = curve(
        [
            said("failure", "success", 0.3),
            said("failure", "failure", 0.9),
            said("success", "success", 0.9),
            said("success", "failure", 0.5),
            said("success", "unjudged", 0.7),
        ]
    )
    assert [point.confidence for point in points] == [0.3, 0.5, 0.9]
    assert [point.coverage.count for point in points] == [4, 3, 2]
    assert [point.wrong.count for point in points] == [2, 1, 0]
    assert [point.false_success.count for point in points] == [1, 0, 0]
    assert {point.false_success.of for point in points} == {2}


def test_a_judge_that_gives_no_confidence_has_no_curve():
    assert curve([said("failure", "success"), said("success", "success")]) == ()


@given(ANSWERS)
def test_the_curve_agrees_with_the_errors_at_each_of_its_thresholds(answers):
    judged = [item for item in answers if item.answer != "unjudged"]
    for point in curve(answers):
        at = measured(answers, point.confidence)
        assert point.false_success.count == at.labelled_failure.success
        assert point.coverage.count == sum(
            part.success + part.failure for part in (at.labelled_failure, at.labelled_success)
        )
        assert point.coverage.of == len(judged)


@given(ANSWERS)
def test_a_higher_threshold_never_lets_more_through(answers):
    points = curve(answers)
    for lower, higher in itertools.pairwise(points):
        assert higher.coverage.count <= lower.coverage.count
        assert higher.false_success.count <= lower.false_success.count
