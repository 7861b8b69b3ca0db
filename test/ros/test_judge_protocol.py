# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the evaluator tells a judge and makes of its answer; the judge is the test's own."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml
from conftest import CONFIG, Chain, Listener, spinning, until
from processes import Nodes
from rclpy.node import Node
from rclpy.serialization import serialize_message
from robot import Robot

from harness_ros import msg, srv
from harness_ros.contract import ExitCode, Kind, Status
from harness_ros.ros.client import HarnessClient
from harness_ros.ros.tool_server import BackendResult

JUDGE_TIMEOUT_S = 1.5
SUCCESS = {"status": 1, "evidence": ["seen"], "judge": "test"}
FAILURE = {"status": 2, "failure_reason": "it is not", "judge": "test"}


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    folder = tmp_path_factory.mktemp("judge_protocol")
    config = yaml.safe_load(CONFIG.read_text())
    config["judges"]["deterministic"]["timeout_s"] = JUDGE_TIMEOUT_S
    path = folder / "eval.yaml"
    path.write_text(yaml.safe_dump(config))
    made = Nodes(folder, path)
    yield made
    made.stop_all()


class OwnJudge:
    """Serves `_evaluate/deterministic` with the answer that the test gives."""

    def __init__(self, node: Node) -> None:
        self.answer: Callable[[], dict[str, Any]] = lambda: SUCCESS
        self.asked: list[Any] = []
        self.answered = 0
        node.create_service(srv.Evaluate, "_evaluate/deterministic", self._on_evaluate)

    def _on_evaluate(self, request: Any, response: Any) -> Any:
        self.asked.append(request)
        for name, value in self.answer().items():
            setattr(response, name, value)
        self.answered += 1
        return response


@pytest.fixture(scope="module")
def own_judge() -> Iterator[OwnJudge]:
    with spinning("_judge_of_the_test") as node:
        yield OwnJudge(node)


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    with spinning("listener") as node:
        yield Listener(node)


@pytest.fixture(scope="module")
def started(nodes: Nodes, robot: Robot, harness: HarnessClient, own_judge: OwnJudge) -> Chain:
    for executable in ("evaluator", "tool_gateway"):
        nodes.start(executable)
    chain = Chain(nodes, robot, harness)
    outcome = chain.call()
    assert outcome.succeeded, (outcome, chain.logs())
    return chain


@pytest.fixture
def chain(started: Chain) -> Chain:
    """Only evaluator and gateway: the judge is `judge`."""
    started.robot.reset()
    return started


@pytest.fixture
def judge(own_judge: OwnJudge) -> OwnJudge:
    own_judge.answer = lambda: SUCCESS
    return own_judge


def the_verdict(listener: Listener, run_id: str) -> msg.Verdict:
    """The only verdict of a run."""
    assert until(lambda: listener.verdicts_of(run_id))
    (verdict,) = listener.verdicts_of(run_id)
    return verdict


def test_answer_of_the_judge_is_the_verdict(
    chain: Chain, judge: OwnJudge, listener: Listener
) -> None:
    outcome = chain.call()
    assert outcome.exit_code is ExitCode.SUCCESS
    assert outcome.verdict.evidence == ("seen",)
    judge.answer = lambda: FAILURE
    outcome = chain.call()
    assert outcome.exit_code is ExitCode.FAILURE
    assert outcome.verdict.failure_reason == "it is not"
    assert the_verdict(listener, outcome.run_ids[0]).kind == Kind.JUDGED.value
    judge.answer = lambda: {**FAILURE, "kind": "inconclusive"}
    outcome = chain.call()
    assert outcome.exit_code is ExitCode.UNJUDGED
    assert outcome.verdict.kind is Kind.INCONCLUSIVE


@pytest.mark.parametrize(
    ("tool", "answer", "words"),
    [
        ("pick", {"status": 7}, "7"),
        ("pick", {"status": 1, "failure_reason": "it fell"}, "with a failure reason: it fell"),
        ("pick", {"status": 1, "kind": "inconclusive"}, "success and inconclusive at once"),
        ("pick", {"status": 2}, "without a reason"),
        ("pick", {"status": 0, "failure_reason": "not yet"}, "the tool has no segments"),
        ("push", {"status": 0, "kind": "inconclusive"}, "process and inconclusive at once"),
        ("pick", {"status": 1, "kind": "banana"}, "banana"),
        ("pick", {"status": 2, "failure_reason": "stopped", "kind": "cancelled"}, "not for judges"),
        ("pick", {"status": 1, "kind": "judge_unavailable"}, "not for judges to say"),
    ],
)
def test_answer_that_contradicts_itself_is_a_violation(
    chain: Chain,
    judge: OwnJudge,
    listener: Listener,
    tool: str,
    answer: dict[str, Any],
    words: str,
) -> None:
    judge.answer = lambda: {**answer, "judge": "test"}
    outcome = chain.call(tool)
    assert outcome.exit_code is ExitCode.UNJUDGED
    assert outcome.segments == 1
    verdict = the_verdict(listener, outcome.run_ids[0])
    assert verdict.status == Status.FAILURE
    assert verdict.kind == Kind.JUDGE_PROTOCOL_VIOLATION.value
    assert words in verdict.failure_reason
    assert "judge 'test'" in verdict.failure_reason


