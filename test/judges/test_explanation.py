# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A criterion laid out with what its checks found."""

import pytest

from harness_ros.contract import EvaluationRequest
from harness_ros.judges import (
    CheckParameters,
    Criterion,
    DeterministicJudge,
    Finding,
    Observed,
    check,
)
from harness_ros.judges.checks import LastObserved
from harness_ros.judges.explanation import Line, explain

WIDE = {"signal": {"name": "width", "min": 0.07}}
HOLDS = {"signal": {"name": "width", "min": 0.03, "max": 0.06}}
FORCE = {"signal": {"name": "force", "min": 2.0}}


@pytest.fixture
def explained(observe):
    def lines(criterion, **signals):
        return explain(Criterion.model_validate(criterion), Observed(observe(signals=signals)))

    return lines


def test_one_check_stands_below_its_condition(explained):
    assert explained({"success": HOLDS}, width=0.05).lines == (
        Line(0, True, "success if"),
        Line(1, True, "width 0.05 m, within [0.03, 0.06]", 1),
    )


def test_every_branch_is_a_tree_of_conditions_and_checks(explained):
    criterion = {
        "success": {"all": [HOLDS, {"any": [FORCE, {"not": WIDE}]}]},
        "failure": [{"when": WIDE, "reason": "it is open"}],
        "process": {"when": {"not": FORCE}, "reason": "more to squeeze"},
    }
    lines = explained(criterion, width=0.05, force=1.0).lines
    assert [(line.depth, line.holds, line.number) for line in lines] == [
        (0, True, None),
        (1, True, 1),
        (1, True, None),
        (2, False, 2),
        (2, True, None),
        (3, False, 3),
        (0, False, None),
        (1, False, 3),
        (0, True, None),
        (1, False, 2),
    ]
    assert [line.text for line in lines if line.number is None] == [
        "success if all of",
        "any of",
        "not",
        "failure (it is open) if",
        "process (more to squeeze) if not",
    ]


def test_a_check_that_is_written_twice_has_one_number(explained):
    found = explained({"success": {"all": [HOLDS, {"any": [HOLDS, FORCE]}]}}, width=0.05, force=3)
    assert [item.number for item in found.measured] == [1, 2]
    assert [line.number for line in found.lines] == [None, 1, None, 1, 2]


def test_what_a_check_cannot_tell_is_none_up_to_the_top(explained):
    lines = explained({"success": {"not": {"all": [HOLDS, FORCE]}}}, width=0.05).lines
    assert [line.holds for line in lines] == [None, None, True, None]
    assert "no signal 'force'" in lines[-1].text


def test_the_evidence_is_that_of_the_judge(explained, observe):
    criterion = {"success": {"all": [HOLDS, FORCE]}, "failure": [{"when": WIDE, "reason": "open"}]}
    observation = observe(signals={"width": 0.05, "force": 1.0})
    found = explain(Criterion.model_validate(criterion), Observed(observation))
    request = EvaluationRequest(
        post_condition="It is held.",
        criterion=Criterion.model_validate(criterion).model_dump_json(),
        observation=observation,
    )
    judged = DeterministicJudge().judge(request)
    assert {item.finding.evidence for item in found.measured} == set(judged.evidence)


def test_what_was_judged_is_not_measured_again_to_be_explained(observe):
    measured = []

    @check("counted", CheckParameters)
    def counted(parameters, observed):
        measured.append(observed.observation)
        return Finding(holds=True, evidence="it is there")

    criterion = Criterion.model_validate({"success": {"counted": {}}})
    last = LastObserved()
    judge = DeterministicJudge(last.of)
    for width in (0.05, 0.06):
        observation = observe(signals={"width": width})
        judge.judge(
            EvaluationRequest(
                post_condition="It is there.",
                criterion=criterion.model_dump_json(),
                observation=observation,
            )
        )
        found = explain(criterion, last.of(observation))
        assert [item.finding.holds for item in found.measured] == [True]
        assert measured[-1] is observation
    assert len(measured) == 2


def test_without_a_criterion_nothing_is_measured(observe):
    found = explain(None, Observed(observe(signals={"width": 0.05})))
    assert (found.measured, found.lines) == ((), ())
