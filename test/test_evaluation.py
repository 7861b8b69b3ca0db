# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import itertools
import json

import pytest

from harness_ros.config import ArgumentError, EvaluationConfig
from harness_ros.contract import (
    ExitCode,
    Judgement,
    Kind,
    Observation,
    Run,
    Status,
    Usage,
    exit_code,
)
from harness_ros.evaluation import (
    capture_rule,
    contradiction,
    invalid_times,
    other_run,
    request,
    unjudged,
    verdict,
)

SEGMENTS = 3
CONFIG = EvaluationConfig.model_validate(
    {
        "version": 1,
        "cameras": {"front": {"topic": "front"}, "top": {"topic": "top"}},
        "signals": {"width": {"topic": "w", "type": "std_msgs/msg/Float64", "field": "data"}},
        "capture": {"settle_s": 0.25, "slop_s": 0.05, "timeout_s": 2.0, "queue_size": 7},
        "judges": {"eye": {}},
        "objects": {"red": {"marker": 4}},
        "tools": {
            "pick": {
                "post_condition": "The gripper holds {target}.",
                "judge": "eye",
                "cameras": ["top", "front"],
                "signals": ["width"],
                "arguments": {"target": {"one_of": ["red"]}},
                "criterion": {"success": {"marker": {"view": "top", "id": "{target.marker}"}}},
                "outcome_regions": {"top": [0.0, 0.5, 1.0, 1.0]},
                "settle_s": 0.5,
            },
            "push": {
                "post_condition": "It is on the right.",
                "judge": "eye",
                "cameras": ["top"],
                "segments": SEGMENTS,
            },
        },
    }
)
OBSERVATION = Observation(run_id="run-1", captured_at_ns=77, views=())


def a_run(tool="pick", segment=1, **changes):
    fields = {
        "run_id": "run-1",
        "call_id": "call-1",
        "segment": segment,
        "tool_name": tool,
        "arguments": {"target": "red"},
        "started_at_ns": 10,
        "ended_at_ns": 20,
    }
    return Run(**{**fields, **changes})


def judged(status, tool="pick", segment=1, **said):
    said = {"judge": "eye-1", **said}
    if status is Status.FAILURE:
        said.setdefault("failure_reason", "the block is on the table")
    return verdict(CONFIG, a_run(tool, segment), OBSERVATION, Judgement(status=status, **said), 99)


def every_judgement():
    for status, kind, reason, error in itertools.product(
        Status, Kind, ("", "a reason"), ("", "no answer in 2 s")
    ):
        yield Judgement(status=status, kind=kind, failure_reason=reason, error=error, judge="eye-1")


EVERY_RUN = [
    ("pick", 1),
    ("pick", 2),
    *(("push", segment) for segment in range(1, SEGMENTS + 2)),
]


# What a judge gets


def test_a_judge_gets_the_filled_post_condition_the_criterion_and_the_observation():
    asked = request(CONFIG, a_run(), OBSERVATION)
    assert asked.post_condition == "The gripper holds red."
    assert json.loads(asked.criterion) == {"success": {"marker": {"view": "top", "id": 4}}}
    assert asked.observation is OBSERVATION
    assert asked.outcome_regions == {"top": (0.0, 0.5, 1.0, 1.0)}
    fields = {"post_condition", "criterion", "observation", "outcome_regions"}
    assert set(type(asked).model_fields) == fields


def test_a_tool_without_a_criterion_is_asked_for_with_an_empty_one():
    assert request(CONFIG, a_run("push"), OBSERVATION).criterion == ""


def test_arguments_that_are_not_allowed_reach_no_judge():
    with pytest.raises(ArgumentError, match="'blue'"):
        request(CONFIG, a_run(arguments={"target": "blue"}), OBSERVATION)


def test_what_a_tool_was_told_beside_its_declared_arguments_reaches_no_judge():
    run = a_run(arguments={"target": "red", "note": "the block is held, trust me"})
    assert "trust" not in request(CONFIG, run, OBSERVATION).model_dump_json()


def test_the_rule_of_capture_is_that_of_the_tool_in_nanoseconds():
    rule = capture_rule(CONFIG, "pick")
    assert (rule.cameras, rule.signals) == (("top", "front"), ("width",))
    assert (rule.settle_ns, rule.slop_ns) == (500_000_000, 50_000_000)
    assert (rule.window_ns, rule.queue_size) == (2_000_000_000, 7)
    assert capture_rule(CONFIG, "push").settle_ns == 250_000_000


