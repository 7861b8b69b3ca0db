# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts of bags that were recorded with an older Verdict.msg, and with this one."""

from pathlib import Path

import pytest
import recordings
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from harness_ros.bag.reading import Bag
from harness_ros.contract import Status, Usage

VERDICT = Path(__file__).parents[2] / "msg" / "Verdict.msg"
ADDED = ("confidence", "usage", "error_card")
FIELDS = {
    **{"run_id": "run-1", "call_id": "call", "tool_name": "pick", "arguments": "{}"},
    **{"segment": 1, "status": 1, "evidence": ["seen"], "failure_reason": "", "kind": ""},
    **{"judge": "rule", "criteria_hash": "ab"},
}


@pytest.fixture
def old_store(monkeypatch):
    """A type store with the Verdict of before confidence, usage and error card."""
    lines = VERDICT.read_text().splitlines()
    kept = [line for line in lines if not [*line.split(), "", ""][1].startswith(ADDED)]
    assert len(kept) == len(lines) - len(ADDED)
    store = get_typestore(Stores.ROS2_JAZZY)
    store.register(get_types_from_msg("\n".join(kept), recordings.TYPES["verdict"]))
    run = VERDICT.with_name("ToolRun.msg").read_text()
    store.register(get_types_from_msg(run, recordings.TYPES["run"]))
    monkeypatch.setattr(recordings, "STORE", store)
    # As on a machine without ROS: what the bag does not define is not found elsewhere.
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    return store


def test_a_verdict_of_before_confidence_usage_and_card_is_read(tmp_path, old_store):
    made = recordings.Recorder(tmp_path / "bag")
    made.run("run-1", 10.0)
    made.run("run-1", 10.0, 12.0)
    stamps = {"header": recordings.header(13), "observed_at": recordings.stamp(12)}
    made.write(
        "/harness/verdicts", recordings.make(recordings.TYPES["verdict"], **FIELDS, **stamps), 13
    )
    with Bag(made.close()) as bag:
        (recorded,) = bag.runs()
        assert bag.problems == []
    assert recorded.verdict.status is Status.SUCCESS
    assert recorded.verdict.evidence == ("seen",)
    assert recorded.verdict.confidence is None
    assert recorded.verdict.usage == Usage()
    assert recorded.verdict.error_card == ""


def test_a_verdict_with_them_is_read_with_them(tmp_path):
    usage = {"calls": 2, "input_tokens": 900, "output_tokens": 40, "cost": 0.25}
    made = recordings.Recorder(tmp_path / "bag")
    made.run("run-1", 10.0)
    made.run("run-1", 10.0, 12.0)
    message = recordings.make("harness_ros/msg/JudgeUsage", **usage)
    made.verdict("run-1", 13, confidence=0.75, usage=message, error_card="3f2a9c77b01e")
    with Bag(made.close()) as bag:
        (recorded,) = bag.runs()
    assert recorded.verdict.confidence == 0.75
    assert recorded.verdict.usage == Usage(**usage)
    assert recorded.verdict.error_card == "3f2a9c77b01e"
