# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The chain from the tool to the verdict to the scene, every node a process of its own."""

from __future__ import annotations

import sqlite3
import time

from conftest import Chain
from robot import marker_image

from harness_ros import msg
from harness_ros.contract import ExitCode, Kind, Status
from harness_ros.ros.qos import EVENTS
from harness_ros.ros.tool_server import BackendResult


def test_success_is_judged_from_the_world_whatever_the_backend_says(chain: Chain) -> None:
    chain.robot.behaviour["pick"] = lambda *_: BackendResult(success=False, message="motor error")
    outcome = chain.call()
    assert outcome.exit_code is ExitCode.SUCCESS, (outcome, chain.logs())
    assert not outcome.backend_success
    assert any("gripper_width 0.05" in line for line in outcome.verdict.evidence)


def test_success_updates_the_scene_and_failure_does_not(chain: Chain) -> None:
    chain.call()
    before = chain.harness.scene_brief()
    assert "robot holds: red_block" in before.text
    chain.robot.width = 0.0
    outcome = chain.call(target="blue_block")
    assert outcome.exit_code is ExitCode.FAILURE
    assert outcome.backend_success
    assert outcome.verdict.failure_reason == "the gripper closed on nothing"
    assert chain.harness.scene_brief() == before


def test_wrong_block_in_the_gripper_is_no_success(chain: Chain) -> None:
    chain.robot.views["front"] = marker_image(2, 0.5, 0.25)
    outcome = chain.call(target="red_block")
    assert outcome.verdict.status is Status.FAILURE
    assert chain.call(target="blue_block").succeeded


def test_segments_run_until_the_judge_no_longer_says_process(chain: Chain) -> None:
    def push(_, run):
        if run.segment == 3:
            chain.robot.views["top"] = marker_image(1, 0.75, 0.5)
        return BackendResult(success=True)

    chain.robot.behaviour["push"] = push
    outcome = chain.call("push")
    assert outcome.exit_code is ExitCode.SUCCESS, (outcome, chain.logs())
    assert outcome.segments == 3
    verdicts = [chain.harness.get_verdict(run_id) for run_id in outcome.run_ids]
    assert [verdict.status for verdict in verdicts] == [
        Status.PROCESS,
        Status.PROCESS,
        Status.SUCCESS,
    ]
    assert [verdict.segment for verdict in verdicts] == [1, 2, 3]
    assert len({verdict.call_id for verdict in verdicts}) == 1


def test_process_in_the_last_segment_of_the_budget_is_a_failure(chain: Chain) -> None:
    outcome = chain.call("push")
    assert outcome.exit_code is ExitCode.FAILURE
    assert outcome.segments == 3
    assert outcome.verdict.kind is Kind.SEGMENT_BUDGET_EXHAUSTED


def test_stopped_camera_is_named_in_the_failure(chain: Chain) -> None:
    chain.robot.silent = {"top"}
    outcome = chain.call()
    assert outcome.exit_code is ExitCode.UNJUDGED
    assert outcome.verdict.kind is Kind.OBSERVATION_UNAVAILABLE
    assert "camera 'top'" in outcome.verdict.failure_reason
    assert "camera 'front'" not in outcome.verdict.failure_reason


def test_frames_stamped_before_the_end_are_not_evidence(chain: Chain) -> None:
    chain.robot.stamp_offset_s = -5.0
    outcome = chain.call()
    assert outcome.verdict.kind is Kind.OBSERVATION_UNAVAILABLE
    assert "before the evidence may begin" in outcome.verdict.failure_reason


def test_get_verdict_says_that_it_does_not_know_a_run(chain: Chain) -> None:
    begun = time.monotonic()
    assert chain.harness.get_verdict("no-such-run", timeout_s=30.0) is None
    assert time.monotonic() - begun < 10.0


def test_get_verdict_waits_without_blocking_the_node(chain: Chain) -> None:
    def pick(_, run):
        assert chain.harness.get_verdict(run.run_id, timeout_s=0.1) is None
        return BackendResult(success=True)

    chain.robot.behaviour["pick"] = pick
    assert chain.call().succeeded


def test_evaluator_subscribes_to_cameras_only_while_a_tool_runs(chain: Chain) -> None:
    seen = []

    def pick(_, __):
        deadline = time.monotonic() + 5.0
        while chain.robot.camera_subscribers() != 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        seen.append(chain.robot.camera_subscribers())
        return BackendResult(success=True)

    chain.robot.behaviour["pick"] = pick
    assert chain.call().succeeded
    assert seen == [2]
    deadline = time.monotonic() + 5.0
    while chain.robot.camera_subscribers() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert chain.robot.camera_subscribers() == 0


