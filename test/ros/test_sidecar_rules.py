# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Learned rules through the services: an agent replays cases by its action, the sidecar decides."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import CONFIG, spinning
from events import until
from rclpy.node import Node
from rclpy.task import Future
from sidecar_node import SOME_S, response_of, sidecar

from harness_ros import action, msg, srv
from harness_ros.ros.goal_server import GoalServer
from harness_ros.ros.qos import REQUESTS

BREACH = "breach:tool_correctness"
SERVICES = {
    "submit_rule": srv.SubmitRule,
    "report_session": srv.ReportSession,
    "validate_rule": srv.ValidateRule,
    "list_rules": srv.ListRules,
    "verify_turn": srv.VerifyTurn,
}
Replay = Callable[[Any], Any]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """An eval.yaml with a sidecar."""
    written = yaml.safe_load(CONFIG.read_text())
    written["sidecar"] = {"verifier": "harness_ros.sidecar.verifiers:json_assertions"}
    path = tmp_path / "eval.yaml"
    path.write_text(yaml.safe_dump(written))
    return path


class Author:
    """A text agent that learns rules: calls the services."""

    def __init__(self, node: Node) -> None:
        self._clients = {
            name: node.create_client(service, f"sidecar/{name}", qos_profile=REQUESTS)
            for name, service in SERVICES.items()
        }

    def ask(self, name: str, **fields: Any) -> Future:
        client = self._clients[name]
        assert client.wait_for_service(SOME_S), name
        return client.call_async(SERVICES[name].Request(**fields))

    def call(self, name: str, **fields: Any) -> Any:
        return response_of(self.ask(name, **fields))

    def submit(self, text: str = "Look before you grasp.", **fields: Any) -> Any:
        given = {"metric": "tool_correctness", "signatures": [BREACH], "author": "tests", **fields}
        return self.call("submit_rule", text=text, **given)

    def failed(self, session_id: str, score: float = 0.2) -> Any:
        return self.call(
            "report_session",
            session_id=session_id,
            signatures=[BREACH],
            scores=scores(tool_correctness=score),
        )

    def won(self, session_id: str, score: float = 1.0) -> Any:
        return self.call(
            "report_session",
            session_id=session_id,
            scores=scores(tool_correctness=score),
            always_replayed=True,
        )


def scores(**by_metric: float) -> list[msg.MetricScore]:
    return [msg.MetricScore(metric=name, score=score) for name, score in by_metric.items()]


def replayed(score: float, **fields: Any) -> Any:
    given = {"started": True, "exercised": True, **fields}
    return action.ReplayCase.Result(scores=scores(tool_correctness=score), **given)


@pytest.fixture
def author() -> Iterator[Author]:
    with spinning("author") as node:
        yield Author(node)


@contextmanager
def agent(replay: Replay, end: str = "succeed") -> Iterator[list[Any]]:
    """Serves the action as an agent would; gives the goals that it was sent."""
    goals: list[Any] = []
    results: list[Any] = []

    def work(goal: Any) -> Any:
        goals.append(goal.request)
        return replay(goal.request)

    def ended(goal: Any, result: Any) -> Any:
        getattr(goal, end)()
        results.append(result)
        return result

    with spinning("agent") as node:
        server = GoalServer(node, action.ReplayCase, "sidecar/replay_case", work, ended)
        yield goals
        assert until(lambda: len(results) == len(goals), SOME_S), "a replay goes on"
        server.destroy()


def test_a_rule_is_a_candidate_and_the_same_rule_again_is_known(
    config: Path, author: Author
) -> None:
    with sidecar(config):
        first, again, other = author.submit(), author.submit(), author.submit("Ask first.")
        listed = author.call("list_rules").rules
    assert (first.accepted, first.state, first.known) == (True, "candidate", False)
    assert (again.accepted, again.rule_id, again.known) == (True, first.rule_id, True)
    assert [rule.rule_id for rule in listed] == [first.rule_id, other.rule_id]
    assert listed[0].text == "Look before you grasp."
    assert listed[0].signatures == [BREACH]
    assert listed[0].submitted_at.sec > 1_700_000_000


def test_what_cannot_be_a_rule_or_a_session_is_refused_with_the_reason(
    config: Path, author: Author
) -> None:
    twice = [*scores(a=1.0), *scores(a=0.0)]
    with sidecar(config):
        assert "text is empty" in author.submit(" ").reason
        for reason, fields in (
            ("session_id is empty", {"session_id": ""}),
            ("metric 'a' is there twice", {"session_id": "s", "scores": twice}),
            ("'a' is nan", {"session_id": "s", "scores": scores(a=float("nan"))}),
            ("a score without metric", {"session_id": "s", "scores": [msg.MetricScore()]}),
            ("protected", {"session_id": "s", "always_replayed": True, "signatures": [BREACH]}),
        ):
            response = author.call("report_session", **fields)
            assert not response.accepted
            assert reason in response.reason
        unknown = author.call("list_rules", state="beloved")
        assert not unknown.found
        assert "['candidate', 'active', 'retired']" in unknown.reason
        assert author.call("list_rules").rules == []


def test_a_session_is_kept_once(config: Path, author: Author) -> None:
    with sidecar(config):
        assert not author.failed("s").known
        assert author.failed("s").known
        assert not author.failed("s", score=0.5).accepted


