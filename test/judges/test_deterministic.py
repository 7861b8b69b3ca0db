# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The judge: whatever it is given, it answers, and what it cannot measure is no success."""

import json

import numpy as np
import pytest

from harness_ros.contract import EvaluationRequest, Kind, Status, View
from harness_ros.judges import (
    CheckParameters,
    Criterion,
    DeterministicJudge,
    Finding,
    Judge,
    Observed,
    check,
    evaluate,
)

MARKER = {"marker": {"view": "top", "id": 3}}
BROKEN_VIEW = View(
    name="top",
    stamp_ns=1,
    frame_id="top",
    height=480,
    width=640,
    encoding="rgb8",
    step=1920,
    is_bigendian=False,
    data=b"short",
    topic="/top/image_raw",
)


def judge(criterion, observation):
    deterministic: Judge = DeterministicJudge()
    text = criterion if isinstance(criterion, str) else json.dumps(criterion)
    return deterministic.judge(
        EvaluationRequest(post_condition="it is there", criterion=text, observation=observation)
    )


def test_a_criterion_that_holds_is_a_success_with_evidence(observe, picture):
    judgement = judge({"success": MARKER}, observe({"top": picture((3, 320, 240, 60))}))
    assert judgement.status is Status.SUCCESS
    assert judgement.judge == "deterministic"
    assert judgement.error == ""
    assert judgement.evidence == (
        "marker 3 seen in top at (0.50, 0.50), inside [0.00, 0.00, 1.00, 1.00]",
    )


def test_a_wrong_marker_is_no_success(observe, picture):
    judgement = judge({"success": MARKER}, observe({"top": picture((4, 320, 240, 60))}))
    assert (judgement.status, judgement.kind) == (Status.FAILURE, Kind.INCONCLUSIVE)


@pytest.mark.parametrize(
    ("criterion", "words"),
    [
        ("", ["no criterion"]),
        ("{", ["Invalid JSON"]),
        ("null", ["invalid"]),
        ("[]", ["invalid"]),
        ('{"success": {"markr": {}}}', ["success", "markr", "marker"]),
        ('{"success": {"signal": {"name": "a", "min": 3, "max": 2}}}', ["success.signal", "min 3"]),
        ('{"success":' + '{"not":' * 5000 + "1" + "}" * 5001, ["recursion"]),
    ],
)
def test_a_criterion_that_cannot_be_read_is_an_error_and_not_an_exception(
    observe, criterion, words
):
    judgement = judge(criterion, observe())
    assert judgement.status is Status.FAILURE
    for word in words:
        assert word in judgement.error
    assert judgement.failure_reason == judgement.error


def test_a_missing_view_cannot_be_told(observe, picture):
    judgement = judge({"success": {"not": MARKER}}, observe({"front": picture()}))
    assert (judgement.status, judgement.kind) == (Status.FAILURE, Kind.INCONCLUSIVE)
    [line] = judgement.evidence
    assert line == "marker: cannot tell: no view 'top'; the observation has ['front']"
    assert line in judgement.failure_reason


def test_a_missing_signal_cannot_be_told(observe):
    criterion = {"success": {"not": {"signal": {"name": "width", "min": 1}}}}
    judgement = judge(criterion, observe(signals={"force": 3.0}))
    assert judgement.kind is Kind.INCONCLUSIVE
    assert judgement.evidence == (
        "signal: cannot tell: no signal 'width'; the observation has ['force']",
    )


@pytest.mark.parametrize("node", [MARKER, {"not": MARKER}])
def test_a_frame_that_cannot_be_decoded_cannot_be_told(observe, node):
    judgement = judge({"success": node}, observe({"top": BROKEN_VIEW}))
    assert (judgement.status, judgement.kind) == (Status.FAILURE, Kind.INCONCLUSIVE)
    for word in ("/top/image_raw", "rgb8", "640x480", "5 bytes", "921600"):
        assert word in judgement.evidence[0]


class NoParameters(CheckParameters):
    pass


@pytest.fixture
def misbehaving_checks():
    @check("raises_in_a_test", NoParameters)
    def raises(parameters, observed):
        raise ZeroDivisionError("by\nzero")

    @check("returns_true_in_a_test", NoParameters)
    def returns_true(parameters, observed):
        return True

    @check("returns_a_numpy_bool_in_a_test", NoParameters)
    def returns_a_numpy_bool(parameters, observed):
        return Finding(holds=np.float64(1) > 0, evidence="numpy")

    @check("returns_a_number_in_a_test", NoParameters)
    def returns_a_number(parameters, observed):
        return Finding(holds=1, evidence="a number")


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("raises_in_a_test", "ZeroDivisionError: by zero"),
        ("returns_true_in_a_test", "TypeError"),
        ("returns_a_number_in_a_test", "ValidationError"),
    ],
)
@pytest.mark.usefixtures("misbehaving_checks")
def test_a_check_that_misbehaves_is_no_outcome(observe, name, word):
    for node in ({name: {}}, {"not": {name: {}}}):
        judgement = judge({"success": node}, observe())
        assert (judgement.status, judgement.kind) == (Status.FAILURE, Kind.INCONCLUSIVE)
        assert word in judgement.evidence[0]


@pytest.mark.usefixtures("misbehaving_checks")
def test_a_numpy_bool_is_a_bool(observe):
    judgement = judge({"success": {"returns_a_numpy_bool_in_a_test": {}}}, observe())
    assert judgement.status is Status.SUCCESS


def test_a_check_that_is_written_twice_is_evaluated_once(observe):
    calls = []

    @check("counts_in_a_test", NoParameters)
    def counts(parameters, observed):
        calls.append(1)
        return Finding(holds=True, evidence="counted")

    node = {"counts_in_a_test": {}}
    criterion = Criterion.model_validate(
        {
            "success": {"all": [node, node]},
            "failure": [{"when": {"not": node}, "reason": "lost"}],
        }
    )
    judgement = evaluate(criterion, Observed(observe()))
    assert judgement.status is Status.SUCCESS
    assert (len(calls), judgement.evidence) == (1, ("counted",))


def test_a_success_elsewhere_does_not_hide_a_failure_that_cannot_be_told(observe, picture):
    criterion = {
        "success": MARKER,
        "failure": [{"when": {"signal": {"name": "force", "min": 5}}, "reason": "pressed"}],
    }
    observation = observe({"top": picture((3, 320, 240, 60))})
    judgement = judge(criterion, observation)
    assert (judgement.status, judgement.kind) == (Status.FAILURE, Kind.INCONCLUSIVE)
    assert "'pressed'" in judgement.failure_reason
