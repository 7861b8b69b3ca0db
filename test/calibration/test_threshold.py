# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The threshold for a wanted false-success rate: honest, or an error that says what is missing."""

import pytest
from planted import card_with

from harness_ros.contract import Judgement, Status
from harness_ros.judges.card import CardError, wanted_threshold
from harness_ros.judges.settings import PluginSettings
from harness_ros.statistics import upper_bound


class Scripted:
    """Calls the first runs of each label a success with the confidences that are given."""

    name = "scripted"

    def __init__(self, wrong, sure=0.95):
        self._wrong, self._sure = dict(enumerate(wrong)), sure

    def judge(self, request):
        _, label, number = request.observation.run_id.split("-")
        wrong = self._wrong.get(int(number)) if label == "f" else None
        says = label == "s" or wrong is not None
        return Judgement(
            status=Status.SUCCESS if says else Status.FAILURE,
            failure_reason="" if says else "it is not there",
            judge=self.name,
            confidence=self._sure if wrong is None else wrong,
        )


def scripted(failures, wrong, **changes):
    return card_with(failures, 20, judge=Scripted(wrong, **changes))


@pytest.mark.parametrize(("failures", "rate"), [(59, 0.05), (149, 0.02), (299, 0.01)])
def test_with_no_false_success_just_enough_failures_show_a_rate(failures, rate):
    assert scripted(failures, []).threshold(rate).confidence == 0.95
    with pytest.raises(CardError) as raised:
        scripted(failures - 1, []).threshold(rate)
    assert f"{failures - 1} judged failures cannot show" in str(raised.value)
    assert f"at most {100 * rate:g} %: {failures} are needed" in str(raised.value)


def test_the_threshold_is_the_lowest_whose_bound_is_at_most_what_is_wanted():
    card = scripted(100, [0.5, 0.6, 0.7, 0.8])
    found = card.threshold(0.07)
    # One false success of 100 excludes more than 4.7 %, two 6.2 %, three 7.6 %.
    assert upper_bound(2, 100) < 0.07 < upper_bound(3, 100)
    assert found.confidence == 0.7
    assert (found.false_success.count, found.false_success.of) == (2, 100)
    assert found.false_success_below == pytest.approx(upper_bound(2, 100), abs=1e-6)
    assert found.false_success_below <= found.wanted == 0.07
    assert (found.coverage.count, found.coverage.of) == (118, 120)
    assert found.false_success.low is not None and found.false_success.high is not None


def test_the_point_estimate_alone_is_not_enough():
    card = scripted(100, [0.5, 0.6, 0.7, 0.8])
    assert card.errors.false_success.rate == 0.04
    assert card.threshold(0.05).confidence > 0.5


def test_a_judge_that_is_wrong_where_it_is_most_sure_cannot_be_helped():
    card = scripted(100, [1.0] * 10)
    with pytest.raises(CardError, match="with its highest confidence, 1, it still called 10 of"):
        card.threshold(0.05)


def test_without_confidences_there_is_no_threshold():
    card = card_with(80, 20, confident=False)
    with pytest.raises(CardError, match="the judge gives no confidence"):
        card.threshold(0.05)


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_a_rate_that_no_labels_can_show_is_an_error(rate):
    with pytest.raises(CardError, match="between 0 and 1"):
        scripted(80, []).threshold(rate)


def settings(**abstain):
    return PluginSettings(type="plugin", judge="planted:PlantedJudge", abstain=abstain or None)


def test_what_a_judge_abstains_below():
    card = scripted(100, [0.5, 0.6, 0.7, 0.8])
    assert wanted_threshold("eye", settings(), card) is None
    assert wanted_threshold("eye", settings(confidence=0.4), None) == 0.4
    assert wanted_threshold("eye", settings(false_success=0.07), card) == 0.7
    with pytest.raises(CardError, match="judge 'eye': a threshold for a false-success rate of"):
        wanted_threshold("eye", settings(false_success=0.05), None)