def test_a_rule_that_improves_its_failure_and_spoils_no_win_is_promoted(
    config: Path, author: Author
) -> None:
    with sidecar(config, replay_s=20.0, environment_s=10.0):
        author.failed("f")
        author.won("w")
        rule_id = author.submit().rule_id
        with agent(lambda goal: replayed(1.0)) as goals:
            response = author.call("validate_rule", rule_id=rule_id)
        active = author.call("list_rules", state="active").rules
    assert (response.validated, response.outcome, response.state) == (True, "promote", "active")
    assert response.pending_reason == ""
    assert json.loads(response.evidence)["trial"] == "replay"
    assert {(goal.case_id, goal.kind) for goal in goals} == {("f", "failure"), ("w", "win")}
    assert {goal.rule_text for goal in goals} == {"Look before you grasp."}
    assert all(goal.replay_timeout_s == 20.0 for goal in goals)
    assert all(0.0 < goal.environment_timeout_s <= 10.0 for goal in goals)
    assert [rule.rule_id for rule in active] == [rule_id]
    assert active[0].validator == "sidecar"


def test_a_rule_that_spoils_a_win_is_retired(config: Path, author: Author) -> None:
    with sidecar(config):
        author.failed("f")
        author.won("w")
        author.submit()
        with agent(lambda goal: replayed(1.0 if goal.kind == "failure" else 0.5)):
            response = author.call("validate_rule")
    assert (response.outcome, response.state) == ("retire", "retired")


@pytest.mark.parametrize(
    ("replay", "end", "pending", "said"),
    [
        (lambda _: replayed(1.0, exercised=False), "succeed", "not_exercised", ""),
        (
            lambda _: replayed(1.0, started=False, reason="no sim"),
            "succeed",
            "not_started",
            "no sim",
        ),
        (lambda _: replayed(float("nan")), "succeed", "no_verdict", "finite number"),
        (lambda _: replayed(1.0, reason="crashed"), "abort", "no_verdict", "aborted: crashed"),
    ],
    ids=["rule not read", "never started", "no number", "aborted"],
)
def test_a_replay_that_is_no_evidence_leaves_the_rule_pending(
    config: Path, author: Author, replay: Replay, end: str, pending: str, said: str
) -> None:
    with sidecar(config):
        author.failed("f")
        author.submit()
        with agent(replay, end):
            response = author.call("validate_rule")
    assert (response.validated, response.outcome, response.state) == (True, "pending", "candidate")
    assert response.pending_reason == pending, response
    assert said in response.reason


def test_with_no_agent_to_replay_the_rule_stays_a_candidate(config: Path, author: Author) -> None:
    with sidecar(config, environment_s=0.3, replay_s=0.3):
        author.failed("f")
        author.submit()
        response = author.call("validate_rule")
    assert (response.outcome, response.pending_reason) == ("pending", "not_started")
    assert "no action server /harness/sidecar/replay_case within 0.3 s" in response.reason


def test_a_replay_that_does_not_end_is_cancelled_and_no_evidence(
    config: Path, author: Author
) -> None:
    released = threading.Event()

    def never(_: Any) -> Any:
        released.wait(SOME_S)
        return replayed(1.0)

    with sidecar(config, environment_s=5.0, replay_s=0.5):
        author.failed("f")
        author.submit()
        with agent(never):
            response = author.call("validate_rule")
            released.set()
    # Whether the agent had read the rule by then, nobody can say.
    assert (response.outcome, response.pending_reason) == ("pending", "not_exercised")
    assert "no result in time" in response.reason


def test_a_round_under_way_holds_up_no_other_service_and_no_second_one_begins(
    config: Path, author: Author
) -> None:
    released = threading.Event()

    def slow(_: Any) -> Any:
        released.wait(SOME_S)
        return replayed(1.0)

    with sidecar(config):
        author.failed("f")
        rule_id = author.submit().rule_id
        with agent(slow) as goals:
            validating = author.ask("validate_rule", rule_id=rule_id)
            assert until(lambda: goals, SOME_S)
            second = author.call("validate_rule")
            assert not second.validated
            assert "a round is under way" in second.reason
            assert author.failed("g").accepted
            assert not author.call("verify_turn", session_id="s", end_state="{}").has_score
            assert not validating.done()
            released.set()
            assert response_of(validating).outcome == "promote"


def test_a_round_needs_a_candidate(config: Path, author: Author) -> None:
    with sidecar(config):
        none, unknown = author.call("validate_rule"), author.call("validate_rule", rule_id="x")
    assert (none.validated, unknown.validated) == (False, False)
    assert "no candidate" in none.reason
    assert "no rule 'x'" in unknown.reason


def test_after_three_rounds_without_a_decision_the_next_sessions_decide(
    config: Path, author: Author
) -> None:
    with sidecar(config):
        author.failed("f")
        rule_id = author.submit().rule_id
        with agent(lambda _: replayed(1.0, exercised=False)):
            for _ in range(3):
                assert author.call("validate_rule").outcome == "pending"
        assert author.call("list_rules").rules[0].on_trial
        assert "forward trial" in author.call("validate_rule", rule_id=rule_id).reason
        decided = [list(author.won(f"s{number}").decided) for number in range(5)]
        assert decided == [[], [], [], [], [rule_id]]
        assert author.call("list_rules").rules[0].state == "active"


def test_rules_and_sessions_outlive_the_node(config: Path, author: Author) -> None:
    with sidecar(config):
        author.failed("f")
        rule_id = author.submit().rule_id
    with sidecar(config):
        assert author.failed("f").known
        with agent(lambda _: replayed(1.0)):
            assert author.call("validate_rule").rule_id == rule_id