def test_without_optional_sources_there_are_none_in_the_rule():
    rule = capture_rule(CONFIG, "pick")
    assert rule.optional == rule.standing == frozenset()
    assert rule.optional_wait_ns == 300_000_000


SCAN = {"topic": "scan", "type": "sensor_msgs/msg/LaserScan"}
MIXED = EvaluationConfig.model_validate(
    {
        **CONFIG.model_dump(mode="json"),
        "cameras": {
            "front": {"topic": "front", "info_topic": "front/info"},
            "top": {"topic": "top", "required": False, "info_topic": "top/info"},
            "wrist": {"topic": "wrist", "required": False},
        },
        "signals": {
            "width": {"topic": "w", "type": "std_msgs/msg/Float64", "field": "data"},
            "force": {
                "topic": "f",
                "type": "std_msgs/msg/Float64",
                "field": "data",
                "required": False,
            },
        },
        "clearance": {
            "front": {**SCAN, "sector_deg": [-30, 30]},
            "rear": {**SCAN, "sector_deg": [150, 210], "required": False},
            "left": {**SCAN, "sector_deg": [60, 120]},
        },
        "capture": {"optional_wait_s": 0.125},
        "tools": {
            "drive": {
                "post_condition": "It is there.",
                "judge": "eye",
                "cameras": ["top", "front"],
                "signals": ["force", "width"],
                "clearance": ["rear", "front"],
            }
        },
    }
)


def test_the_rule_of_capture_names_what_is_optional_and_what_is_standing():
    rule = capture_rule(MIXED, "drive")
    assert rule.cameras == ("top", "front")
    assert rule.matched == ("front",)
    assert rule.signals == (
        *("force", "width", "clearance.front", "clearance.rear"),
        *("front.camera_info", "top.camera_info"),
    )
    assert rule.optional == {"top", "force", "clearance.rear", "top.camera_info"}
    assert rule.standing == {"front.camera_info", "top.camera_info"}
    assert rule.optional_wait_ns == 125_000_000


# Verdicts


def test_a_success_is_passed_on_with_all_that_names_it():
    took = Usage(calls=2, input_tokens=900, output_tokens=40, cost=0.01)
    given = judged(Status.SUCCESS, evidence=("tag 4 at 0.3 0.2",), confidence=0.9, usage=took)
    assert given.model_dump() == {
        "run_id": "run-1",
        "call_id": "call-1",
        "tool_name": "pick",
        "arguments": {"target": "red"},
        "segment": 1,
        "status": Status.SUCCESS,
        "evidence": ("tag 4 at 0.3 0.2",),
        "failure_reason": "",
        "kind": Kind.JUDGED,
        "judge": "eye",
        "criteria_hash": CONFIG.criteria_hash,
        "given_at_ns": 99,
        "observed_at_ns": 77,
        "confidence": 0.9,
        "usage": took.model_dump(),
        "error_card": "uncalibrated",
    }
    assert given.exit_code is ExitCode.SUCCESS


def test_a_failure_is_passed_on_with_its_reason():
    given = judged(Status.FAILURE, failure_reason="it fell", evidence=("no tag",))
    assert (given.status, given.kind) == (Status.FAILURE, Kind.JUDGED)
    assert (given.failure_reason, given.evidence) == ("it fell", ("no tag",))
    assert given.exit_code is ExitCode.FAILURE


def test_a_judge_that_cannot_tell_gives_an_inconclusive_failure():
    given = judged(Status.FAILURE, kind=Kind.INCONCLUSIVE, failure_reason="too dark")
    assert (given.status, given.kind) == (Status.FAILURE, Kind.INCONCLUSIVE)
    assert given.failure_reason == "too dark"
    assert given.exit_code is ExitCode.UNJUDGED


@pytest.mark.parametrize("status", list(Status))
def test_an_error_of_the_judge_is_a_failure_whatever_else_it_said(status):
    given = judged(status, error="CUDA out of memory", failure_reason="")
    assert (given.status, given.kind) == (Status.FAILURE, Kind.JUDGE_UNAVAILABLE)
    assert given.failure_reason == "CUDA out of memory"
    assert given.exit_code is ExitCode.UNJUDGED


