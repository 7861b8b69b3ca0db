# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import json
import os
import random
from pathlib import Path

import numpy as np
import pytest
from rosbags.highlevel import AnyReader
from rosbags.interfaces import (
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from harness_ros.bag import definitions
from harness_ros.bag.definitions import DefinitionError, typestore
from harness_ros.bag.storage import Storage
from harness_ros.bag.writing import BagWriteError, BagWriter

MESSAGES = (
    *("AttemptScores", "JudgeUsage", "LearnedRule", "MetricScore", "ObjectPose", "Observation"),
    *("OutcomeRegion", "Relation", "SceneUpdate", "Signal", "ToolRun", "Verdict", "View"),
)
TOOL_RUN, VERDICT = "harness_ros/msg/ToolRun", "harness_ros/msg/Verdict"
USAGE = "harness_ros/msg/JudgeUsage"
IMAGE = "sensor_msgs/msg/Image"
STORE = typestore()


def make(message_type, /, **fields):
    return STORE.types[message_type](**fields)


def cdr(message):
    return bytes(STORE.serialize_cdr(message, message.__msgtype__))


def time(seconds):
    return make("builtin_interfaces/msg/Time", sec=seconds, nanosec=7)


def a_run(phase=0, run_id="run-1"):
    return make(
        TOOL_RUN,
        phase=phase,
        run_id=run_id,
        call_id="call-1",
        segment=2,
        tool_name="pick",
        arguments='{"target": "réd"}',
        started_at=time(5),
        ended_at=time(0),
    )


def a_verdict():
    return make(
        VERDICT,
        header=make("std_msgs/msg/Header", stamp=time(9), frame_id=""),
        run_id="run-1",
        call_id="call-1",
        tool_name="pick",
        arguments="{}",
        segment=2,
        status=2,
        evidence=["width 0.0 m", "no tag 4"],
        failure_reason="the gripper closed on nothing",
        kind="",
        judge="eye",
        criteria_hash="ab" * 32,
        observed_at=time(8),
        confidence=0.75,
        usage=make(USAGE, calls=1, input_tokens=1000, output_tokens=50, cost=0.25),
        error_card="uncalibrated",
    )


def an_image(stamp):
    return make(
        IMAGE,
        header=make("std_msgs/msg/Header", stamp=time(stamp), frame_id="camera"),
        height=1,
        width=2,
        encoding="rgb8",
        is_bigendian=0,
        step=6,
        data=np.arange(6, dtype=np.uint8),
    )


@pytest.fixture
def bag(tmp_path):
    path = tmp_path / "bag"
    with BagWriter(path) as writer:
        writer.add_topic("/harness/runs", TOOL_RUN)
        writer.add_topic("/harness/verdicts", VERDICT)
        writer.add_topic("/front", IMAGE)
        writer.write("/harness/runs", 100, cdr(a_run()))
        writer.write("/front", 150, cdr(an_image(6)))
        writer.write("/harness/runs", 200, cdr(a_run(phase=1)))
        writer.write("/harness/verdicts", 300, cdr(a_verdict()))
    return path


def read(path):
    """(topic, log time, message) of each message, by the definitions in the bag alone."""
    with AnyReader([path]) as reader:
        return [
            (connection.topic, log_time, reader.deserialize(data, connection.msgtype))
            for connection, log_time, data in reader.messages()
        ]


def hashes_of_rosidl():
    """RIHS01 of every message of harness_ros as rosidl generated it."""
    for prefix in os.environ["AMENT_PREFIX_PATH"].split(os.pathsep):
        folder = Path(prefix) / "share" / "harness_ros" / "msg"
        if folder.is_dir():
            return {
                entry["type_name"]: entry["hash_string"]
                for path in folder.glob("*.json")
                for entry in json.loads(path.read_text())["type_hashes"]
            }
    raise AssertionError("harness_ros is in no folder of AMENT_PREFIX_PATH")


def test_a_bag_is_read_by_the_definitions_inside_it(bag):
    runs = [message for topic, _, message in read(bag) if topic == "/harness/runs"]
    assert [run.phase for run in runs] == [0, 1]
    assert (runs[0].run_id, runs[0].call_id, runs[0].segment) == ("run-1", "call-1", 2)
    assert json.loads(runs[0].arguments) == {"target": "réd"}
    assert (runs[0].started_at.sec, runs[0].started_at.nanosec) == (5, 7)
    (verdict,) = [message for topic, _, message in read(bag) if topic == "/harness/verdicts"]
    assert (verdict.status, verdict.failure_reason) == (2, "the gripper closed on nothing")
    assert verdict.evidence == ["width 0.0 m", "no tag 4"]
    assert (verdict.header.stamp.sec, verdict.observed_at.sec) == (9, 8)


def test_messages_keep_their_bytes_and_log_times(bag):
    with Reader(bag) as reader:
        written = [
            (item.topic, log_time, bytes(data)) for item, log_time, data in reader.messages()
        ]
    assert written == [
        ("/harness/runs", 100, cdr(a_run())),
        ("/front", 150, cdr(an_image(6))),
        ("/harness/runs", 200, cdr(a_run(phase=1))),
        ("/harness/verdicts", 300, cdr(a_verdict())),
    ]


def test_every_definition_of_a_bag_is_complete(bag):
    with Reader(bag) as reader:
        texts = {item.msgtype: item.msgdef.data for item in reader.connections}
    assert set(texts) == {TOOL_RUN, VERDICT, IMAGE}
    assert "MSG: builtin_interfaces/Time" in texts[TOOL_RUN]
    assert "MSG: std_msgs/Header" in texts[VERDICT]
    assert "uint8 STARTED=0" in texts[TOOL_RUN]


def test_string_constants_in_a_bag_are_those_of_the_message_files(bag):
    with AnyReader([bag]) as reader:
        constants = {name: value for name, _, value in reader.typestore.fielddefs[VERDICT][0]}
    assert constants["KIND_JUDGED"] == ""
    assert constants["KIND_CANCELLED"] == "cancelled"
    assert constants == {name: value for name, _, value in STORE.fielddefs[VERDICT][0]}


@pytest.mark.parametrize("value", ["", "plain", "with space", 'a "quoted" word', "# no comment"])
def test_a_string_constant_is_read_back_as_it_was_written(value):
    store = get_typestore(Stores.EMPTY)
    constants = [("NAME", "string", value)]
    store.fielddefs["acme_msgs/msg/Grip"] = (constants, [("width", (1, ("float64", 0)))])
    text = definitions.definition(store, "acme_msgs/msg/Grip")
    parsed = get_types_from_msg(text, "acme_msgs/msg/Grip")["acme_msgs/msg/Grip"][0]
    assert parsed == constants


@pytest.mark.ros
@pytest.mark.parametrize("name", MESSAGES)
def test_type_hashes_are_those_that_rosidl_generated(tmp_path, name):
    message_type = f"harness_ros/msg/{name}"
    with BagWriter(tmp_path / "bag") as writer:
        writer.add_topic("/topic", message_type)
    with Reader(tmp_path / "bag") as reader:
        (connection,) = reader.connections
    assert connection.digest == hashes_of_rosidl()[message_type]


@pytest.mark.ros
def test_every_generated_message_has_a_definition_for_bags():
    generated = {name for name in hashes_of_rosidl() if name.startswith("harness_ros/msg/")}
    assert generated == {f"harness_ros/msg/{name}" for name in MESSAGES}
    assert generated <= set(STORE.fielddefs)


def test_the_qos_that_a_topic_offers_is_in_the_bag(tmp_path):
    offered = Qos(
        QosHistory.KEEP_LAST,
        1,
        QosReliability.RELIABLE,
        QosDurability.TRANSIENT_LOCAL,
        QosTime(2147483647, 4294967295),
        QosTime(2147483647, 4294967295),
        QosLiveliness.AUTOMATIC,
        QosTime(2147483647, 4294967295),
        False,
    )
    with BagWriter(tmp_path / "bag") as writer:
        writer.add_topic("/harness/runs", TOOL_RUN, qos=(offered,))
        writer.write("/harness/runs", 1, cdr(a_run()))
    with Reader(tmp_path / "bag") as reader:
        (connection,) = reader.connections
    assert list(connection.ext.offered_qos_profiles) == [offered]


def test_an_existing_folder_is_never_overwritten(bag):
    before = {path: path.read_bytes() for path in bag.iterdir()}
    with pytest.raises(BagWriteError, match=f"{bag}: no bag can be written here"):
        BagWriter(bag)
    assert {path: path.read_bytes() for path in bag.iterdir()} == before


def test_folders_above_a_bag_are_made(tmp_path):
    path = tmp_path / "runs" / "today" / "bag"
    with BagWriter(path):
        pass
    assert (path / "metadata.yaml").is_file()


def test_a_folder_that_cannot_be_made_is_an_error_with_its_path(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BagWriteError, match="file/bag: no bag can be written here"):
        BagWriter(tmp_path / "file" / "bag")


@pytest.mark.parametrize("message_type", ["acme_msgs/msg/Grip", "harness_ros/msg/Nothing", ""])
def test_a_type_without_a_definition_is_an_error_with_topic_and_type(tmp_path, message_type):
    with (
        BagWriter(tmp_path / "bag") as writer,
        pytest.raises(BagWriteError, match=f"/grip: no definition of {message_type} is known"),
    ):
        writer.add_topic("/grip", message_type)


def test_an_unknown_type_leaves_the_other_topics_of_the_bag_whole(tmp_path):
    with BagWriter(tmp_path / "bag") as writer:
        with pytest.raises(BagWriteError):
            writer.add_topic("/grip", "acme_msgs/msg/Grip")
        writer.add_topic("/harness/runs", TOOL_RUN)
        writer.write("/harness/runs", 1, cdr(a_run()))
    assert [topic for topic, _, _ in read(tmp_path / "bag")] == ["/harness/runs"]


def test_a_topic_is_announced_once(tmp_path):
    with BagWriter(tmp_path / "bag") as writer:
        writer.add_topic("/harness/runs", TOOL_RUN)
        with pytest.raises(BagWriteError, match="/harness/runs: "):
            writer.add_topic("/harness/runs", TOOL_RUN)


def test_a_bag_is_closed_when_its_writer_fails(tmp_path):
    with pytest.raises(RuntimeError), BagWriter(tmp_path / "bag") as writer:
        writer.add_topic("/harness/runs", TOOL_RUN)
        writer.write("/harness/runs", 1, cdr(a_run()))
        raise RuntimeError("the recorder was stopped")
    assert len(read(tmp_path / "bag")) == 1


def test_a_changed_byte_of_what_was_recorded_is_told(tmp_path):
    with BagWriter(tmp_path / "bag") as writer:
        writer.add_topic("/noise", "std_msgs/msg/UInt8MultiArray")
        # Bytes that cannot be compressed: zstd itself notices nothing in them.
        writer.write("/noise", 1, b"\0\1\0\0" + random.Random(1).randbytes(2000))
    (file,) = (tmp_path / "bag").glob("*.mcap")
    content = file.read_bytes()
    begin = content.index(b"\x28\xb5\x2f\xfd") + 400
    for at in range(begin, begin + 1300, 97):
        file.write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
        with Storage(tmp_path / "bag") as storage:
            assert list(storage.messages(["/noise"])) == []
            assert any("is damaged" in problem for problem in storage.problems)


# Definitions


def test_definitions_are_found_without_a_ros_environment(monkeypatch):
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    assert {f"harness_ros/msg/{name}" for name in MESSAGES} <= set(typestore().fielddefs)


def test_missing_definitions_are_an_error_that_names_the_folders(monkeypatch, tmp_path):
    monkeypatch.setattr(definitions, "__file__", str(tmp_path / "a" / "b" / "definitions.py"))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    with pytest.raises(DefinitionError) as caught:
        typestore()
    for folder in ("a/interfaces", "install/share/harness_ros/msg", "msg"):
        assert str(tmp_path / folder) in str(caught.value)