@pytest.mark.parametrize("answer", [SUCCESS, FAILURE])
def test_judge_that_says_that_it_cannot_is_unavailable(
    chain: Chain, judge: OwnJudge, listener: Listener, answer: dict[str, Any]
) -> None:
    judge.answer = lambda: {**answer, "error": "no model is loaded"}
    outcome = chain.call()
    assert outcome.exit_code is ExitCode.UNJUDGED
    verdict = the_verdict(listener, outcome.run_ids[0])
    assert (verdict.status, verdict.kind) == (Status.FAILURE, Kind.JUDGE_UNAVAILABLE.value)
    assert verdict.failure_reason == "no model is loaded"


def test_answer_that_comes_too_late_changes_nothing(
    chain: Chain, judge: OwnJudge, listener: Listener
) -> None:
    release = threading.Event()

    def slow() -> dict[str, Any]:
        assert release.wait(20.0)
        return SUCCESS

    judge.answer = slow
    outcome = chain.call()
    assert outcome.exit_code is ExitCode.UNJUDGED
    assert outcome.verdict.kind is Kind.JUDGE_UNAVAILABLE
    assert "_evaluate/deterministic) did not answer" in outcome.verdict.failure_reason
    answered = judge.answered
    release.set()
    assert until(lambda: judge.answered > answered)
    judge.answer = lambda: FAILURE
    # Its answer comes after the late one, on the same way.
    assert chain.call().exit_code is ExitCode.FAILURE
    verdict = the_verdict(listener, outcome.run_ids[0])
    assert verdict.kind == Kind.JUDGE_UNAVAILABLE.value
    assert chain.harness.get_verdict(outcome.run_ids[0]) == outcome.verdict


def test_two_judges_of_one_name_give_one_verdict(
    chain: Chain, judge: OwnJudge, listener: Listener
) -> None:
    with spinning("_second_judge") as node:
        second = OwnJudge(node)
        second.answer = lambda: FAILURE
        run_ids = []
        for _ in range(20):
            outcome = chain.call()
            assert outcome.exit_code in (ExitCode.SUCCESS, ExitCode.FAILURE)
            run_ids += outcome.run_ids
            if len(second.asked) >= 2:
                break
        assert len(second.asked) >= 2
    assert chain.call().succeeded
    for run_id in run_ids:
        verdict = the_verdict(listener, run_id)
        assert chain.harness.get_verdict(run_id).status == verdict.status


def test_judge_is_told_the_post_condition_and_what_was_seen_and_no_more(
    chain: Chain, judge: OwnJudge
) -> None:
    secrets = {
        "backend_message": "BACKEND-MESSAGE",
        "stage": "BACKEND-STAGE",
        "argument": "UNDECLARED-ARGUMENT",
    }

    def pick(_: Any, run: Any) -> BackendResult:
        run.feedback(secrets["stage"], 0.5)
        return BackendResult(success=True, message=secrets["backend_message"])

    chain.robot.behaviour["pick"] = pick
    judge.asked.clear()
    arguments = {"target": "blue_block", "note": secrets["argument"]}
    stages = []
    outcome = chain.harness.run_tool(
        "pick", arguments, on_progress=lambda _, stage, __: stages.append(stage)
    )
    assert outcome.backend_message == secrets["backend_message"]
    assert outcome.verdict.arguments == arguments
    assert until(lambda: secrets["stage"] in stages, 2.0)
    (request,) = judge.asked
    data = serialize_message(request)
    for what, secret in (*secrets.items(), ("call_id", outcome.verdict.call_id)):
        assert secret.encode() not in data, what
    assert request.post_condition == "The gripper holds blue_block."
    assert request.post_condition.encode() in data
    assert json.loads(request.criterion)["success"]["all"][0]["marker"]["id"] == 2
    seen = request.observation
    assert seen.run_id == outcome.run_ids[0]
    assert [view.name for view in seen.views] == ["front", "top"]
    assert bytes(seen.views[0].data) == chain.robot.views["front"].tobytes()
    assert [(signal.name, signal.value) for signal in seen.signals] == [("gripper_width", 0.05)]


def test_request_has_no_place_for_anything_else() -> None:
    assert set(srv.Evaluate.Request.get_fields_and_field_types()) == {
        "post_condition",
        "criterion",
        "observation",
        "outcome_regions",
    }
    assert set(msg.Observation.get_fields_and_field_types()) == {
        "run_id",
        "captured_at",
        "views",
        "signals",
        "has_clearance",
        "clearance_front",
        "clearance_left",
        "clearance_right",
        "clearance_rear",
        "summary",
        "provenance",
    }