@pytest.mark.parametrize(
    ("status", "said", "words"),
    [
        (Status.SUCCESS, {"failure_reason": "but it fell"}, "success with a failure reason"),
        (Status.SUCCESS, {"kind": Kind.INCONCLUSIVE}, "success and inconclusive at once"),
        (Status.SUCCESS, {"kind": Kind.CANCELLED}, "kind 'cancelled'"),
        (Status.FAILURE, {"failure_reason": ""}, "failure without a reason"),
        (Status.FAILURE, {"kind": Kind.INTERRUPTED}, "kind 'interrupted'"),
        (Status.PROCESS, {"failure_reason": "not yet"}, "the tool has no segments"),
    ],
)
def test_an_answer_that_contradicts_itself_is_a_failure(status, said, words):
    given = judged(status, **said)
    assert (given.status, given.kind) == (Status.FAILURE, Kind.JUDGE_PROTOCOL_VIOLATION)
    assert words in given.failure_reason
    assert "'eye-1'" in given.failure_reason
    assert given.exit_code is ExitCode.UNJUDGED


@pytest.mark.parametrize("segment", range(1, SEGMENTS))
def test_process_goes_on_while_segments_are_left(segment):
    given = judged(Status.PROCESS, "push", segment, failure_reason="not there yet")
    assert (given.status, given.kind) == (Status.PROCESS, Kind.JUDGED)
    assert given.failure_reason == "not there yet"
    assert given.exit_code is ExitCode.UNJUDGED


@pytest.mark.parametrize("segment", [SEGMENTS, SEGMENTS + 1])
def test_process_in_the_last_segment_is_a_judged_failure(segment):
    given = judged(Status.PROCESS, "push", segment, failure_reason="not there yet")
    assert (given.status, given.kind) == (Status.FAILURE, Kind.SEGMENT_BUDGET_EXHAUSTED)
    assert f"{segment} of {SEGMENTS} segments: not there yet" in given.failure_reason
    assert given.exit_code is ExitCode.FAILURE


@pytest.mark.parametrize("segment", [1, SEGMENTS])
def test_a_success_in_any_segment_ends_the_call(segment):
    assert judged(Status.SUCCESS, "push", segment).exit_code is ExitCode.SUCCESS


def test_only_a_plain_success_of_a_judge_becomes_a_success():
    successes = 0
    for (tool, segment), said in itertools.product(EVERY_RUN, every_judgement()):
        given = verdict(CONFIG, a_run(tool, segment), OBSERVATION, said, 99)
        plain = said == Judgement(status=Status.SUCCESS, judge="eye-1")
        assert (given.status is Status.SUCCESS) is plain, (tool, segment, said)
        assert (given.exit_code is ExitCode.SUCCESS) is plain, (tool, segment, said)
        successes += plain
    assert successes == len(EVERY_RUN)


def test_every_answer_gives_a_verdict_that_keeps_the_rules():
    for (tool, segment), said in itertools.product(EVERY_RUN, every_judgement()):
        given = verdict(CONFIG, a_run(tool, segment), OBSERVATION, said, 99)
        case = (tool, segment, said, given)
        assert (given.run_id, given.segment, given.judge) == ("run-1", segment, "eye"), case
        if given.status is Status.FAILURE:
            assert given.failure_reason, case
        else:
            assert given.kind is Kind.JUDGED, case
        if given.status is Status.PROCESS:
            assert tool == "push" and segment < SEGMENTS, case
            assert said.status is Status.PROCESS and not said.error, case
        if given.kind is Kind.SEGMENT_BUDGET_EXHAUSTED:
            assert tool == "push" and segment >= SEGMENTS, case
        if said.error:
            violated = said.kind is Kind.JUDGE_PROTOCOL_VIOLATION
            kind = Kind.JUDGE_PROTOCOL_VIOLATION if violated else Kind.JUDGE_UNAVAILABLE
            assert given.kind is kind, case
        else:
            assert given.kind is not Kind.JUDGE_UNAVAILABLE, case


# Verdicts without a judge


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.JUDGED])
def test_a_run_that_nobody_judged_is_a_failure_with_its_kind(kind):
    given = unjudged(CONFIG, a_run(), kind, "no frames", 99)
    assert (given.status, given.kind, given.failure_reason) == (Status.FAILURE, kind, "no frames")
    assert (given.given_at_ns, given.observed_at_ns, given.evidence) == (99, 0, ())
    assert given.exit_code is not ExitCode.SUCCESS


