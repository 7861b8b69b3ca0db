# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What counts as evidence on a real graph, and the words when there is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import evidence
import pytest
from conftest import spinning, until
from evidence import BEST_EFFORT, BLUE, EvidenceRobot, S
from processes import Nodes

from harness_ros import msg
from harness_ros.contract import Kind, Observation
from harness_ros.ledger import Ledger

CONFIG = Path(__file__).parent / "evidence.yaml"


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    made = Nodes(tmp_path_factory.mktemp("evidence"), CONFIG)
    yield made
    made.stop_all()


@pytest.fixture(scope="module")
def warm(nodes: Nodes) -> Iterator[EvidenceRobot]:
    for executable in ("evaluator", "judge_deterministic"):
        nodes.start(executable)
    with spinning("evidence_robot") as node:
        robot = EvidenceRobot(node)
        robot.gives("plain", evidence.image)
        verdict = robot.runs("look", lasting_s=2.0)
        assert verdict.status == msg.Verdict.SUCCESS, (verdict, nodes.running["evaluator"].text())
        yield robot


@pytest.fixture
def robot(warm: EvidenceRobot) -> Iterator[EvidenceRobot]:
    warm.stops()
    yield warm
    warm.stops()


def succeeds(verdict: msg.Verdict) -> bool:
    return bool(verdict.status == msg.Verdict.SUCCESS)


def reason(verdict: msg.Verdict) -> str:
    """The reason of a run that has no Observation."""
    assert verdict.kind == Kind.OBSERVATION_UNAVAILABLE.value, verdict
    return str(verdict.failure_reason)


def observation(nodes: Nodes, verdict: msg.Verdict) -> Observation:
    """What the ledger keeps of a run; its images are written after its verdict."""
    with Ledger(nodes.ledger) as ledger:
        assert until(lambda: ledger.observation(verdict.run_id) is not None)
        found = ledger.observation(verdict.run_id)
    assert found is not None
    return found


# Evidence


def test_optional_camera_that_is_silent_does_not_hold_up_the_verdict(robot: EvidenceRobot) -> None:
    robot.gives("plain", evidence.image)
    assert succeeds(robot.runs("look_with_extra"))


def test_optional_camera_that_is_there_joins_the_observation(
    robot: EvidenceRobot, nodes: Nodes
) -> None:
    robot.gives("plain", evidence.image)
    robot.gives("extra", evidence.image)
    verdict = robot.runs("look_with_extra", lasting_s=1.0)
    assert succeeds(verdict)
    observed = observation(nodes, verdict)
    assert [view.name for view in observed.views] == ["plain", "extra"]


def test_camera_that_does_not_stamp_its_frames_can_be_used_and_the_observation_says_so(
    robot: EvidenceRobot, nodes: Nodes
) -> None:
    robot.gives("unstamped", evidence.image, stamp=None)
    verdict = robot.runs("look_unstamped")
    assert succeeds(verdict)
    observed = observation(nodes, verdict)
    assert observed.views[0].stamped_on_receipt
    assert observed.provenance["stamped_on_receipt"] == ["receive"]


def test_mislabelled_camera_is_read_as_the_configuration_says(
    robot: EvidenceRobot, nodes: Nodes
) -> None:
    # Blue to whoever believes the label, red to whoever knows that it is bgr8.
    robot.gives("mislabelled", lambda: evidence.image(BLUE))
    verdict = robot.runs("look_mislabelled")
    assert succeeds(verdict)
    observed = observation(nodes, verdict)
    assert (observed.views[0].encoding, observed.views[0].published_encoding) == ("bgr8", "rgb8")


def test_calibration_comes_with_the_view(robot: EvidenceRobot, nodes: Nodes) -> None:
    robot.gives("calibrated/image_raw", evidence.image)
    robot.gives("calibrated/camera_info", evidence.camera_info)
    verdict = robot.runs("look_calibrated")
    assert succeeds(verdict)
    observed = observation(nodes, verdict)
    calibration = observed.views[0].calibration
    assert calibration is not None
    assert (calibration.k[0], calibration.width, calibration.d) == (300.0, 32, (0.1,) * 5)


def test_best_effort_publisher_is_followed(robot: EvidenceRobot) -> None:
    robot.gives("plain", evidence.image, BEST_EFFORT)
    assert succeeds(robot.runs("look"))


def test_signals_are_read_from_nested_fields_by_joint_name_and_from_types_of_other_packages(
    robot: EvidenceRobot,
) -> None:
    robot.gives("wrench", lambda: evidence.wrench(7.0))
    robot.gives("joints", lambda: evidence.joints(elbow=1.2, finger=0.004))
    robot.gives("own", lambda: msg.Signal(value=1.5), stamp=None)
    assert "force 7 N" in robot.runs("press").evidence[0]
    assert "finger 0.004 m" in robot.runs("grip").evidence[0]
    assert succeeds(robot.runs("measure"))
    robot.gives("wrench", lambda: evidence.wrench(3.0))
    assert robot.runs("press").status == msg.Verdict.FAILURE


