# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Three-valued logic and the order of decisions, over every combination of values."""

import itertools

import pytest

from harness_ros.contract import EvaluationRequest, Kind, Status
from harness_ros.judges import Criterion, DeterministicJudge, Observed, evaluate

VALUES = (True, False, None)
SIGNAL_OF = {True: 1.0, False: 0.0, None: float("nan")}


def holds_when_one(name):
    return {"signal": {"name": name, "min": 0.5}}


def signals(**values):
    return {name: SIGNAL_OF[value] for name, value in values.items()}


def truth(node, observation):
    """What a node is, told by success, by its opposite, and by neither."""
    if evaluate(Criterion(success=node), Observed(observation)).status is Status.SUCCESS:
        return True
    if evaluate(Criterion(success={"not": node}), Observed(observation)).status is Status.SUCCESS:
        return False
    return None


def rank(value):
    return {False: 0, None: 1, True: 2}[value]


@pytest.mark.parametrize("values", list(itertools.product(VALUES, repeat=3)))
def test_all_is_the_least_and_any_the_greatest_of_its_nodes(observe, values):
    names = dict(zip("abc", values, strict=True))
    nodes = [holds_when_one(name) for name in names]
    observation = observe(signals=signals(**names))
    assert truth({"all": nodes}, observation) is min(values, key=rank)
    assert truth({"any": nodes}, observation) is max(values, key=rank)


@pytest.mark.parametrize(("value", "opposite"), [(True, False), (False, True), (None, None)])
def test_not_turns_true_and_false_and_leaves_unknown(observe, value, opposite):
    observation = observe(signals=signals(a=value))
    assert truth({"not": holds_when_one("a")}, observation) is opposite


FAILURE_BRANCHES = [(), *((value,) for value in VALUES), *itertools.product(VALUES, repeat=2)]
DECISIONS = list(itertools.product(VALUES, FAILURE_BRANCHES, (*VALUES, "no branch")))


def judged(observe, success, failures, process):
    names = {f"failure{number}": value for number, value in enumerate(failures)}
    written = {
        "success": holds_when_one("success"),
        "failure": [{"when": holds_when_one(name), "reason": f"{name}!"} for name in names],
        "otherwise": "not seen",
    }
    if process != "no branch":
        names["process"] = process
        written["process"] = {"when": holds_when_one("process"), "reason": "go on"}
    observation = observe(signals=signals(success=success, **names))
    return evaluate(Criterion.model_validate(written), Observed(observation))


@pytest.mark.parametrize(("success", "failures", "process"), DECISIONS)
def test_success_only_when_success_holds_and_no_failure_could(observe, success, failures, process):
    judgement = judged(observe, success, failures, process)
    earned = success is True and all(value is False for value in failures)
    assert (judgement.status is Status.SUCCESS) == earned
    if earned:
        assert judgement.failure_reason == ""


@pytest.mark.parametrize(("success", "failures", "process"), DECISIONS)
def test_a_failure_that_holds_wins_and_names_every_reason(observe, success, failures, process):
    judgement = judged(observe, success, failures, process)
    reasons = "; ".join(f"failure{n}!" for n, value in enumerate(failures) if value is True)
    if reasons:
        assert (judgement.status, judgement.kind) == (Status.FAILURE, Kind.JUDGED)
        assert judgement.failure_reason == reasons
    else:
        assert "!;" not in judgement.failure_reason


@pytest.mark.parametrize(("success", "failures", "process"), DECISIONS)
def test_process_only_when_it_holds_and_nothing_before_it_decided(
    observe, success, failures, process
):
    judgement = judged(observe, success, failures, process)
    succeeded = success is True and all(value is False for value in failures)
    expected = process is True and True not in failures and not succeeded
    assert (judgement.status is Status.PROCESS) == expected
    if expected:
        assert judgement.failure_reason == "go on"


@pytest.mark.parametrize(("success", "failures", "process"), DECISIONS)
def test_inconclusive_exactly_when_an_unknown_could_change_the_outcome(
    observe, success, failures, process
):
    judgement = judged(observe, success, failures, process)
    outcomes = set()
    for known in itertools.product((True, False), repeat=2 + len(failures)):
        guesses = iter(known)
        filled = [
            next(guesses) if value is None else value for value in (success, *failures, process)
        ]
        outcomes.add(judged(observe, filled[0], tuple(filled[1:-1]), filled[-1]).status)
    if judgement.kind is Kind.INCONCLUSIVE:
        assert judgement.status is Status.FAILURE
        assert len(outcomes) > 1
        assert "cannot tell whether" in judgement.failure_reason
        assert "nan" in judgement.failure_reason
    elif judgement.status is Status.FAILURE:
        assert True in failures or outcomes == {Status.FAILURE}


def test_reason_of_an_inconclusive_judgement_names_what_could_not_be_told(observe):
    success = judged(observe, None, (), False)
    assert success.failure_reason == (
        "cannot tell whether the success condition holds: success nan m, which is no measurement"
    )
    failure = judged(observe, True, (False, None), False)
    assert "'failure1!'" in failure.failure_reason
    assert "failure0" not in failure.failure_reason
    process = judged(observe, False, (), None)
    assert "'go on'" in process.failure_reason


@pytest.mark.parametrize(
    ("success", "failures", "process", "first"),
    [
        (True, (False, True), True, "failure1 1 m"),
        (True, (False,), True, "success 1 m"),
        (False, (False,), True, "process 1 m"),
        (False, (False,), None, "process nan m"),
        (False, (False,), False, "success 0 m"),
        (True, (False, None), False, "failure1 nan m"),
    ],
)
def test_evidence_has_each_check_once_and_begins_with_what_decided(
    observe, success, failures, process, first
):
    judgement = judged(observe, success, failures, process)
    assert judgement.evidence[0].startswith(first)
    assert len(judgement.evidence) == 2 + len(failures)
    assert len(set(judgement.evidence)) == len(judgement.evidence)


def test_without_any_branch_the_reason_is_otherwise(observe):
    judgement = judged(observe, False, (), "no branch")
    assert (judgement.status, judgement.kind) == (Status.FAILURE, Kind.JUDGED)
    assert judgement.failure_reason == "not seen"


def test_judgements_of_equal_requests_are_equal(observe, picture):
    criterion = Criterion.model_validate(
        {
            "success": {
                "any": [
                    {"marker": {"view": "top", "id": 3}},
                    {"marker": {"view": "top", "id": 4, "region": [0, 0, 0.5, 0.5]}},
                ]
            }
        }
    ).model_dump_json()
    answers = {
        DeterministicJudge()
        .judge(
            EvaluationRequest(
                post_condition="the block is in view",
                criterion=criterion,
                observation=observe({"top": picture((4, 200, 100, 60), (9, 500, 300, 60))}),
            )
        )
        .model_dump_json()
        for _ in range(3)
    }
    assert len(answers) == 1
