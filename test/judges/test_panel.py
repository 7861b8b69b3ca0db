# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Several judgements become one: never a success that the rule does not give."""

from collections import Counter
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_ros.contract import Judgement, Kind, Status, Usage
from harness_ros.judges.panel import combine
from harness_ros.judges.settings import Rule

RULES = get_args(Rule)
SUCCESS = Judgement(status=Status.SUCCESS, evidence=("it is there",))
FAILURE = Judgement(status=Status.FAILURE, failure_reason="it is not there")
PROCESS = Judgement(status=Status.PROCESS, failure_reason="not there yet")
UNSURE = Judgement(status=Status.FAILURE, failure_reason="too dark", kind=Kind.INCONCLUSIVE)
ERROR = Judgement(status=Status.FAILURE, error="no answer")
MALFORMED = Judgement(
    status=Status.FAILURE, error="prose instead of JSON", kind=Kind.JUDGE_PROTOCOL_VIOLATION
)
SUCCESS_WITH_REASON = SUCCESS.model_copy(update={"failure_reason": "it fell"})
ERRORS = (ERROR, MALFORMED, SUCCESS_WITH_REASON)

any_usage = st.builds(
    Usage,
    calls=st.integers(0, 9),
    input_tokens=st.integers(0, 10**6),
    output_tokens=st.integers(0, 10**6),
    cost=st.floats(0, 1e3),
)
a_judgement = st.builds(
    lambda judgement, usage: judgement.model_copy(update={"usage": usage}),
    st.sampled_from([SUCCESS, FAILURE, PROCESS, UNSURE, *ERRORS]),
    any_usage,
)
panels = st.lists(a_judgement, min_size=1, max_size=9)
rules = st.sampled_from(RULES)


def outcome(judgement):
    return (
        *(judgement.status, judgement.kind, bool(judgement.error)),
        *(judgement.confidence, judgement.usage),
    )


def says_success(judgement):
    return judgement.status is Status.SUCCESS and not judgement.error


@given(panels, rules, st.data())
def test_the_order_of_judgements_does_not_matter(judgements, rule, data):
    shuffled = data.draw(st.permutations(judgements))
    assert outcome(combine(judgements, rule)) == outcome(combine(shuffled, rule))


@given(panels, rules)
def test_success_comes_only_of_those_that_the_rule_asks_for(judgements, rule):
    successes = sum(says_success(each) and not each.failure_reason for each in judgements)
    wanted = len(judgements) // 2 + 1 if rule == "majority" else len(judgements)
    assert says_success(combine(judgements, rule)) == (successes >= wanted)


@given(panels, rules, st.sampled_from(ERRORS))
def test_one_that_could_not_judge_never_makes_a_success(judgements, rule, error):
    before, after = combine(judgements, rule), combine([*judgements, error], rule)
    assert says_success(before) or not says_success(after)


@given(panels, rules, st.data())
def test_a_judgement_lost_to_an_error_never_makes_a_success(judgements, rule, data):
    lost = data.draw(st.integers(0, len(judgements) - 1))
    error = data.draw(st.sampled_from(ERRORS))
    after = combine([*judgements[:lost], error, *judgements[lost + 1 :]], rule)
    assert says_success(combine(judgements, rule)) or not says_success(after)


@given(panels, rules)
def test_the_confidence_is_the_share_of_those_that_say_what_came_out(judgements, rule):
    combined = combine(judgements, rule)
    told = [each for each in judgements if not each.error and each.failure_reason != "it fell"]
    same = Counter((each.status, each.kind) for each in told)[combined.status, combined.kind]
    if combined.confidence is not None:
        assert combined.confidence == same / len(judgements)
    else:
        assert combined.error or combined.kind is Kind.INCONCLUSIVE


@given(panels, rules)
def test_what_is_combined_never_contradicts_itself(judgements, rule):
    combined = combine(judgements, rule)
    assert combined.status is Status.FAILURE or not combined.error
    assert combined.status is not Status.FAILURE or combined.failure_reason
    assert combined.status is not Status.SUCCESS or not combined.failure_reason