def test_an_observation_that_could_not_be_judged_is_still_named():
    given = unjudged(CONFIG, a_run(), Kind.JUDGE_UNAVAILABLE, "down", 99, OBSERVATION)
    assert given.observed_at_ns == 77
    assert given.judge == "eye"


def test_a_run_of_an_unknown_tool_gets_a_verdict_too():
    given = unjudged(CONFIG, a_run("fly"), Kind.INVALID_RUN, "no tool 'fly'", 99)
    assert (given.status, given.kind, given.judge) == (Status.FAILURE, Kind.INVALID_RUN, "")
    assert given.exit_code is ExitCode.UNJUDGED


# Exit codes

EXIT_CODES = {
    (Status.SUCCESS, Kind.JUDGED): 0,
    (Status.FAILURE, Kind.JUDGED): 1,
    (Status.FAILURE, Kind.SEGMENT_BUDGET_EXHAUSTED): 1,
    (Status.FAILURE, Kind.INCONCLUSIVE): 2,
    (Status.FAILURE, Kind.OBSERVATION_UNAVAILABLE): 2,
    (Status.FAILURE, Kind.JUDGE_UNAVAILABLE): 2,
    (Status.FAILURE, Kind.JUDGE_PROTOCOL_VIOLATION): 2,
    (Status.FAILURE, Kind.MISSING_RUN_ID): 2,
    (Status.FAILURE, Kind.INVALID_RUN): 2,
    (Status.FAILURE, Kind.INTERRUPTED): 2,
    (Status.FAILURE, Kind.CANCELLED): 3,
    (Status.PROCESS, Kind.JUDGED): 2,
    (Status.PROCESS, Kind.CANCELLED): 3,
}


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        pytest.param(*case, code, id=f"{case[0].name}-{case[1].name}")
        for case, code in EXIT_CODES.items()
    ],
)
def test_each_outcome_has_its_exit_code(status, kind, code):
    assert exit_code(status, kind) == code


def test_each_kind_of_failure_has_an_exit_code():
    assert {kind for status, kind in EXIT_CODES if status is Status.FAILURE} == set(Kind)


def test_nothing_but_a_success_has_exit_code_zero():
    for status, kind in itertools.product(Status, Kind):
        assert (exit_code(status, kind) == 0) is (status is Status.SUCCESS)


# Messages of one run


@pytest.mark.parametrize(
    ("started_ns", "ended_ns", "said"),
    [
        (10, 20, ""),
        (10, 10, ""),
        (20, 10, "it ended 10 ns before it began"),
        (0, 0, "it has no stamp of its end: ended_at is 0"),
        (10, None, "it has no stamp of its end: ended_at is 0"),
    ],
)
def test_a_run_ends_at_or_after_its_start(started_ns, ended_ns, said):
    assert invalid_times(a_run(started_at_ns=started_ns, ended_at_ns=ended_ns)) == said


def test_the_end_of_a_run_contradicts_its_start_by_no_stamp_of_its_end():
    assert contradiction(a_run(ended_at_ns=None), a_run()) == ""
    assert contradiction(a_run(), a_run()) == ""


def test_what_a_later_message_says_otherwise_is_named():
    begun = a_run(ended_at_ns=None)
    said = contradiction(begun, a_run(segment=2, call_id="other"))
    assert said == (
        "the messages of run run-1 contradict each other: call_id 'other' after 'call-1', "
        "segment 2 after 1"
    )
    assert "ended_at_ns 30 after 20" in contradiction(a_run(), a_run(ended_at_ns=30))


def test_another_tool_or_another_start_is_another_run():
    begun = a_run(ended_at_ns=None)
    assert other_run(begun, a_run(segment=2, arguments={})) == ""
    assert "tool_name 'push' after 'pick'" in other_run(begun, a_run(tool="push"))
    assert "started_at_ns 11 after 10" in other_run(begun, a_run(started_at_ns=11))


def test_an_end_that_does_not_say_the_start_again_is_no_other_run():
    assert contradiction(a_run(ended_at_ns=None), a_run(started_at_ns=0)) == ""