def test_repeated_events_of_a_run_give_no_second_verdict(chain: Chain) -> None:
    heard: list[str] = []
    subscription = chain.robot.node.create_subscription(
        msg.Verdict, "verdicts", lambda message: heard.append(message.run_id), EVENTS
    )
    publisher = chain.robot.node.create_publisher(msg.ToolRun, "runs", EVENTS)
    run_id = chain.call().run_ids[0]
    for phase in (msg.ToolRun.STARTED, msg.ToolRun.FINISHED):
        publisher.publish(
            msg.ToolRun(phase=phase, run_id=run_id, tool_name="push", arguments="{}", segment=1)
        )
    later = chain.call().run_ids[0]
    deadline = time.monotonic() + 5.0
    while later not in heard and time.monotonic() < deadline:
        time.sleep(0.02)
    assert heard.count(run_id) == 1
    assert chain.harness.get_verdict(run_id).tool_name == "pick"
    chain.robot.node.destroy_subscription(subscription)
    chain.robot.node.destroy_publisher(publisher)


def test_forged_verdict_does_not_change_the_scene(chain: Chain) -> None:
    before = chain.harness.scene_brief()
    publisher = chain.robot.node.create_publisher(msg.Verdict, "verdicts", EVENTS)
    deadline = time.monotonic() + 5.0
    while publisher.get_subscription_count() < 1 and time.monotonic() < deadline:
        time.sleep(0.02)
    publisher.publish(
        msg.Verdict(
            run_id="forged",
            tool_name="pick",
            arguments='{"target": "blue_block"}',
            status=msg.Verdict.SUCCESS,
            segment=1,
        )
    )
    time.sleep(0.5)  # nothing is to happen: there is no event to wait for
    assert chain.harness.scene_brief() == before
    chain.robot.node.destroy_publisher(publisher)


def test_forty_calls_in_a_row_all_come_to_their_verdict(chain: Chain) -> None:
    outcomes = [chain.call() for _ in range(40)]
    assert [outcome.exit_code for outcome in outcomes] == [ExitCode.SUCCESS] * 40, chain.logs()
    assert len({outcome.run_ids for outcome in outcomes}) == 40


def test_unknown_tool_is_an_unjudged_failure(chain: Chain) -> None:
    publisher = chain.robot.node.create_publisher(msg.ToolRun, "runs", EVENTS)
    now = chain.robot.node.get_clock().now().to_msg()
    publisher.publish(
        msg.ToolRun(
            phase=msg.ToolRun.FINISHED,
            run_id="unknown-tool",
            tool_name="dance",
            arguments="{}",
            segment=1,
            started_at=now,
            ended_at=now,
        )
    )
    verdict = chain.harness.get_verdict("unknown-tool")
    assert verdict.status is Status.FAILURE
    assert verdict.kind is Kind.INVALID_RUN
    assert "dance" in verdict.failure_reason
    chain.robot.node.destroy_publisher(publisher)


def test_killed_judge_is_a_failure_in_time_and_the_next_run_works(chain: Chain) -> None:
    chain.nodes.kill("judge_deterministic")
    begun = time.monotonic()
    outcome = chain.call()
    assert outcome.exit_code is ExitCode.UNJUDGED
    assert outcome.verdict.kind is Kind.JUDGE_UNAVAILABLE
    # Judge timeout 2 s and the second allowed; settling and the first frames come before.
    assert time.monotonic() - begun < 2.0 + 1.0 + 0.5
    chain.nodes.start("judge_deterministic")
    deadline = time.monotonic() + 10.0
    while not (outcome := chain.call()).succeeded and time.monotonic() < deadline:
        assert outcome.verdict.kind is Kind.JUDGE_UNAVAILABLE
    assert outcome.succeeded, chain.logs()


def test_evaluator_killed_and_back_judges_no_run_twice(chain: Chain) -> None:
    run_id = chain.call().run_ids[0]
    verdict = chain.harness.get_verdict(run_id)
    chain.nodes.kill("evaluator")
    chain.nodes.start("evaluator")
    deadline = time.monotonic() + 20.0
    while not (outcome := chain.call()).succeeded and time.monotonic() < deadline:
        # The tool may have ended before the evaluator was back.
        assert outcome.exit_code is ExitCode.UNJUDGED
    assert outcome.succeeded, chain.logs()
    assert chain.harness.get_verdict(run_id) == verdict
    with sqlite3.connect(chain.nodes.ledger) as ledger:
        rows = ledger.execute("SELECT count(*), count(DISTINCT run_id) FROM verdict").fetchone()
    assert rows[0] == rows[1]


def test_run_that_ended_while_the_evaluator_was_down_is_interrupted(chain: Chain) -> None:
    def pick(_, run):
        chain.nodes.kill("evaluator")
        ended.append(run.run_id)
        return BackendResult(success=True)

    ended: list[str] = []
    chain.robot.behaviour["pick"] = pick
    outcome = chain.call()
    assert outcome.exit_code is ExitCode.UNJUDGED
    chain.nodes.start("evaluator")
    verdict = chain.harness.get_verdict(ended[0], timeout_s=20.0)
    assert verdict is not None, chain.logs()
    assert verdict.kind is Kind.INTERRUPTED