@given(panels, rules)
def test_each_one_is_heard_in_the_evidence_under_its_name(judgements, rule):
    names = [f"judge_{number}" for number in range(len(judgements))]
    combined = combine(judgements, rule, names)
    for name, judgement in zip(names, judgements, strict=True):
        own = [line for line in combined.evidence if line.startswith(f"{name}: ")]
        assert len(own) == 1 + len(judgement.evidence)
    told = [line for line in combined.evidence if line.startswith("disagreement: ")]
    assert len(combined.evidence) == len(told) + sum(1 + len(each.evidence) for each in judgements)


@pytest.mark.parametrize(
    ("rule", "judgements", "status", "kind"),
    [
        ("majority", [SUCCESS, SUCCESS, FAILURE], Status.SUCCESS, Kind.JUDGED),
        ("majority", [SUCCESS, FAILURE, FAILURE], Status.FAILURE, Kind.JUDGED),
        ("majority", [SUCCESS, FAILURE], Status.FAILURE, Kind.INCONCLUSIVE),
        ("majority", [SUCCESS, SUCCESS, ERROR, ERROR], Status.FAILURE, Kind.INCONCLUSIVE),
        ("majority", [PROCESS, PROCESS, SUCCESS], Status.PROCESS, Kind.JUDGED),
        ("majority", [UNSURE, UNSURE, SUCCESS], Status.FAILURE, Kind.INCONCLUSIVE),
        ("all", [SUCCESS, SUCCESS], Status.SUCCESS, Kind.JUDGED),
        ("all", [FAILURE, FAILURE], Status.FAILURE, Kind.JUDGED),
        ("all", [SUCCESS, SUCCESS, FAILURE], Status.FAILURE, Kind.INCONCLUSIVE),
        ("all", [SUCCESS, SUCCESS, ERROR], Status.FAILURE, Kind.INCONCLUSIVE),
        ("any_failure", [SUCCESS, SUCCESS, FAILURE], Status.FAILURE, Kind.JUDGED),
        ("any_failure", [SUCCESS, ERROR], Status.FAILURE, Kind.INCONCLUSIVE),
        ("any_failure", [SUCCESS, UNSURE], Status.FAILURE, Kind.INCONCLUSIVE),
        ("any_failure", [FAILURE, ERROR, ERROR], Status.FAILURE, Kind.JUDGED),
        ("any_failure", [SUCCESS, SUCCESS], Status.SUCCESS, Kind.JUDGED),
    ],
)
def test_each_rule_gives_what_is_written_of_it(rule, judgements, status, kind):
    combined = combine(judgements, rule)
    assert (combined.status, combined.kind, combined.error) == (status, kind, "")


@pytest.mark.parametrize("rule", RULES)
def test_where_nobody_could_judge_the_panel_could_not_either(rule):
    combined = combine([ERROR, MALFORMED], rule, ["a", "b"])
    assert combined.error == "a: no answer; b: prose instead of JSON"
    assert combined.kind is Kind.JUDGED, "one of them was not there at all"
    assert combine([MALFORMED] * 2, rule).kind is Kind.JUDGE_PROTOCOL_VIOLATION
    assert combine([], rule).error == "nobody was asked"


def test_the_evidence_says_who_disagrees():
    combined = combine([SUCCESS, FAILURE, ERROR], "majority", ["eye", "rule", "far"])
    assert combined.evidence == (
        "disagreement: of 3 judgements 1 success (eye), 1 failure (rule), 1 could not judge (far)",
        "eye: success",
        "eye: it is there",
        "rule: failure: it is not there",
        "far: could not judge: no answer",
    )
    assert combined.failure_reason == (
        "cannot tell by the rule 'majority': of 3 judgements "
        "1 success (eye), 1 failure (rule), 1 could not judge (far)"
    )
