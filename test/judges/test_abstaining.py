# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Below its threshold a judge says that it cannot tell."""

import pytest

from harness_ros.contract import Judgement, Kind, Status
from harness_ros.judges.abstaining import abstain

SUCCESS = Judgement(status=Status.SUCCESS, evidence=("seen",), confidence=0.8)
FAILURE = Judgement(status=Status.FAILURE, failure_reason="not there", confidence=0.8)
PROCESS = Judgement(status=Status.PROCESS, failure_reason="half way", confidence=0.8)


@pytest.mark.parametrize(
    "judgement", [SUCCESS, FAILURE, PROCESS], ids=lambda item: item.status.name
)
def test_what_is_sure_enough_stays_and_what_is_not_cannot_be_told(judgement):
    assert abstain(judgement, 0.8) == judgement
    unsure = abstain(judgement, 0.81)
    assert (unsure.status, unsure.kind, unsure.error) == (Status.FAILURE, Kind.INCONCLUSIVE, "")
    assert unsure.evidence == judgement.evidence
    assert unsure.confidence is None, "it was that of another status"


def test_the_words_give_what_was_said_the_confidence_and_the_threshold():
    assert abstain(FAILURE, 0.95).failure_reason == (
        "cannot tell: failure (not there) with confidence 0.8, at least 0.95 is wanted"
    )


def test_an_answer_without_a_confidence_is_not_sure_enough():
    unsure = abstain(SUCCESS.model_copy(update={"confidence": None}), 0.0)
    assert unsure.kind is Kind.INCONCLUSIVE
    assert unsure.failure_reason == (
        "cannot tell: success without a confidence, at least 0 is wanted"
    )


@pytest.mark.parametrize(
    "judgement",
    [
        Judgement(status=Status.FAILURE, error="no answer"),
        Judgement(status=Status.FAILURE, failure_reason="too dark", kind=Kind.INCONCLUSIVE),
        SUCCESS.model_copy(update={"failure_reason": "it fell"}),
        SUCCESS.model_copy(update={"kind": Kind.CANCELLED}),
    ],
    ids=["could not judge", "inconclusive", "contradicts itself", "kind that is not its to say"],
)
def test_what_is_no_judgement_of_the_outcome_stays_what_it_is(judgement):
    assert abstain(judgement, 0.9) == judgement