def test_joint_state_without_the_joint_is_no_evidence_and_one_with_it_is(
    robot: EvidenceRobot,
) -> None:
    robot.gives("joints", lambda: evidence.joints(elbow=1.2))
    assert "no 'finger' in this message; it has ['elbow']" in reason(robot.runs("grip"))
    messages = iter(range(1_000_000))
    robot.gives(
        "joints",
        lambda: evidence.joints(elbow=1.0) if next(messages) % 2 else evidence.joints(finger=0.0),
    )
    assert succeeds(robot.runs("grip"))


def test_clearance_comes_from_scan_sectors_and_range_sensors(robot: EvidenceRobot) -> None:
    robot.gives("scan", lambda: evidence.scan(front=1.0, rear=0.3))
    robot.gives("range", lambda: evidence.distance(float("inf")))
    verdict = robot.runs("drive")
    assert succeeds(verdict), verdict
    assert "clearance to the front 0.800 m" in verdict.evidence[0]
    assert "clearance to the left free" in verdict.evidence[1]
    robot.gives("scan", lambda: evidence.scan(front=0.6, rear=0.3))
    assert robot.runs("drive").status == msg.Verdict.FAILURE


# Why there is no Observation


def test_camera_that_nobody_publishes_is_named(robot: EvidenceRobot) -> None:
    words = reason(robot.runs("look"))
    assert "camera 'plain' (/evidence/plain)" in words
    assert "nobody publishes it" in words


def test_silent_publisher_is_named_with_the_limit_of_shared_memory(robot: EvidenceRobot) -> None:
    robot.gives("plain", None)
    words = reason(robot.runs("look", lasting_s=1.0))
    assert "although /harness/evidence_robot publishes it" in words
    assert "QoS fits" in words
    assert "fastdds_shm.xml" in words


def test_quality_of_service_that_does_not_fit_is_told_as_asked_and_offered(
    robot: EvidenceRobot,
) -> None:
    robot.gives("best_effort", evidence.image, BEST_EFFORT)
    words = reason(robot.runs("look_reliably", lasting_s=1.0))
    assert "QoS does not fit" in words
    assert "offered is best effort, volatile" in words
    assert "asked was reliable, volatile" in words


def test_zero_stamps_are_told_with_what_helps(robot: EvidenceRobot) -> None:
    robot.gives("plain", evidence.image, stamp=None)
    words = reason(robot.runs("look"))
    assert "zero stamp" in words
    assert "stamp: receive" in words


def test_stamps_of_another_time_base_are_told_with_their_offset(robot: EvidenceRobot) -> None:
    robot.gives("plain", evidence.image, stamp=lambda now_ns: now_ns - 1000 * S)
    words = reason(robot.runs("look"))
    assert "another time base" in words
    assert "-1000." in words


def test_stamps_in_the_future_are_told(robot: EvidenceRobot) -> None:
    robot.gives("plain", evidence.image, stamp=lambda now_ns: now_ns + 20 * S)
    assert "in the future" in reason(robot.runs("look"))


def test_stamps_that_do_not_advance_are_told(robot: EvidenceRobot) -> None:
    standing = robot.now_ns()
    robot.gives("plain", evidence.image, stamp=lambda _: standing)
    assert "do not advance" in reason(robot.runs("look"))


def test_frames_that_never_meet_are_told_with_their_nearest_spread(robot: EvidenceRobot) -> None:
    period = S // 5
    robot.gives("plain", evidence.image, stamp=lambda now_ns: now_ns // period * period)
    robot.gives(
        "second", evidence.image, stamp=lambda now_ns: now_ns // period * period + period // 2
    )
    words = reason(robot.runs("look_twice"))
    assert "never came within slop (0.05 s)" in words
    assert "0.100 s apart" in words


def test_frames_that_cannot_be_decoded_are_no_evidence_and_the_numbers_are_told(
    robot: EvidenceRobot,
) -> None:
    def short() -> evidence.Image:
        message = evidence.image()
        message.data = message.data[:100]
        return message

    robot.gives("plain", short)
    words = reason(robot.runs("look"))
    for part in ("/evidence/plain", "rgb8", "32x24", "100 bytes"):
        assert part in words


def test_good_frame_among_broken_ones_is_found(robot: EvidenceRobot) -> None:
    numbers = iter(range(1_000_000))

    def mostly_broken() -> evidence.Image:
        message = evidence.image()
        if next(numbers) % 3:
            message.encoding = "rgb9"
        return message

    robot.gives("plain", mostly_broken)
    assert succeeds(robot.runs("look"))


def test_tool_whose_clock_is_behind_is_told_and_not_taken_for_a_restart(
    robot: EvidenceRobot,
) -> None:
    robot.gives("plain", evidence.image)
    robot.behind_ns = 60 * S
    try:
        words = reason(robot.runs("look", lasting_s=1.0))
    finally:
        robot.behind_ns = 0
    assert "its clock is not the tool's" in words
